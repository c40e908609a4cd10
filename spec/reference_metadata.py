"""Section 10 of format.md, for reference_reader.py: the metadata.

Public domain (CC0 1.0).
"""
import json

from reference_layout import Refused, need


def is_id(value):
    return isinstance(value, int) and value < 1 << 63


def is_count(value):
    return isinstance(value, int) and value >= 0


def is_string(value):
    return isinstance(value, str)


def is_strings(value):
    return isinstance(value, dict) and all(map(is_string, value.values()))


def is_tokenizer(value):
    return isinstance(value, dict) and is_string(value.get("name", "")) and is_string(value.get("sha256", ""))


def is_account(value):
    return isinstance(value, dict) and all(is_count(value.get(field, 0)) for field in ACCOUNT_FIELDS)


def is_inputs(value):
    return isinstance(value, list) and all(
        isinstance(v, dict) and is_string(v.get("name", "")) and is_count(v.get("first_sample", 0))
        and is_count(v.get("samples", 0)) for v in value)


ACCOUNT_FIELDS = ("samples_in samples_packed samples_empty samples_dropped samples_held_out samples_skipped "
                  "tokens_in tokens_stored tokens_dropped tokens_held_out tokens_skipped tokens_target_only sequences "
                  "extra_fragments samples_split samples_truncated samples_without_targets labels_lost").split()
METADATA_FIELDS = {  # M-2
    "account": is_account, "bos_id": is_id, "eos_id": is_id, "inputs": is_inputs, "overlong": is_string,
    "planner_version": lambda v: is_count(v) and v < 1 << 32, "roles": lambda v: isinstance(v, list) and all(map(is_string, v)),
    "strategy": is_string, "tail": is_string, "tokenizer": is_tokenizer, "tool": is_string, "user": is_strings,
    "window": lambda v: v == "all" or is_count(v)}


def parse_metadata(raw):
    """The metadata object, refused unless it is canonical (M-1) and of the right types (M-2)."""
    def no_float(text):
        raise ValueError(f"{text} is not an integer")

    values = 0

    def check(value, depth):
        nonlocal values
        values += 1
        need(values <= 1 << 18, "metadata", "more than 262144 values")
        need(depth <= 16 or not isinstance(value, (dict, list)), "metadata", "nested more than 16 deep")
        need(not isinstance(value, bool) and value is not None, "metadata", "true, false or null")
        need(not isinstance(value, int) or -1 << 63 <= value < 1 << 64, "metadata", f"{value} does not fit 64 bits")
        for child in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            check(child, depth + 1)

    try:
        value = json.loads(raw.decode("utf-8"), parse_float=no_float, parse_constant=no_float)
    except (ValueError, RecursionError) as error:
        raise Refused("metadata", f"not JSON of integers and strings: {error}") from error
    need(isinstance(value, dict), "metadata", "not an object")
    check(value, 1)
    try:
        canonical = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError as error:
        raise Refused("metadata", "half a surrogate pair") from error
    need(canonical == raw, "metadata", "not in canonical form")
    for field, has_its_type in METADATA_FIELDS.items():
        need(field not in value or has_its_type(value[field]), "metadata", f"{field} has another type")
    return value
