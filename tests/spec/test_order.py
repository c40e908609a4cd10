"""The tables of spec/order.md and spec/reference_order.py say the same."""
import pathlib
import re
import sys
import unittest

SPEC = pathlib.Path(__file__).resolve().parents[2] / "spec"
sys.path.insert(0, str(SPEC))
from reference_order import Permutation, after, rows  # noqa: E402


def table(name):
    text = (SPEC / "order.md").read_text()
    body = text.split(f"<!-- table: {name} -->\n")[1].split("\n\n")[0]
    return [[c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] for line in body.splitlines()[2:]]


class Order(unittest.TestCase):
    def test_golden_values(self):
        found = table("order")
        self.assertGreaterEqual(len(found), 15)
        for n, seed, epoch, first, last in found:
            order = Permutation(int(n), int(seed), int(epoch))
            self.assertEqual([order(i) for i in range(min(8, int(n)))], [int(v) for v in first.split()])
            self.assertEqual(order(int(n) - 1), int(last))

    def test_every_small_count_is_a_permutation(self):
        for n in range(1, 200):
            order = Permutation(n, 1, 2)
            self.assertEqual(sorted(order(i) for i in range(n)), list(range(n)))

    def test_steps(self):
        order = Permutation(7, 0, 0)
        for remainder, wanted in table("steps"):
            said, epoch, cursor = [], 0, 0
            while epoch == 0:
                ranks = [rows(order, 7, cursor, 2, 2, rank, remainder) for rank in range(2)]
                said.append(r" \| ".join(" ".join("empty" if p is None else str(p) for p in r) for r in ranks))
                epoch, cursor = after(7, epoch, cursor, 2, 2, remainder)
            self.assertEqual(", then ".join(said), wanted)


if __name__ == "__main__":
    unittest.main()
