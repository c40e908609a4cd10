"""The `tokpack` command against every vector, and against the reference reader on fresh files.

    test_command.py PATH_OF_TOKPACK
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import vector_file

VECTORS = ROOT / "spec" / "vectors"
TOKPACK = None


class Command(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.valid = vector_file.read_all(VECTORS / "valid")
        cls.invalid = vector_file.read_all(VECTORS / "invalid")
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name) / "file.tpk"

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def tokpack(self, *arguments):
        return subprocess.run([TOKPACK, *arguments], capture_output=True, text=True, encoding="utf-8", timeout=120)

    def written(self, vector):
        self.path.write_bytes(vector.data)
        return self.path

    def errors(self, vector):
        """The error names that verify reports, in order of appearance."""
        done = self.tokpack("verify", self.written(vector), "--json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        report = json.loads(done.stdout)
        files = report if isinstance(report, list) else report.get("files", [report])
        self.assertEqual(len(files), 1)
        self.assertEqual(files[0]["ok"], done.returncode == 0)
        return [finding.get("error", finding.get("code")) for finding in files[0]["findings"]]

    def test_valid_files_are_dumped_as_expected(self):
        for v in self.valid:
            with self.subTest(v.name):
                done = self.tokpack("dump", self.written(v), "--json")
                self.assertEqual((done.returncode, done.stdout), (0, v.dump), done.stderr)

    def test_packs_are_dumped_as_expected(self):
        for v in self.valid:
            path = self.written(v)
            for p, text in v.packs.items():
                with self.subTest(f"{v.name}, pack {p}"):
                    done = self.tokpack("dump", path, "--pack", str(p), "--json")
                    self.assertEqual((done.returncode, done.stdout), (0, text), done.stderr)

    def test_valid_files_verify(self):
        for v in self.valid:
            with self.subTest(v.name):
                self.assertEqual(self.errors(v), [])

    def test_refused_files_give_status_3_and_a_line(self):
        for v in self.invalid:
            if v.open != "ok":
                with self.subTest(v.name):
                    done = self.tokpack("dump", self.written(v), "--json")
                    self.assertEqual((done.returncode, done.stdout), (3, ""))
                    self.assertIn(str(self.path), done.stderr)

    def test_files_with_faults_inside_are_still_dumped(self):
        for v in self.invalid:
            if v.open == "ok":
                with self.subTest(v.name):
                    done = self.tokpack("dump", self.written(v), "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    reference = subprocess.run([sys.executable, ROOT / "spec" / "reference_reader.py", self.path],
                                               capture_output=True, text=True, encoding="utf-8")
                    self.assertEqual(done.stdout, reference.stdout)

    def test_packs_with_faults_give_status_3(self):
        for v in [*self.valid, *self.invalid]:
            path = self.written(v)
            for p in v.pack_errors:
                with self.subTest(f"{v.name}, pack {p}"):
                    done = self.tokpack("dump", path, "--pack", str(p), "--json")
                    self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_verify_names_the_error(self):
        for v in self.invalid:
            with self.subTest(v.name):
                self.assertLessEqual(set(v.verify), set(self.errors(v)))

    def test_nothing_that_is_printed_drives_a_terminal(self):
        for v in [*self.valid, *self.invalid]:
            path = self.written(v)
            for arguments in (("dump", path), ("dump", path, "--sections"), ("verify", path), ("stats", path)):
                done = self.tokpack(*arguments)
                printed = set(done.stdout + done.stderr) - {"\n"}
                self.assertFalse([c for c in printed if c < " " or "\x7f" <= c <= "\x9f"], f"{v.name}: {arguments}")

    def test_it_agrees_with_the_reference_reader_on_a_fresh_file(self):
        samples = ROOT / "examples" / "data" / "quickstart_sft.jsonl"
        for options in ([], ["--overlong", "split", "--strategy", "concat"], ["--tail", "input-target"],
                        ["--overlong", "truncate", "--align", "8", "--max-sequences", "3"]):
            with self.subTest(options):
                done = self.tokpack("pack", samples, "-o", self.path, "--force", "--capacity", "2048",
                                    *(options or ["--overlong", "drop"]))
                self.assertEqual(done.returncode, 0, done.stderr)
                packs = json.loads(self.tokpack("dump", self.path, "--json").stdout)["packs"]
                for arguments in ([], *(["--pack", str(p)] for p in {0, packs // 2, packs - 1})):
                    ours = self.tokpack("dump", self.path, "--json", *arguments)
                    reference = subprocess.run(
                        [sys.executable, ROOT / "spec" / "reference_reader.py", self.path, *arguments],
                        capture_output=True, text=True, encoding="utf-8")
                    self.assertEqual((ours.returncode, ours.stdout), (0, reference.stdout), reference.stderr)
                self.assertEqual(self.tokpack("verify", self.path).returncode, 0)
                reference = subprocess.run(
                    [sys.executable, ROOT / "spec" / "reference_reader.py", self.path, "--verify"],
                    capture_output=True, text=True,
                    env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support" / "ctypes_xxhash")})
                self.assertEqual((reference.returncode, reference.stdout), (0, ""), reference.stderr)


if __name__ == "__main__":
    TOKPACK = sys.argv.pop(1)
    unittest.main()
