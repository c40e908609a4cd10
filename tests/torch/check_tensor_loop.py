"""examples/tensor_loop.cpp serves the batches that examples/train_loop.cpp serves, with as many targets.

    check_tensor_loop.py TOKPACK TENSOR_LOOP TRAIN_LOOP INPUT.jsonl
"""

import itertools
import json
import re
import subprocess
import sys
import tempfile

tokpack, tensor_loop, train_loop, data = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    path, some = folder + "/train.tpk", folder + "/some.jsonl"
    for samples in range(150, 400):  # as many as fill steps of 8: then an epoch has every pack
        with open(data, encoding="utf-8") as lines, open(some, "w", encoding="utf-8") as out:
            out.writelines(itertools.islice(lines, samples))
        subprocess.run([tokpack, "pack", some, "-o", path, "--capacity", "2048", "--force"], check=True, capture_output=True)
        about = subprocess.run([tokpack, "dump", path, "--json"], check=True, capture_output=True, text=True).stdout
        packs = json.loads(about)["packs"]
        if packs % 8 == 0:
            break
    cells = 0
    for pack in range(packs):
        dumped = subprocess.run([tokpack, "dump", path, "--pack", str(pack), "--json"], check=True, capture_output=True, text=True)
        cu_seqlens = json.loads(dumped.stdout)["cu_seqlens"] + [2048]  # the pads are one more sequence
        cells += sum((end - start) * (end - start + 1) // 2 for start, end in zip(cu_seqlens, cu_seqlens[1:]))
    tensors = subprocess.run([tensor_loop, path], check=True, capture_output=True, text=True).stdout
    arrays = subprocess.run([train_loop, path], check=True, capture_output=True, text=True).stdout
found = re.findall(r"^8 rows of 2048, (\d+) attended cells, (\d+) targets$", tensors, re.M)
expected = re.findall(r", (\d+) targets$", arrays.partition("epoch 1")[0], re.M)
assert len(expected) > 1 and [targets for _, targets in found] == expected, (tensors, arrays)
assert sum(int(attended) for attended, _ in found) == cells > 0, (found, cells)
assert re.search(r"^tokpack-order 1 .* epoch=1 cursor=0 .*check=[0-9a-f]{16}$", tensors, re.M), tensors
print(f"{len(found)} batches")
