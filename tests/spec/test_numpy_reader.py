"""examples/read_with_numpy.py reads every valid vector, is at most 12 lines of code, and stands in the README."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import vector_file

EXAMPLE = ROOT / "examples" / "read_with_numpy.py"
README = ROOT / "README.md"
MARKS = ("<!-- numpy-reader -->", "<!-- /numpy-reader -->")


class NumpyReader(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_it_prints_tokens_and_boundaries_of_every_valid_vector(self):
        for vector in vector_file.read_all(ROOT / "spec" / "vectors" / "valid"):
            if len(vector.packs) != json.loads(vector.dump)["packs"]:
                continue
            with self.subTest(vector.name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "file.tpk"
                path.write_bytes(vector.data)
                done = subprocess.run([sys.executable, EXAMPLE, path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                packs = [json.loads(text) for text in vector.packs.values()]
                self.assertEqual(done.stdout, "".join(f"{p['pack']} {p['tokens']} {p['cu_seqlens']}\n" for p in packs))

    def test_it_is_short(self):
        lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 12)
        self.assertLessEqual(max(map(len, lines)), 120)

    def test_the_readme_has_it(self):
        text = README.read_text(encoding="utf-8") if README.exists() else ""
        if MARKS[0] not in text:
            self.skipTest("README.md has no numpy-reader marks")
        between = text.split(MARKS[0])[1].split(MARKS[1])[0]
        self.assertEqual(between.strip(), f"```python\n{EXAMPLE.read_text(encoding='utf-8')}```")


if __name__ == "__main__":
    unittest.main(verbosity=2)
