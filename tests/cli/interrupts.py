#!/usr/bin/env python3
"""Signals, and two packs at once: never a broken file, never a left-over that stays.

    interrupts.py build/tools/tokpack
"""
import os
import signal
import subprocess
import time

from support import TOKPACK, main, run

LINE = b'{"input_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}\n'


def output_is_open(process, folder):
    """True when the process has a file in the folder open, be it without a name."""
    for descriptor in os.listdir(f"/proc/{process.pid}/fd"):
        try:
            target = os.readlink(f"/proc/{process.pid}/fd/{descriptor}")
        except OSError:
            continue
        if target.startswith(f"{folder}/"):
            return True
    return False


def start(folder, *options):
    """A pack that reads a pipe, so that it is certainly still reading when the signal comes."""
    process = subprocess.Popen([str(TOKPACK), "pack", "-", "-o", str(folder / "out.tpk"), "--capacity", "64", "--threads", "1",
                                *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    # More than one batch of text, so that the output has been begun.
    process.stdin.write(LINE * 600_000)
    process.stdin.flush()
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if output_is_open(process, folder):
            return process
        time.sleep(0.01)
    raise AssertionError("the pack has not begun its output after half a minute")


def stopped_by(folder, number, code):
    process = start(folder)
    process.send_signal(number)
    process.stdin.close()
    errors = process.stderr.read().decode()
    assert process.wait(60) == code, (process.returncode, errors)
    assert list(folder.iterdir()) == [], list(folder.iterdir())
    assert "interrupted" in errors, errors


def sigint_leaves_nothing_and_gives_130(folder):
    stopped_by(folder, signal.SIGINT, 130)


def sigterm_leaves_nothing_and_gives_143(folder):
    stopped_by(folder, signal.SIGTERM, 143)


def sighup_leaves_nothing_and_gives_129(folder):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, here and in what is started
    stopped_by(folder, signal.SIGHUP, 129)


def stopped_while_waiting(process, folder, left=()):
    """Nothing more comes, and the pipe stays open: the signal alone must end the wait."""
    time.sleep(0.3)  # until it waits
    assert process.poll() is None, process.stderr.read().decode()
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130, (process.returncode, process.stderr.read().decode())
    assert time.monotonic() - began < 10
    assert "interrupted" in process.stderr.read().decode()
    assert sorted(p.name for p in folder.iterdir()) == sorted(left), list(folder.iterdir())


def pack_of(folder, source, **keywords):
    return subprocess.Popen([str(TOKPACK), "pack", str(source), "-o", str(folder / "out.tpk"), "--capacity", "64"],
                            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, **keywords)


def a_wait_for_more_from_a_pipe_ends_at_once(folder):
    process = start(folder)
    stopped_while_waiting(process, folder)
    process.stdin.close()


def a_wait_for_the_first_byte_of_a_pipe_ends_at_once(folder):
    process = pack_of(folder, "-", stdin=subprocess.PIPE)
    stopped_while_waiting(process, folder)
    process.stdin.close()


def a_pipe_that_does_not_block_is_waited_for(folder):
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    process = pack_of(folder, "-", stdin=ours)
    os.close(ours)
    with open(theirs, "wb") as pipe:
        for _ in range(3):
            time.sleep(0.1)
            pipe.write(LINE)
            pipe.flush()
    assert process.wait(20) == 0, process.stderr.read().decode()
    assert run("export", folder / "out.tpk").encode() == LINE * 3


def a_wait_for_the_rest_of_a_zstd_frame_ends_at_once(folder):
    process = pack_of(folder, "-", stdin=subprocess.PIPE)
    process.stdin.write(b"\x28\xb5\x2f\xfd\x04")
    process.stdin.flush()
    stopped_while_waiting(process, folder)
    process.stdin.close()


def a_wait_for_the_writer_of_a_fifo_ends_at_once(folder):
    os.mkfifo(folder / "in.jsonl")
    stopped_while_waiting(pack_of(folder, folder / "in.jsonl"), folder, ["in.jsonl"])


def a_fifo_is_read_when_its_writer_comes(folder):
    # It takes its time to come, and to write.
    os.mkfifo(folder / "in.jsonl")
    process = pack_of(folder, folder / "in.jsonl")
    time.sleep(0.3)
    with open(folder / "in.jsonl", "wb") as fifo:
        for _ in range(3):
            fifo.write(LINE)
            fifo.flush()
            time.sleep(0.1)
    assert process.wait(20) == 0, process.stderr.read().decode()
    assert run("export", folder / "out.tpk").encode() == LINE * 3


def an_old_file_survives_an_interrupt(folder):
    (folder / "out.tpk").write_text("old")
    process = start(folder, "--force")
    process.send_signal(signal.SIGINT)
    process.stdin.close()
    process.wait(60)
    assert [p.name for p in folder.iterdir()] == ["out.tpk"]
    assert (folder / "out.tpk").read_text() == "old"


def what_kill_9_leaves_the_next_run_removes(folder):
    process = start(folder)
    process.kill()
    process.wait(60)
    left = [p.name for p in folder.iterdir()]
    assert "out.tpk" not in left, left
    (folder / "small.jsonl").write_bytes(LINE)
    run("pack", folder / "small.jsonl", "-o", folder / "out.tpk", "--capacity", 64)
    assert sorted(p.name for p in folder.iterdir()) == ["out.tpk", "small.jsonl"], list(folder.iterdir())
    run("verify", folder / "out.tpk")


def killed_when(condition, *arguments):
    """Runs tokpack and kills it at the first moment when the condition holds; False when that never came."""
    process = subprocess.Popen([str(TOKPACK), *map(str, arguments)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if condition():
            process.kill()
            return process.wait(60) == -signal.SIGKILL
    return False


def what_kill_9_leaves_of_an_export_the_next_one_removes(folder):
    (folder / "in.jsonl").write_bytes(LINE * 300_000)
    run("pack", folder / "in.jsonl", "-o", folder / "in.tpk", "--capacity", 4096)
    before = len(list(folder.iterdir()))
    caught = killed_when(lambda: len(os.listdir(folder)) > before, "export", folder / "in.tpk", "-o",
                         folder / "out.jsonl")
    if not caught:
        return "the export was done before it could be killed"
    run("export", folder / "in.tpk", "-o", folder / "out.jsonl")
    assert sorted(os.listdir(folder)) == ["in.jsonl", "in.tpk", "out.jsonl"], os.listdir(folder)
    assert (folder / "out.jsonl").read_bytes() == (folder / "in.jsonl").read_bytes()


def what_kill_9_leaves_between_the_two_files_the_next_run_removes(folder):
    (folder / "in.jsonl").write_bytes(LINE * 200_000 + b'{"input_ids":[7]}\n')
    (folder / "held.tpk").write_text("old")
    old = os.stat(folder / "held.tpk").st_ino
    # [7] alone is held out: that file is finished long before the other one is planned and written.
    arguments = ["pack", folder / "in.jsonl", "-o", folder / "out.tpk", "--holdout", "34.3", "--holdout-out",
                 folder / "held.tpk", "--capacity", 64, "--threads", 1, "--force"]
    if not killed_when(lambda: os.stat(folder / "held.tpk").st_ino != old, *arguments):
        return "both files were there before the pack could be killed"
    run(*arguments)
    assert sorted(os.listdir(folder)) == ["held.tpk", "in.jsonl", "out.tpk"], os.listdir(folder)
    run("verify", folder / "held.tpk", folder / "out.tpk")


def kill_9_at_many_moments_never_leaves_a_broken_file(folder):
    (folder / "in.jsonl").write_bytes(LINE * 60_000)
    for i in range(25):
        process = subprocess.Popen([str(TOKPACK), "pack", str(folder / "in.jsonl"), "-o", str(folder / "out.tpk"),
                                    "--capacity", "64", "--force"], stdout=subprocess.DEVNULL)
        time.sleep(0.01 * i)
        process.kill()
        process.wait(60)
        if (folder / "out.tpk").exists():
            run("verify", folder / "out.tpk")
    run("pack", folder / "in.jsonl", "-o", folder / "out.tpk", "--capacity", 64, "--force")
    assert sorted(p.name for p in folder.iterdir()) == ["in.jsonl", "out.tpk"], list(folder.iterdir())


def two_packs_to_one_output_give_one_complete_file(folder):
    (folder / "in.jsonl").write_bytes(LINE * 20_000)
    for _ in range(5):
        both = [subprocess.Popen([str(TOKPACK), "pack", str(folder / "in.jsonl"), "-o", str(folder / "out.tpk"),
                                  "--capacity", "64"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                for _ in range(2)]
        codes = sorted(p.wait(120) for p in both)
        assert codes == [0, 3], codes
        run("verify", folder / "out.tpk")
        assert sorted(p.name for p in folder.iterdir()) == ["in.jsonl", "out.tpk"], list(folder.iterdir())
        os.unlink(folder / "out.tpk")


main([sigint_leaves_nothing_and_gives_130, sigterm_leaves_nothing_and_gives_143,
      sighup_leaves_nothing_and_gives_129,
      a_wait_for_more_from_a_pipe_ends_at_once, a_wait_for_the_first_byte_of_a_pipe_ends_at_once,
      a_pipe_that_does_not_block_is_waited_for, a_wait_for_the_rest_of_a_zstd_frame_ends_at_once,
      a_wait_for_the_writer_of_a_fifo_ends_at_once, a_fifo_is_read_when_its_writer_comes, an_old_file_survives_an_interrupt,
      what_kill_9_leaves_the_next_run_removes, what_kill_9_leaves_of_an_export_the_next_one_removes,
      what_kill_9_leaves_between_the_two_files_the_next_run_removes, kill_9_at_many_moments_never_leaves_a_broken_file,
      two_packs_to_one_output_give_one_complete_file])
