"""The committed vectors are what the generator writes, and the vector format keeps bytes."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests" / "support"
sys.path.insert(0, str(SUPPORT))
import vector_file


class Generator(unittest.TestCase):
    def test_committed_vectors_are_what_it_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([sys.executable, "-B", SUPPORT / "make_vectors.py", folder], check=True)
            for kind in ("valid", "invalid"):
                made = {p.name: p.read_bytes() for p in (pathlib.Path(folder) / kind).glob("*.txt")}
                kept = {p.name: p.read_bytes() for p in (ROOT / "spec" / "vectors" / kind).glob("*.txt")}
                self.assertEqual(made.keys(), kept.keys())
                for name in made:
                    self.assertTrue(made[name] == kept[name], f"{name}: run tests/support/make_vectors.py")


class HexLines(unittest.TestCase):
    def test_bytes_come_back(self):
        data = bytes(range(70)) + bytes(100) + b"\1" + bytes(31) + b"\2" + bytes(32)
        for notes in ([], [(0, 70, "all"), (70, 100, "zeros")], [(3, 1, "one"), (100, 80, "across")]):
            self.assertEqual(vector_file.decode_hex(vector_file.encode_hex(data, notes)), data)

    def test_a_wrong_offset_is_an_error(self):
        with self.assertRaises(ValueError):
            vector_file.decode_hex(["00000000: 01 02", "00000003: 04"])


if __name__ == "__main__":
    unittest.main()
