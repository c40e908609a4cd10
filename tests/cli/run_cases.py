#!/usr/bin/env python3
"""Runs command-line cases: each file of cases/ is a little session with what it must print.

    run_cases.py --tokpack build/tools/tokpack [--show] cases/*.case

A case runs in a fresh folder. Its lines:

    # comment (only before the first block)
    == file NAME         the lines that follow become this file
    == run COMMAND       bash -c COMMAND (more of it may follow on the next lines); `tokpack` is on PATH
    == stdout            what the command must print; no block: nothing
    == stderr            the same for standard error
    == exit N            its exit code; no block: 0
    == skip-unless TEST  the case is skipped, with a word, when bash -c TEST fails

In expected text {{...}} is a regular expression, a line of three dots stands for any lines, and everything else
is literal. Exit code 0: all pass; 1: some fail; 77: the only case was skipped. --show prints what came instead
of comparing.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TIMEOUT_SECONDS = 120


class Step:
    def __init__(self, command, line):
        self.first, self.line, self.more = command, line, []
        self.stdout, self.stderr, self.exit = [], [], 0

    @property
    def command(self):
        return "\n".join([self.first, *self.more]).rstrip("\n")


def parse(path):
    """Files, steps and an optional condition, in order: [("file", name, text) | ("run", Step) | ("skip", test)]."""
    actions, block = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if not line.startswith("== "):
            if block is not None:
                block.append(line)
            elif line.strip() and not line.startswith("#"):
                raise SystemExit(f"{path}:{number}: expected '== ' or a comment")
            continue
        word, _, rest = line[3:].partition(" ")
        block = None
        if word == "file":
            block = []
            actions.append(("file", rest, block))
        elif word == "run":
            step = Step(rest, number)
            block = step.more
            actions.append(("run", step))
        elif word == "skip-unless":
            actions.append(("skip", rest))
        elif word in ("stdout", "stderr") and actions and actions[-1][0] == "run":
            block = getattr(actions[-1][1], word)
        elif word == "exit" and actions and actions[-1][0] == "run":
            actions[-1][1].exit = int(rest)
        else:
            raise SystemExit(f"{path}:{number}: cannot read '{line}'")
    return actions


def text_of(block):
    """The block's lines, without blank ones at its end."""
    lines = list(block)
    while lines and not lines[-1]:
        lines.pop()
    return "".join(line + "\n" for line in lines)


def pattern(expected):
    out = []
    for line in expected.split("\n")[:-1]:
        if line == "...":
            out.append(r"(?:[^\n]*\n)*?")
            continue
        parts = re.split(r"\{\{(.*?)\}\}(?!\})", line)
        out.append("".join(part if i % 2 else re.escape(part) for i, part in enumerate(parts)) + r"\n")
    return re.compile("".join(out))


def run_case(path, tokpack, show):
    """None when all is well, a reason when not, or ("skipped", word)."""
    environment = {"PATH": f"{tokpack.parent}:{os.environ.get('PATH', '/usr/bin:/bin')}", "LC_ALL": "C", "HOME": "/",
                   "TERM": "dumb"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "TMPDIR", "LD_LIBRARY_PATH"):
        if name in os.environ:
            environment[name] = os.environ[name]
    with tempfile.TemporaryDirectory(prefix="tokpack-case-") as folder:
        for action in parse(path):
            if action[0] == "file":
                Path(folder, action[1]).write_text(text_of(action[2]), encoding="utf-8")
                continue
            if action[0] == "skip":
                if subprocess.run(["bash", "-c", action[1]], cwd=folder, env=environment,
                                  capture_output=True).returncode != 0:
                    return ("skipped", action[1])
                continue
            step = action[1]
            where = f"{path}:{step.line}"
            try:
                done = subprocess.run(["bash", "-c", step.command], cwd=folder, env=environment, capture_output=True,
                                      stdin=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                return f"{where}: still running after {TIMEOUT_SECONDS} s"
            found = {"stdout": done.stdout.decode("utf-8", "backslashreplace"),
                     "stderr": done.stderr.decode("utf-8", "backslashreplace")}
            if show:
                print(f"== run {step.command}")
                for name, text in found.items():
                    if text:
                        print(f"== {name}\n{text}", end="")
                if done.returncode:
                    print(f"== exit {done.returncode}")
                continue
            if done.returncode != step.exit:
                return (f"{where}: exit code {done.returncode}, expected {step.exit}\n"
                        f"stdout:\n{found['stdout']}stderr:\n{found['stderr']}")
            for name, text in found.items():
                expected = text_of(getattr(step, name))
                if not pattern(expected).fullmatch(text):
                    return f"{where}: {name} is\n{text}expected\n{expected}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokpack", required=True, type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("cases", nargs="+", type=Path)
    arguments = parser.parse_args()
    failed = skipped = 0
    for path in arguments.cases:
        result = run_case(path, arguments.tokpack.resolve(), arguments.show)
        if isinstance(result, tuple):
            skipped += 1
            print(f"skipped {path.name}: {result[1]}")
        elif result:
            failed += 1
            print(f"FAILED {path.name}: {result}")
    passed = len(arguments.cases) - failed - skipped
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if failed:
        return 1
    return 77 if skipped == len(arguments.cases) else 0


if __name__ == "__main__":
    sys.exit(main())
