"""The text form of a dump (spec/format.md, section 20)."""
import json


def text(value):
    return json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
