"""Writes the bytes of all vectors under a folder, one file each, as seeds for fuzzing.

    decode_vectors.py spec/vectors OUT
"""
import pathlib
import shutil
import sys

import vector_file


def main():
    source, out = map(pathlib.Path, sys.argv[1:3])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    count = 0
    for kind in ("valid", "invalid"):
        for vector in vector_file.read_all(source / kind):
            (out / f"{kind}_{vector.name}").write_bytes(vector.data)
            count += 1
    print(f"{count} vectors")
    return 0 if count else 1


if __name__ == "__main__":
    sys.exit(main())
