"""The README says what the files say: its snippets are the example files, its links lead somewhere.

    readme_test.py ROOT [--write]    --write puts the example files into the README instead of comparing
"""

import pathlib
import re
import sys

SNIPPETS = {"numpy-reader": ("python", "examples/read_with_numpy.py"), "cpp-example": ("cpp", "examples/pack_and_read.cpp")}


def block(root, name):
    language, path = SNIPPETS[name]
    text = (root / path).read_text(encoding="utf-8").rstrip("\n")
    return f"<!-- {name} -->\n```{language}\n{text}\n```\n<!-- /{name} -->"


def faults(root):
    for page in sorted(root.glob("*.md")) + sorted(root.glob("*/**/*.md")):
        if "build" in page.relative_to(root).parts[0]:
            continue
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            if "://" not in link and not (page.parent / link).exists():
                yield f"{page.relative_to(root)}: no such file: {link}"
    readme = (root / "README.md").read_text(encoding="utf-8")
    for name, (_, path) in SNIPPETS.items():
        if block(root, name) not in readme:
            yield f"README.md: the block {name} is not {path}; run this script with --write"
    for script in re.findall(r"^(\S+\.sh)\b", readme, re.M):
        if not (root / script).exists():
            yield f"README.md: no such script: {script}"


def write(root):
    path = root / "README.md"
    text = path.read_text(encoding="utf-8")
    for name in SNIPPETS:
        text = re.sub(rf"<!-- {name} -->.*?<!-- /{name} -->", lambda _: block(root, name), text, flags=re.S)
    path.write_text(text, encoding="utf-8")


def main():
    root = pathlib.Path(sys.argv[1])
    if "--write" in sys.argv:
        write(root)
    found = list(faults(root))
    print("\n".join(found) if found else "README agrees with its files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
