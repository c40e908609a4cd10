"""Files that open and whose metadata, account or group numbers are wrong."""
from invalid_vector import found
from tpk_encode import Column, built_in
from vectors_valid import account, two_packs


def raw_metadata(text):
    model = two_packs()
    model.file.sections.append(built_in("metadata", "bytes", "file", text))
    return model


for case, comment, text in (
        ("empty", "No text at all.", b""), ("text", "Not JSON.", b"hello"), ("array", "Not an object.", b"[]"),
        ("unsorted", "Keys in another order.", b'{"tool":"x","eos_id":1}'),
        ("duplicate_key", "A key twice.", b'{"eos_id":1,"eos_id":1}'),
        ("space", "A space.", b'{"eos_id": 1}'), ("newline", "A newline at the end.", b'{"eos_id":1}\n'),
        ("float", "A number with a fraction.", b'{"x":1.5}'), ("exponent", "An exponent.", b'{"x":1e3}'),
        ("true", "true.", b'{"x":true}'), ("null", "null.", b'{"x":null}'),
        ("too_large", "2^64.", b'{"x":18446744073709551616}'), ("nan", "NaN.", b'{"x":NaN}'),
        ("escape", "A letter that is escaped.", b'{"x":"\\u0041"}'),
        ("upper_case_escape", "An escape in upper case.", b'{"x":"\\u001B"}'),
        ("raw_control", "A control character that is not escaped.", b'{"x":"\x1b"}'),
        ("surrogate", "Half a surrogate pair.", b'{"x":"\\ud800"}'),
        ("utf_8", "Bytes that are not UTF-8.", b'{"x":"\xff"}'),
        ("overlong_utf_8", "A slash in two bytes.", b'{"x":"\xc0\xaf"}'),
        ("nul", "A NUL after the text.", b'{"eos_id":1}\0'),
        ("deep", "Nested 17 deep.", b'{"x":' + b"[" * 16 + b"]" * 16 + b"}"),
        ("very_deep", "Nested 20000 deep.", b'{"x":' + b"[" * 20000 + b"]" * 20000 + b"}"),
        ("wrong_type", "eos_id is a string.", b'{"eos_id":"1"}'),
        ("account_not_an_object", "The account is a number.", b'{"account":1}'),
        ("account_negative", "A negative number in the account.", b'{"account":{"samples_in":-1}}'),
        ("eos_id", "An id of 2^63.", b'{"eos_id":9223372036854775808}'),
        ("planner_version", "A planner version of 2^32.", b'{"planner_version":4294967296}'),
        ("inputs", "An input without quotes.", b'{"inputs":[{"name":7}]}'),
        ("window", "A window of other words.", b'{"window":"some"}')):
    found("metadata", case, comment, raw_metadata(text))


def accounts(**fields):
    right = account(samples_in=3, samples_packed=3, tokens_in=9, tokens_stored=9, sequences=3)
    return two_packs(metadata={"account": {**right, **fields}})


found("account", "samples", "4 samples in, 3 of them accounted for.", accounts(samples_in=4))
found("account", "tokens", "A dropped token that did not come in.", accounts(tokens_dropped=1))
found("account", "sequences", "A fragment too many.", accounts(extra_fragments=1))
found("account", "header", "Adds up, but to 8 tokens; the header has 9.", accounts(tokens_in=8, tokens_stored=8))
found("account", "missing_fields", "Missing fields count as 0: 3 samples in, none accounted for.",
      two_packs(metadata={"account": {"samples_in": 3}}))
found("account", "zeros", "An account of zeros, which the header contradicts.", two_packs(metadata={"account": account()}))
found("account", "empty", "An account without fields is one of zeros.", two_packs(metadata={"account": {}}))
found("account", "wraps", "Adds up modulo 2^64 only.",
      accounts(samples_dropped=(1 << 64) - 1, samples_skipped=1))


def groups(numbers):
    return two_packs(columns=[Column("group", "u32", "sequence", numbers)])


found("group_numbers", "not_zero_first", "Groups 1 and 2.", groups([1, 1, 2]))
found("group_numbers", "skips", "Groups 0 and 2.", groups([0, 0, 2]))
found("group_numbers", "spans_packs", "Group 1 has members in both packs.", groups([0, 1, 1]))
found("group_numbers", "huge", "Group 2^32 - 1.", groups([0, 0, (1 << 32) - 1]))
