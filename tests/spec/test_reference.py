"""The reference reader against every vector: dump, packs, refusals, and what verify finds."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.append(str(ROOT / "tests" / "support" / "ctypes_xxhash"))  # where PyPI's is not installed
sys.path.insert(0, str(ROOT / "spec"))
import reference_json
import reference_reader
import reference_verify
import vector_file

VECTORS = ROOT / "spec" / "vectors"


def refusal(function, *arguments):
    """The error name that a call is refused with, "ok" otherwise."""
    try:
        function(*arguments)
    except reference_reader.Refused as error:
        return error.name
    return "ok"


class ReferenceReader(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.valid = vector_file.read_all(VECTORS / "valid")
        cls.invalid = vector_file.read_all(VECTORS / "invalid")

    def test_xxh3_is_there(self):
        self.assertIsNotNone(reference_reader.xxhash, "install xxhash or libxxhash0: checksums must be tested")

    def test_there_are_vectors_enough(self):
        self.assertGreaterEqual(len(self.valid), 14)
        self.assertGreaterEqual(len(self.invalid), 60)

    def test_valid_files_are_dumped_as_expected(self):
        for v in self.valid:
            with self.subTest(v.name):
                file = reference_reader.TpkFile(memoryview(v.data))
                self.assertEqual(reference_reader.to_json(file.dump()) + "\n", v.dump)
                for p, text in v.packs.items():
                    self.assertEqual(reference_reader.to_json(file.dump_pack(p)) + "\n", text)

    def test_valid_files_verify(self):
        for v in self.valid:
            with self.subTest(v.name):
                self.assertEqual(reference_verify.verify(memoryview(v.data)), [])

    def test_invalid_files_are_refused_with_the_expected_error(self):
        for v in self.invalid:
            with self.subTest(v.name):
                self.assertEqual(refusal(reference_reader.TpkFile, memoryview(v.data)), v.open)

    def test_packs_are_refused_with_the_expected_error_and_no_others(self):
        for v in [*self.valid, *self.invalid]:
            if v.open != "ok":
                continue
            file = reference_reader.TpkFile(memoryview(v.data))
            for p in {*range(file.header["packs"]), *v.pack_errors}:
                with self.subTest(f"{v.name}, pack {p}"):
                    self.assertEqual(refusal(file.dump_pack, p), v.pack_errors.get(p, "ok"))

    def test_verify_finds_what_is_wrong(self):
        for v in self.invalid:
            with self.subTest(v.name):
                names = reference_verify.verify(memoryview(v.data))
                self.assertNotEqual(names, [])
                self.assertLessEqual(set(v.verify), set(names))

    def test_vectors_are_named_for_their_error(self):
        for v in self.invalid:
            error = v.name.split("__")[0]
            self.assertEqual(error, v.open if v.open != "ok" else v.verify[0], v.name)

    def test_every_prefix_is_refused(self):
        v = next(v for v in self.valid if v.name == "spec_example")
        for size in [*range(0, 300), *range(4090, 4110), *range(len(v.data) - 300, len(v.data))]:
            self.assertNotEqual(refusal(reference_reader.TpkFile, memoryview(v.data[:size])), "ok", size)

    def test_every_flipped_bit_is_found(self):
        """Every bit that is not one of page 0's padding, and a sample of those."""
        for v in self.valid:
            if v.name not in ("spec_example", "split"):
                continue
            for i in range(len(v.data)):
                if v.data[i] == 0 and i % 61 and (512 < i < 4088 or i > 4200):
                    continue
                changed = bytearray(v.data)
                changed[i] ^= 1 << i % 8
                self.assertNotEqual(reference_verify.verify(memoryview(bytes(changed))), [], f"{v.name}: byte {i}")


class CommandLine(unittest.TestCase):
    def run_reader(self, vector, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "file.tpk"
            path.write_bytes(vector.data)
            return subprocess.run([sys.executable, ROOT / "spec" / "reference_reader.py", path, *arguments],
                                  capture_output=True, text=True, encoding="utf-8",
                                  env={**os.environ, "PYTHONIOENCODING": "utf-8"})

    def test_dump_goes_to_standard_output(self):
        v = vector_file.read_vector(VECTORS / "valid" / "metadata_full.txt")
        done = self.run_reader(v)
        self.assertEqual((done.returncode, done.stdout), (0, v.dump))

    def test_pack_goes_to_standard_output(self):
        v = vector_file.read_vector(VECTORS / "valid" / "split.txt")
        done = self.run_reader(v, "--pack", "1")
        self.assertEqual((done.returncode, done.stdout), (0, v.packs[1]))

    def test_refusal_is_status_3_and_the_name(self):
        v = vector_file.read_vector(VECTORS / "invalid" / "file_size__one_more.txt")
        done = self.run_reader(v)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertRegex(done.stderr, r"(?m)^file_size: ")

    def test_verify_prints_names(self):
        v = vector_file.read_vector(VECTORS / "invalid" / "gap_not_zero.txt")
        done = self.run_reader(v, "--verify")
        self.assertEqual((done.returncode, done.stdout), (1, "gap_not_zero\n"))


if __name__ == "__main__":
    unittest.main()
