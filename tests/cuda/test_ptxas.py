"""cuda.ptxas: no kernel spills a register or needs a stack, on any kind of GPU that the library is built for.

    test_ptxas.py ROOT NVCC       exit code 77 and a word where there is no nvcc
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ARCHITECTURES = (80, 90, 100, 120)
KERNELS = 4
CLEAN = "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads"


def main():
    root, nvcc = pathlib.Path(sys.argv[1]), sys.argv[2]
    if not os.access(nvcc, os.X_OK):
        print("skipped: there is no nvcc here")
        return 77
    roots = [f"-I{root / r}" for r in ("format/include", "lib/core/include", "lib/cuda/include", "lib/cuda/src")]
    failed = False
    for architecture in ARCHITECTURES:
        with tempfile.TemporaryDirectory() as folder:
            said = subprocess.run(
                [nvcc, "-std=c++20", "-O3", "-cubin", f"-arch=sm_{architecture}", "-Xptxas", "-v", *roots, "-o",
                 f"{folder}/k", root / "lib/cuda/src/kernels.cu"], check=True, capture_output=True, text=True).stderr
        frames = re.findall(r"\d+ bytes stack frame.*", said)
        registers = [int(n) for n in re.findall(r"Used (\d+) registers", said)]
        print(f"sm_{architecture}: {len(frames)} kernels of {registers} registers")
        if len(frames) != KERNELS or any(frame != CLEAN for frame in frames):
            print(f"expected {KERNELS} kernels with {CLEAN}, but:\n{said}")
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
