"""Where results go: a line per check on standard error, and JSON that is whole after every check, so that what a
time limit ends has told what it had."""

import json
import os
import sys
import time
import traceback


class NotRun(Exception):
    """Why a check cannot be made here."""


class Report:
    def __init__(self, part, path, seconds, head):
        self.path = path
        self.deadline = time.monotonic() + seconds
        self.document = {"part": part, **head, "failed": 0, "running": None, "checks": [], "times": []}
        self.write()

    def write(self):
        if not self.path:
            return
        with open(f"{self.path}.new", "w") as file:
            file.write(json.dumps(self.document, indent=1) + "\n")
        os.replace(f"{self.path}.new", self.path)

    def run(self, name, check, *arguments, needs=0):
        """check(*arguments) returns the number of its cases, or raises. needs: seconds that must be left."""
        entry = {"name": name}
        started = time.monotonic()
        self.document["running"] = name
        self.write()
        try:
            left = self.deadline - started
            if left < needs:
                raise NotRun(f"{left:.0f} s left, it may take {needs}")
            entry.update(passed=True, cases=check(*arguments))
            line = f"ok: {name} ({entry['cases']} cases)"
        except NotRun as why:
            entry["not_run"] = str(why)
            line = f"not run: {name}: {why}"
        except Exception as error:  # a refusal of torch's or the driver's is a failed check, too
            self.document["failed"] += 1
            entry.update(passed=False, fault=f"{type(error).__name__}: {str(error)[:2000]}")
            line = f"FAILED: {name}: {entry['fault']}"
            if not isinstance(error, AssertionError):
                line += "\n" + "".join(traceback.format_tb(error.__traceback__)[-3:])
        entry["seconds"] = round(time.monotonic() - started, 2)
        print(line, file=sys.stderr, flush=True)
        self.document["checks"].append(entry)
        self.document["running"] = None
        self.write()
        return entry.get("passed", False)

    def time(self, **fields):
        print("time: " + json.dumps(fields), file=sys.stderr, flush=True)
        self.document["times"].append(fields)
        self.write()
