"""examples/tensor_loop.cpp serves the batches that examples/train_loop.cpp serves, with as many targets.

    check_tensor_loop.py TOKPACK TENSOR_LOOP TRAIN_LOOP INPUT.jsonl
"""

import re
import subprocess
import sys
import tempfile

tokpack, tensor_loop, train_loop, data = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path = folder + "/train.tpk"
    subprocess.run([tokpack, "pack", data, "-o", path, "--capacity", "2048"], check=True, capture_output=True)
    tensors = subprocess.run([tensor_loop, path], check=True, capture_output=True, text=True).stdout
    arrays = subprocess.run([train_loop, path], check=True, capture_output=True, text=True).stdout
found = re.findall(r"^8 rows of 2048, (\d+) attended cells, (\d+) targets$", tensors, re.M)
expected = re.findall(r", (\d+) targets$", arrays.partition("epoch 1")[0], re.M)
assert len(expected) > 1 and [targets for _, targets in found] == expected, (tensors, arrays)
# Each row attends itself at least, and no more than a causal mask of one sequence.
assert all(8 * 2048 <= int(cells) <= 8 * 2048 * 2049 // 2 for cells, _ in found), found
assert re.search(r"^tokpack-order 1 .* epoch=1 cursor=0 .*check=[0-9a-f]{16}$", tensors, re.M), tensors
print(f"{len(found)} batches")
