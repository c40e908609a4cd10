#!/usr/bin/env python3
"""The order in which packs are served, written from order.md. Standard library only.

    reference_order.py PACKS [--seed S] [--epoch E] [--count N]    the first N packs of an epoch
"""
import argparse

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
ROUNDS = 8


def mix(x):
    """A bijection of 64-bit numbers (order.md, P-1)."""
    x &= MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


class Permutation:
    """The order of n packs in one epoch: a bijection of 0..n-1 (order.md, P-2 to P-5)."""

    def __init__(self, n, seed, epoch):
        if not 1 <= n <= 2**62:
            raise ValueError(f"n is {n}, expected 1 to 2^62")
        self.n = n
        self.k = max(3, (n - 1).bit_length() // 2)
        self.a = max(8, -(-n // 2**self.k))
        base = mix(mix(seed) + epoch)
        self.keys = [mix(base + (r + 1) * GOLDEN) for r in range(ROUNDS)]

    def __call__(self, i):
        if not 0 <= i < self.n:
            raise ValueError(f"index is {i}, expected 0 to {self.n - 1}")
        while True:
            high, low = i >> self.k, i & (2**self.k - 1)
            for r, key in enumerate(self.keys):
                if r % 2 == 0:
                    high = (high + ((mix(low + key) >> 32) * self.a >> 32)) % self.a
                else:
                    low ^= mix(high + key) >> (64 - self.k)
            i = high << self.k | low
            if i < self.n:
                return i


def steps_left(n, cursor, ranks, batch, remainder):
    """Steps from `cursor` to the end of the epoch (order.md, S-2)."""
    left, size = n - cursor, ranks * batch
    return left // size if remainder == "drop" else -(-left // size)


def rows(order, n, cursor, ranks, batch, rank, remainder):
    """The packs of one rank in the step at `cursor`; None is an empty row (order.md, S-3)."""
    out = []
    for k in range(batch):
        j = cursor + rank * batch + k
        if j < n:
            out.append(order(j))
        elif remainder == "pad":
            out.append(None)
        else:
            out.append(order((j - n) % n))
    return out


def after(n, epoch, cursor, ranks, batch, remainder):
    """(epoch, cursor) after the step at `cursor` (order.md, S-4)."""
    cursor = min(n, cursor + ranks * batch)
    return (epoch, cursor) if steps_left(n, cursor, ranks, batch, remainder) > 0 else (epoch + 1, 0)


def main():
    parser = argparse.ArgumentParser(description="The first packs of an epoch.")
    parser.add_argument("packs", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--epoch", type=int, default=0)
    parser.add_argument("--count", type=int, default=8)
    arguments = parser.parse_args()
    order = Permutation(arguments.packs, arguments.seed, arguments.epoch)
    print(*(order(i) for i in range(min(arguments.count, arguments.packs))))


if __name__ == "__main__":
    main()
