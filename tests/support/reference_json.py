"""The text form of a dump (spec/format.md, section 20)."""
import json
import re


def text(value):
    out = json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    return re.sub("[\x7f-\x9f]", lambda m: f"\\u{ord(m[0]):04x}", out)
