"""examples/train_loop.cpp serves every pack that fills a step, in two epochs of different order.

    train_loop_test.py TOKPACK TRAIN_LOOP INPUT.jsonl
"""
import json
import re
import subprocess
import sys
import tempfile

tokpack, train_loop, data = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/train.tpk"
    subprocess.run([tokpack, "pack", data, "-o", path, "--capacity", "2048"], check=True, capture_output=True)
    dumped = subprocess.run([tokpack, "dump", path, "--json"], check=True, capture_output=True, text=True)
    steps = json.loads(dumped.stdout)["packs"] // 8
    done = subprocess.run([train_loop, path], check=True, capture_output=True, text=True)
assert steps > 1, "the test needs more than one step"
batch = r"batch of 8 rows, \d+ tokens, \d+ targets\n"
epochs = re.fullmatch(rf"((?:{batch}){{{steps}}})epoch 1 is next\n((?:{batch}){{{steps}}})epoch 2 is next\n", done.stdout)
assert epochs, f"expected two epochs of {steps} steps, found:\n{done.stdout}"
assert epochs[1] != epochs[2], "both epochs have one order"
print(f"two epochs of {steps} steps")
