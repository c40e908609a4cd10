"""examples/train.cpp learns, and a run that was stopped and resumed has the losses of one that was not.

    check_train.py TOKPACK TRAIN INPUT.jsonl
"""
import itertools
import os
import re
import subprocess
import sys
import tempfile

tokpack, train, data = sys.argv[1:]
LINE = re.compile(r"step (\d+) epoch (\d+) loss (\S+)")


def run(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == code, f"{command}: {done.returncode}, expected {code}\n{done.stdout}{done.stderr}"
    return done


def losses(*options):
    lines = LINE.findall(run(train, *options, "--every", "1", "--device", "cpu").stdout)
    return [(int(step), int(epoch), loss) for step, epoch, loss in lines]


with tempfile.TemporaryDirectory() as folder:
    packed, other, ignoring, whole, part = (
        f"{folder}/{name}" for name in ("a.tpk", "b.tpk", "c.tpk", "whole.pt", "part.pt"))
    some = f"{folder}/some.jsonl"
    with open(data, encoding="utf-8") as lines, open(some, "w", encoding="utf-8") as out:
        out.writelines(itertools.islice(lines, 14))
    for path, capacity in ((packed, "128"), (other, "64")):
        run(tokpack, "pack", some, "-o", path, "--capacity", capacity, "--overlong", "split")
    small = ("--batch", "4", "--width", "32", "--layers", "1")

    straight = losses(packed, "--steps", "60", "--save", whole, *small)
    assert [step for step, _, _ in straight] == list(range(1, 61))
    assert straight[0][1] == 0 and straight[-1][1] > 1, "expected to pass the end of an epoch"
    first, last = float(straight[0][2]), sum(float(loss) for _, _, loss in straight[-10:]) / 10
    assert last < first - 1, f"the loss does not fall: {first} to {last}"

    edge = next(step for step, epoch, _ in straight if epoch == 1) - 1
    for stop in (17, edge):
        before = losses(packed, "--steps", str(stop), "--save", part, *small)
        after = losses(packed, "--steps", "60", "--resume", part, "--batch", "4")
        assert before + after == straight, f"stopped at {stop}, the losses differ"
    assert losses(packed, "--steps", "3", "--seed", "2", *small)[0] != straight[0]
    run(tokpack, "pack", some, "-o", ignoring, "--capacity", "128", "--overlong", "split", "--ignore-index", "-1")
    assert losses(ignoring, "--steps", "5", *small) == straight[:5], "another ignore index changes the losses"

    def refused(words, code, *options):
        said = run(train, *options, code=code).stderr
        assert words in said, f"expected '{words}' in: {said}"

    refused("digest", 3, other, "--resume", part, "--batch", "4")
    refused("no checkpoint", 3, packed, "--resume", folder + "/none.pt")
    refused("its checksum does not fit", 3, packed, "--resume", packed)
    damaged = f"{folder}/damaged.pt"
    content = bytearray(open(part, "rb").read())
    content[len(content) // 2] ^= 4
    with open(damaged, "wb") as out:
        out.write(content)
    refused("its checksum does not fit", 3, packed, "--resume", damaged)
    with open(packed, "rb") as file:
        before = file.read()
    refused("names the dataset", 3, packed, "--save", packed, "--steps", "1")
    with open(packed, "rb") as file:
        assert file.read() == before
    refused("Create it first", 3, packed, "--save", f"{folder}/none/a.pt", "--steps", "1000000")
    refused("train: ", 3, packed, "--save", folder, "--steps", "1000000")
    refused("--batch takes a number", 2, packed, "--batch", "4294967297")
    refused("--width is the checkpoint's own", 2, packed, "--resume", part, "--width", "32")
    refused("--rate takes a number", 2, packed, "--rate", "inf")
    refused("--save needs a value", 2, packed, "--save", "")
    # No file above 8 KiB can be written: as on a full disk, the write fails midway.
    small_disk = ("bash", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "bash")
    said = run(*small_disk, train, packed, "--steps", "1", "--save", f"{folder}/full.pt", *small, code=3).stderr
    assert "cannot write the checkpoint" in said, said
    assert not [name for name in os.listdir(folder) if "full" in name], os.listdir(folder)
    assert "nothing to train" in run(train, packed, "--resume", part, "--steps", "1", "--batch", "4").stderr
    assert run(train, "--help").stdout.startswith("usage: train")
    refused("train: ", 3, folder + "/none.tpk")
    refused("unknown option --step", 2, packed, "--step", "3")
    refused("--steps takes a number", 2, packed, "--steps", "3x")
    refused("no file is given", 2)
    refused("no multiple of --heads", 2, packed, "--width", "30")
    refused("packs", 3, packed, "--batch", "100000")
    refused("--device takes cpu", 2, packed, "--device", "gpu")
print(f"loss {first:.3f} to {last:.3f}; stopped and resumed alike")
