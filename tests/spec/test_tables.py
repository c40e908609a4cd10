"""Holds the tables of spec/format.md against layout.h and error.h, as layout_dump prints them.

    test_tables.py PATH_OF_LAYOUT_DUMP
"""
import json
import re
import subprocess
import sys
import unittest

import spec_text
from spec_text import ROOT

sys.path.insert(0, str(ROOT / "tests" / "support"))
sys.path.insert(0, str(ROOT / "spec"))
import reference_layout
import reference_metadata
import reference_reader
import vector_file

LAYOUT = {}
SIZES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i32": 4, "hash128": 16}


class Structures(unittest.TestCase):
    def compare(self, name):
        rows = spec_text.table(name)
        self.assertEqual([[r["Field"], int(r["Offset"]), int(r["Size"])] for r in rows], LAYOUT[name]["fields"])
        end = 0
        for r in rows:
            self.assertEqual(int(r["Offset"]), end, r)
            self.assertEqual(int(r["Size"]), SIZES.get(r["Type"], int(r["Size"])), r)
            end += int(r["Size"])
        self.assertEqual(end, LAYOUT[name]["size"])

    def test_header(self):
        self.compare("header")

    def test_section_entry(self):
        self.compare("section_entry")

    def test_digest_fields_are_header_fields_without_padding(self):
        header = {r["Field"]: (r["Size"], r["Type"]) for r in spec_text.table("header")}
        end = 0
        for r in spec_text.table("digest_fields"):
            self.assertEqual((r["Size"], r["Type"]), header[r["Field"]], r)
            self.assertEqual(int(r["Offset"]), end, r)
            end += int(r["Size"])
        self.assertIn(f"({end} bytes)", spec_text.clause_text("C-5"))

    def test_magic(self):
        self.assertIn("`" + bytes(LAYOUT["magic"]).hex(" ") + "`", spec_text.clause_text("F-2"))


class Numbers(unittest.TestCase):
    def test_element_types(self):
        rows = {r["Name"]: [int(r["Number"]), int(r["Bytes"])] for r in spec_text.table("element_types")}
        self.assertEqual({**rows, "(zero)": [0, 0], "(next)": [11, 0]}, LAYOUT["element_types"])

    def test_scopes(self):
        self.assertEqual({r["Name"]: int(r["Number"]) for r in spec_text.table("scopes")}, LAYOUT["scopes"])

    def test_label_kinds(self):
        self.assertEqual({r["Name"]: int(r["Number"]) for r in spec_text.table("label_kinds")}, LAYOUT["label_kinds"])

    def test_flags(self):
        masks = {r["Name"]: int(r["Mask"], 16) for r in spec_text.table("flags")}
        self.assertEqual({k: masks[k] for k in LAYOUT["flags"]}, LAYOUT["flags"])
        self.assertEqual(sum(masks.values()), 0xffff)

    def test_limits(self):
        self.assertEqual({r["Constant"]: int(r["Value"]) for r in spec_text.table("limits")}, LAYOUT["limits"])

    def test_formulas(self):
        rows = spec_text.table("formulas")
        self.assertEqual({r["Formula"].strip("`").split("(")[0] for r in rows}, set(LAYOUT["formulas"]))
        for r in rows:
            name, arguments = r["Formula"].strip("`").rstrip(")").split("(")
            value = r["Value"].strip("`")
            for *given, expected in LAYOUT["formulas"][name]:
                names = dict(zip(arguments.split(", "), given, strict=True))
                self.assertEqual(eval(value, {"__builtins__": {}}, names), expected, f"{name} of {names}")


class Kinds(unittest.TestCase):
    def setUp(self):
        self.rows = spec_text.table("kinds")
        self.types = {r["Name"]: int(r["Number"]) for r in spec_text.table("element_types")}
        self.scopes = {r["Name"]: int(r["Number"]) for r in spec_text.table("scopes")}

    def test_built_in_kinds(self):
        said = {r["Name"]: [int(r["Kind"]), self.types.get(r["Element type"], 0), self.scopes[r["Scope"]]]
                for r in self.rows if r["Name"] in LAYOUT["built_in_kinds"]}
        self.assertEqual(said, LAYOUT["built_in_kinds"])

    def test_column_kinds(self):
        said = {r["Name"]: int(r["Kind"]) for r in self.rows if r["Name"].startswith("column")}
        self.assertEqual(said, LAYOUT["column_kinds"])

    def test_no_kind_is_left_out(self):
        self.assertEqual([int(r["Kind"]) for r in self.rows], list(range(1, LAYOUT["limits"]["kLastKnownKind"] + 1)))

    def test_reserved_columns(self):
        said = {r["Name"]: self.types[r["Element type"]] for r in spec_text.table("reserved_columns")}
        self.assertEqual(said, LAYOUT["reserved_columns"])

    def test_lengths_hold_in_a_vector(self):
        """The length formulas, evaluated for every built-in section of every valid vector."""
        checked = set()
        for vector in vector_file.read_all(ROOT / "spec" / "vectors" / "valid"):
            file = reference_reader.TpkFile(memoryview(vector.data))
            for s in file.sections:
                row = self.rows[s.kind - 1] if s.kind <= 15 else {"Length in bytes": ""}
                formula = row["Length in bytes"]
                if not formula.startswith("`") or s.kind == 11 and s.scope == 1:
                    continue
                names = {k: file.header[k] for k in ("packs", "sequences", "tokens")}
                names.update(E=s.element, width=s.width, rows=s.scope != 1 and file.rows(s.scope_name))
                names["blocks"] = sum(reference_layout.block_count(x.length) for x in file.sections if x.kind != 15)
                self.assertEqual(eval(formula.strip("`"), {"__builtins__": {}}, names), s.length, vector.name)
                checked.add(s.kind)
        self.assertEqual(checked, {*range(1, 13), 15})

    def test_required_flags_as_in_a_vector(self):
        for name in ("explicit_labels", "loss_bits", "split", "groups", "columns_ragged", "metadata_full"):
            vector = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / f"{name}.txt")
            for s in reference_reader.TpkFile(memoryview(vector.data)).sections:
                self.assertEqual(self.rows[s.kind - 1]["Bit 0"], "yes" if s.flags & 1 else "no", s.name)


class Errors(unittest.TestCase):
    def setUp(self):
        self.rows = spec_text.table("errors")

    def test_numbers_and_names(self):
        self.assertEqual({r["Number"]: r["Name"] for r in self.rows}, LAYOUT["errors"])

    def test_every_error_has_a_clause_that_names_it(self):
        for r in self.rows:
            for clause in r["Clause"].split(", "):
                self.assertIn(clause, spec_text.clauses(), r)
                self.assertIn(f"`{r['Name']}`", spec_text.clause_text(clause), r)

    def test_every_error_of_the_header_file_has_a_row(self):
        text = (ROOT / "format" / "include" / "tokpack" / "format" / "error.h").read_text()
        numbers = {int(n) for n in re.findall(r"^\s*k\w+ = (\d+),", text, re.MULTILINE)}
        self.assertEqual({n for n in numbers if n < 100}, {int(r["Number"]) for r in self.rows})

    def test_every_error_has_an_invalid_vector(self):
        given = set()
        for v in vector_file.read_all(ROOT / "spec" / "vectors" / "invalid"):
            given.update([v.open, *v.verify, *v.pack_errors.values()])
        asked = {"pack_range", "sequence_range", "column_range"}  # faults of a request, not of a file
        self.assertEqual({r["Name"] for r in self.rows} - asked, given - {"ok"} - asked)

    def test_kind_of_check(self):
        for r in self.rows:
            number = int(r["Number"])
            self.assertEqual(number < 50, r["Found at"] == "open", r)


class Text(unittest.TestCase):
    def test_clauses_are_numbered_once_and_in_order(self):
        seen = {}
        for clause in spec_text.clauses():
            letter, number = clause.split("-")
            self.assertEqual(int(number), seen.get(letter, 0) + 1, clause)
            seen[letter] = int(number)

    def test_mentioned_clauses_exist(self):
        self.assertLessEqual(spec_text.mentioned_clauses() - {"U-0020", "C-0"}, set(spec_text.clauses()))

    def test_hex_is_the_vector(self):
        vector = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / "spec_example.txt")
        self.assertEqual(vector_file.decode_hex(spec_text.hex_lines("spec_example")), vector.data)

    def test_example_of_section_7_is_the_vector(self):
        vector = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / "split.txt")
        table = spec_text.TEXT.split("| Pack | tokens | cu_seqlens |")[1].splitlines()[2:5]
        file = reference_reader.TpkFile(memoryview(vector.data))
        for line in table:
            number, *columns, targets = [[int(v) for v in cell.split()] for cell in spec_text.cells(line)]
            pack = file.dump_pack(number[0])
            self.assertEqual(columns, [pack[k] for k in ("tokens", "cu_seqlens", "sources", "first_token_positions",
                                                         "tail_labels")])
            self.assertEqual(targets, file.array(7, number[0], number[0] + 1))

    def test_dump_keys(self):
        dump, pack = [{k for r in spec_text.table(name) for k in r["Key"].split(", ")}
                      for name in ("dump_keys", "pack_keys")]
        vector = vector_file.read_vector(ROOT / "spec" / "vectors" / "valid" / "groups.txt")
        self.assertEqual(dump, set(json.loads(vector.dump)))
        self.assertEqual(pack, set(json.loads(vector.packs[0])))

    def test_account_and_metadata_fields(self):
        header = (ROOT / "lib" / "core" / "include" / "tokpack" / "core" / "account.h").read_text()
        said = [r["Field"] for r in spec_text.table("account_fields")]
        self.assertEqual(said, re.findall(r'\{"(\w+)", &Account::', header))
        self.assertEqual(said, reference_metadata.ACCOUNT_FIELDS)
        self.assertEqual([r["Field"] for r in spec_text.table("metadata_fields")],
                         sorted(reference_metadata.METADATA_FIELDS))


if __name__ == "__main__":
    LAYOUT = json.loads(subprocess.run([sys.argv.pop(1)], capture_output=True, check=True).stdout)
    unittest.main()
