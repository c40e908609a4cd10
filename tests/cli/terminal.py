#!/usr/bin/env python3
"""On a terminal there is a progress bar that leaves no trace; elsewhere there is none.

    terminal.py build/tools/tokpack
"""
import os
import pty
import subprocess

from support import TOKPACK, main

LINE = b'{"input_ids":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}\n'


def pack(folder, errors):
    (folder / "in.jsonl").write_bytes(LINE * 200_000)
    return subprocess.run([str(TOKPACK), "pack", str(folder / "in.jsonl"), "-o", str(folder / "out.tpk"), "--capacity",
                           "64", "--force"], stdout=subprocess.PIPE, stderr=errors, env={**os.environ, "TERM": "xterm"})


def a_terminal_sees_a_bar_that_is_cleared(folder):
    controller, terminal = pty.openpty()
    done = pack(folder, terminal)
    os.close(terminal)
    seen = b""
    try:
        while piece := os.read(controller, 65536):
            seen += piece
    except OSError:  # the other end is closed
        pass
    os.close(controller)
    assert done.returncode == 0
    assert b"packing  [" in seen and b"tokens/s" in seen and b" left" in seen, seen
    assert seen.endswith(b"\r\x1b[K"), seen[-80:]
    assert b"\n" not in seen, seen


def a_pipe_sees_nothing(folder):
    done = pack(folder, subprocess.PIPE)
    assert done.returncode == 0 and done.stderr == b"", done.stderr
    assert b"\x1b" not in done.stdout and b"\r" not in done.stdout


main([a_terminal_sees_a_bar_that_is_cleared, a_pipe_sees_nothing])
