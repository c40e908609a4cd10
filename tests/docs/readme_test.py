"""The pages say what the files say: snippets are the example files, links lead somewhere, named tests exist.

    readme_test.py ROOT [--write]    --write puts the example files into the README instead of comparing
"""

import pathlib
import re
import sys

SNIPPETS = {
    "numpy-reader": ("python", "examples/read_with_numpy.py"),
    "numpy-batch": ("python", "examples/batch_with_numpy.py"),
    "cpp-example": ("cpp", "examples/pack_and_read.cpp"),
    "cpp-loader": ("cpp", "examples/train_loop.cpp"),
    "cpp-tensors": ("cpp", "examples/tensor_loop.cpp"),
    "pytorch-masks": ("python", "examples/masks_in_pytorch.py"),
}
PART = re.compile(r"^// In the README from here\n(.*?)^// to here\.$", re.M | re.S)  # else the whole file


def block(root, name):
    language, path = SNIPPETS[name]
    text = (root / path).read_text(encoding="utf-8")
    part = PART.search(text)
    text = (part[1] if part else text).rstrip("\n")
    return f"<!-- {name} -->\n```{language}\n{text}\n```\n<!-- /{name} -->"


def faults(root):
    for page in sorted(root.glob("*.md")) + sorted(root.glob("*/**/*.md")):
        if page.relative_to(root).parts[0].startswith(("build", ".venv")):
            continue
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text):
            if "://" not in link and not (page.parent / link).exists():
                yield f"{page.relative_to(root)}: no such file: {link}"
    readme = (root / "README.md").read_text(encoding="utf-8")
    for name, (_, path) in SNIPPETS.items():
        if block(root, name) not in readme:
            yield f"README.md: the block {name} is not {path}; run this script with --write"
    for script in re.findall(r"^`?([\w/]+\.sh)\b", readme, re.M):
        if not (root / script).exists():
            yield f"README.md: no such script: {script}"


def test_names(root):
    """What the tables of tests/README.md may name: ctest names and `unit.folder: case`, `cuda.folder: case`."""
    names = set(re.findall(r"add_test\(NAME (cuda\.\w+)", (root / "tests" / "cuda" / "CMakeLists.txt").read_text(encoding="utf-8")))
    for source in [*(root / "tests" / "unit").glob("*/*.cpp"), *(root / "tests" / "cuda").glob("*/*.cpp")]:
        text = source.read_text(encoding="utf-8")
        for case in re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', text):
            case = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', case)).replace('\\"', '"')
            names.add(f"{source.parent.parent.name}.{source.parent.name}: {case}")
    for folder, pattern in (("cli", "cases/*.case"), ("cli", "*.py"), ("compile_fail", "*.cpp")):
        names |= {f"{folder}.{path.stem}" for path in (root / "tests" / folder).glob(pattern)}
    names |= {f"fuzz.{path.stem[:-5]}.replay" for path in (root / "tests" / "fuzz").glob("*_fuzz.cpp")}
    spec = (root / "tests" / "spec" / "CMakeLists.txt").read_text(encoding="utf-8")
    names |= {f"spec.{name}" for name in re.findall(r"tokpack_spec_test\((\w+)", spec)}
    names |= set(re.findall(r"add_test\(NAME (spec\.\w+)", spec))
    for source in (root / "tests" / "torch").glob("*_test.cpp"):
        text = source.read_text(encoding="utf-8")
        names |= {f"torch.library: {case}" for case in re.findall(r'DOCTEST_TEST_CASE\(\s*"([^"]*)"', text)}
    names |= {f"torch.{path.stem[5:]}" for path in (root / "tests" / "torch").glob("test_*.py")} | {"torch.train"}
    return names


def faults_of_tables(root):
    names = test_names(root)
    rows = [line.split("|") for line in (root / "tests" / "README.md").read_text(encoding="utf-8").splitlines()]
    rows = [[cell.strip() for cell in row[1:-1]] for row in rows if len(row) == 5 and row[1].strip() not in ("input", "folder", "---")]
    rows = [row for row in rows if not re.match(r"^`\w+(/<room>)?`$", row[0])]
    for row in rows:
        named = re.findall(r"`([^`]+)`", row[2])
        if not named:
            yield f"tests/README.md: no test is named for: {row[0]}"
        for name in named:
            if name not in names:
                yield f"tests/README.md: no such test: {name}"


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
    found = [*faults(root), *faults_of_tables(root)]
    print("\n".join(found) if found else "the pages agree with the files")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
