"""examples/read_with_numpy.py reads every valid vector, refuses what is not a whole file, is at most 26 lines, and stands in the README."""
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
SNIPPETS = {"numpy-reader": EXAMPLE, "numpy-batch": ROOT / "examples" / "batch_with_numpy.py"}


class NumpyReader(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_it_prints_tokens_and_boundaries_of_every_valid_vector(self):
        for vector in vector_file.read_all(ROOT / "spec" / "vectors" / "valid"):
            if len(vector.packs) != json.loads(vector.dump)["packs"]:
                continue
            with self.subTest(vector.name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "file.tpk"
                path.write_bytes(vector.data)
                done = subprocess.run([sys.executable, "-B", EXAMPLE, path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                packs = [json.loads(text) for text in vector.packs.values()]
                self.assertEqual(done.stdout, "".join(f"{p['pack']} {p['tokens']} {p['cu_seqlens']}\n" for p in packs))

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_it_refuses_what_is_not_a_whole_file_of_this_version(self):
        whole = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / "spec_example.txt").data
        damaged = {"empty": b"", "cut in the magic": whole[:5], "cut in the header": whole[:20],
                   "cut in page 0": whole[:4000], "cut between sections": whole[:8192],
                   "one byte short": whole[:-1], "one byte more": whole + b"\0",
                   "no magic": bytes(8) + whole[8:], "version 0.2": whole[:10] + b"\2" + whole[11:],
                   "version 1.1": whole[:8] + b"\1" + whole[9:]}
        for name, data in damaged.items():
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "file.tpk"
                path.write_bytes(data)
                done = subprocess.run([sys.executable, "-B", EXAMPLE, path], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertRegex(done.stderr, "cannot mmap an empty file" if not data else
                                 r"file\.tpk: not a whole file of tokpack format 0\.1\n$")

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_one_program_reads_two_files_with_metadata_and_ragged_columns(self):
        sys.path.insert(0, str(EXAMPLE.parent))
        sys.dont_write_bytecode = True
        import read_with_numpy
        files = {}
        with tempfile.TemporaryDirectory() as folder:
            for name in ("columns_ragged", "spec_example"):
                vector = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / f"{name}.txt")
                path = pathlib.Path(folder) / f"{name}.tpk"
                path.write_bytes(vector.data)
                files[name] = (vector, *read_with_numpy.open_tpk(path))
            for name, (vector, header, arrays) in files.items():
                with self.subTest(name):
                    dump = json.loads(vector.dump)
                    for field in ("capacity", "ignore_index", "pad_id"):
                        self.assertEqual(header[field], dump[field])
                    self.assertEqual(header["metadata"], dump["metadata"] or {})
                    for p, text in sorted(vector.packs.items()):
                        self.assertEqual(self.columns(read_with_numpy, arrays, dump, int(p)), json.loads(text)["columns"])
        self.assertTrue(any(column["ragged"] for column in json.loads(files["columns_ragged"][0].dump)["columns"]))

    def columns(self, reader, arrays, dump, p):
        """The columns of one pack as its dump has them."""
        _, _, in_tokens, in_sequences = reader.pack(arrays, p)
        out = {}
        for column in dump["columns"]:
            name, values = column["name"], arrays[column["name"]]
            if column["scope"] == "file":
                continue
            rows = {"pack": slice(p, p + 1), "sequence": in_sequences, "token": in_tokens}[column["scope"]]

            def cell(value, text=column["type"] == "bytes"):
                return value.tobytes().hex() if text else value.tolist()
            if column["ragged"]:
                offsets = arrays[name + ".offsets"].tolist()
                out[name] = [cell(values[offsets[i]:offsets[i + 1]]) for i in range(rows.start, rows.stop)]
            else:
                out[name] = [cell(value) for value in values[rows]]
        return out

    def test_it_is_short(self):
        lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 26)
        self.assertLessEqual(max(map(len, lines)), 120)

    def test_the_readme_has_both_examples(self):
        text = README.read_text(encoding="utf-8")
        for name, file in SNIPPETS.items():
            with self.subTest(name):
                between = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
                self.assertEqual(between.strip(), f"```python\n{file.read_text(encoding='utf-8')}```")


if __name__ == "__main__":
    unittest.main(verbosity=2)
