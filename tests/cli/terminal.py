#!/usr/bin/env python3
"""On a terminal there is a progress bar that leaves no trace; elsewhere there is none.

    terminal.py build/tools/tokpack
"""
import os
import pty
import subprocess
import threading

from support import TOKPACK, main

LINE = b'{"input_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}\n'


def pack(folder, errors, *inputs):
    (folder / "in.jsonl").write_bytes(LINE * 200_000)
    return subprocess.run([str(TOKPACK), "pack", *map(str, inputs or [folder / "in.jsonl"]), "-o", str(folder / "out.tpk"), "--capacity",
                           "64", "--force"], stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "TERM": "xterm"})


def seen_on_a_terminal(folder, *inputs):
    controller, terminal = pty.openpty()
    done = pack(folder, terminal, *inputs)
    os.close(terminal)
    seen = b""
    try:
        while piece := os.read(controller, 65536):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    assert done.returncode == 0
    return seen


def a_terminal_sees_a_bar_that_is_cleared(folder):
    seen = seen_on_a_terminal(folder)
    assert b"packing  [" in seen and b"tokens/s" in seen and b" left" in seen, seen
    assert seen.endswith(b"\r\x1b[K"), seen[-80:]
    assert b"\n" not in seen, seen


def a_named_pipe_among_the_inputs_leaves_the_end_unknown(folder):
    os.mkfifo(folder / "pipe.jsonl")
    (folder / "small.jsonl").write_bytes(LINE)
    feeding = threading.Thread(target=lambda: (folder / "pipe.jsonl").write_bytes(LINE * 200_000))
    feeding.start()
    seen = seen_on_a_terminal(folder, folder / "small.jsonl", folder / "pipe.jsonl")
    feeding.join()
    assert b"tokens/s" in seen and b"packing  [" not in seen and b" left" not in seen, seen


def a_pipe_sees_nothing(folder):
    done = pack(folder, subprocess.PIPE)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    assert b"\x1b" not in done.stdout and b"\r" not in done.stdout


main([a_terminal_sees_a_bar_that_is_cleared, a_named_pipe_among_the_inputs_leaves_the_end_unknown, a_pipe_sees_nothing])
