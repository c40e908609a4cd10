"""examples/masks_in_pytorch.py shows the mask of the conventions' example, a row of 3 + 2 tokens and 3 pads.

    check_masks_in_pytorch.py EXAMPLE.py
"""

import subprocess
import sys

shown = subprocess.run([sys.executable, sys.argv[1]], check=True, capture_output=True, text=True).stdout
rows = "10000000 11000000 11100000 00010000 00011000 00000100 00000110 00000111".split()
mask = "tensor([" + ",\n        ".join("[" + ", ".join(row) + "]" for row in rows) + "], dtype=torch.int32)"
assert shown.startswith(mask), shown
assert "(2, 4, 8, 16)" in shown and "BlockMask" in shown, shown
