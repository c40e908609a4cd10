"""What the tests of the command share. Standard library only."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
TOKPACK = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else SOURCE / "build/tools/tokpack"


def run(*arguments, code=0, **keywords):
    """Runs tokpack; standard output as text. Fails loudly when the exit code is another."""
    done = subprocess.run([str(TOKPACK), *map(str, arguments)], capture_output=True, **keywords)
    if done.returncode != code:
        raise AssertionError(f"tokpack {' '.join(map(str, arguments))}: exit {done.returncode}, expected {code}\n"
                             f"{done.stdout.decode()[-2000:]}\n{done.stderr.decode()[-2000:]}")
    return done.stdout.decode()


def records(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def main(tests):
    """Runs every test in a fresh folder and prints a closing line."""
    failed = 0
    for test in tests:
        with tempfile.TemporaryDirectory(prefix="tokpack-cli-") as folder:
            try:
                word = test(Path(folder))
                print(f"{'skipped' if word else 'passed '} {test.__name__}{': ' + word if word else ''}")
            except AssertionError as error:
                failed += 1
                print(f"FAILED  {test.__name__}: {error}")
    print(f"{len(tests)} tests, {failed} failed")
    sys.exit(1 if failed else 0)
