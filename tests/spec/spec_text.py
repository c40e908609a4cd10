"""Reads spec/format.md: its tables, its clauses and its hex."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = (ROOT / "spec" / "format.md").read_text(encoding="utf-8")


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def table(name):
    """The rows of the table under `<!-- table: NAME -->`, each a dict from the column's heading."""
    lines = TEXT.split(f"<!-- table: {name} -->\n")
    if len(lines) != 2:
        raise ValueError(f"{len(lines) - 1} tables {name} in format.md")
    rows = []
    for line in lines[1].splitlines():
        if not line.startswith("|"):
            break
        rows.append(cells(line))
    head, _, *body = rows
    for row in body:
        if len(row) != len(head):
            raise ValueError(f"table {name}: {row}")
    return [dict(zip(head, row)) for row in body]


def hex_lines(name):
    """The lines of the code block under `<!-- hex: NAME -->`."""
    return TEXT.split(f"<!-- hex: {name} -->\n```\n")[1].split("```")[0].splitlines()


def clauses():
    """The identifiers of all clauses, in order, repetitions included."""
    return re.findall(r"^- \*\*\[([A-Z]-\d+)\]\*\*", TEXT, re.MULTILINE)


def mentioned_clauses():
    return set(re.findall(r"\b([A-Z]-\d+)\b", TEXT))


def clause_text(identifier):
    return re.search(rf"^- \*\*\[{identifier}\]\*\*(.*?)(?=\n- \*\*\[|\n\n|\n\*|\Z)", TEXT,
                     re.MULTILINE | re.DOTALL)[1]
