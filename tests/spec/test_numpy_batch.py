"""examples/batch_with_numpy.py makes of each pack what its dump says, for the valid vectors and for fresh files.

    test_numpy_batch.py [PATH_OF_TOKPACK]    without the command only the vectors
"""
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

EXAMPLE = ROOT / "examples" / "batch_with_numpy.py"
DATA = ROOT / "examples" / "data"
TOKPACK = None


def expected_row(pack, header):
    """The row of one dumped pack, token by token."""
    ignore, capacity = header["ignore_index"], header["capacity"]
    row = {"input_ids": [], "labels": [], "targets": [], "position_ids": []}
    bounds = pack["cu_seqlens"]
    for i, (begin, end) in enumerate(zip(bounds, bounds[1:])):
        for k in range(begin, end):
            row["input_ids"].append(pack["tokens"][k])
            row["labels"].append(ignore if k == begin else pack["stored_labels"][k])
            row["targets"].append(pack["stored_labels"][k + 1] if k + 1 < end else pack["tail_labels"][i])
            row["position_ids"].append(k - begin)
    fill = {"input_ids": header["pad_id"], "labels": ignore, "targets": ignore, "position_ids": 0}
    return {name: values + [fill[name]] * (capacity - len(values)) for name, values in row.items()}


class NumpyBatch(unittest.TestCase):
    def run_example(self, path):
        done = subprocess.run([sys.executable, "-B", EXAMPLE, path], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [json.loads(line) for line in done.stdout.splitlines()]

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_it_agrees_with_the_dump_of_every_valid_vector(self):
        for vector in vector_file.read_all(ROOT / "spec" / "vectors" / "valid"):
            header = json.loads(vector.dump)
            if len(vector.packs) != header["packs"] or header["packs"] * header["capacity"] > 1 << 20:
                continue
            with self.subTest(vector.name), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "file.tpk"
                path.write_bytes(vector.data)
                packs = [json.loads(text) for _, text in sorted(vector.packs.items())]
                self.assertEqual(self.run_example(path), [expected_row(pack, header) for pack in packs])

    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not installed")
    def test_it_agrees_with_the_command_on_fresh_files(self):
        if TOKPACK is None:
            self.skipTest("the tokpack command was not given")
        cases = (("quickstart_sft.jsonl", "--capacity", "2048", "--pad-id", "50256"),
                 ("quickstart_sft.jsonl", "--capacity", "512", "--overlong", "split"),
                 ("quickstart_sft.jsonl", "--capacity", "2048", "--tail", "input-target"),
                 ("quickstart_docs.jsonl", "--capacity", "2048", "--overlong", "split", "--ignore-index", "-1"))
        for name, *options in cases:
            with self.subTest(name=name, options=options), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "file.tpk"
                packed = subprocess.run([TOKPACK, "pack", DATA / name, "-o", path, *options], capture_output=True,
                                        text=True)
                self.assertEqual(packed.returncode, 0, packed.stderr)
                header = self.dump(path)
                rows = self.run_example(path)
                self.assertEqual(len(rows), header["packs"])
                for p, row in enumerate(rows):
                    self.assertEqual(row, expected_row(self.dump(path, "--pack", str(p)), header), f"pack {p}")
                given = sum(target != header["ignore_index"] for row in rows for target in row["targets"])
                self.assertEqual(given, header["targets"])

    def dump(self, path, *arguments):
        done = subprocess.run([TOKPACK, "dump", path, "--json", *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_it_is_short(self):
        lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
        self.assertLessEqual(len(lines), 26)
        self.assertLessEqual(max(map(len, lines)), 120)


if __name__ == "__main__":
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        TOKPACK = sys.argv.pop(1)
    unittest.main(verbosity=2)
