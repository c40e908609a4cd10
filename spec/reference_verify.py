"""Section 13 of format.md, for reference_reader.py --verify: the names of all errors of a file, in order of number.

Reads everything into Python objects: for small files. Public domain (CC0 1.0).
"""
import struct

from reference_layout import BLOCK, MAX_ID, Refused, hash128, xxhash
from reference_metadata import ACCOUNT_FIELDS, parse_metadata
from reference_reader import TpkFile

ORDER = ("pack_token_offsets pack_sequence_offsets cu_seqlens ragged_offsets aligned_sum block_checksum section_hash "
         "gap_not_zero token_range loss_bits_padding label_range targets_count longest_sequence source_range "
         "first_token_position metadata account group_numbers").split()


def verify(data):
    try:
        file = TpkFile(data)
    except Refused as error:
        return [error.name]
    found = set()
    for check in (check_checksums, check_gaps, check_tokens, check_packs, check_sources, check_columns,
                  check_metadata):
        check(file, found)
    return [name for name in ORDER if name in found]


def attempt(found, function, *arguments):
    """The function's value, or None and the refusal among the findings."""
    try:
        return function(*arguments)
    except Refused as error:
        found.add(error.name)
        return None


def content(file, s):
    return file.data[s.offset:s.offset + s.length]


def check_checksums(file, found):  # C-2, C-3, C-4
    if not xxhash:
        return
    sums, at = bytes(content(file, file.by_kind[15])), 0
    for s in file.sections[:-1]:
        own = b""
        for i in range(0, s.length, BLOCK):
            stored = sums[at:at + 8]
            own, at = own + stored, at + 8
            if struct.pack("<Q", xxhash.xxh3_64_intdigest(content(file, s)[i:i + BLOCK])) != stored:
                found.add("block_checksum")
        if hash128(own) != s.hash:
            found.add("section_hash")
    if hash128(sums) != file.sections[-1].hash:
        found.add("section_hash")


def check_gaps(file, found):  # F-5
    for s, following in zip(file.sections, file.sections[1:]):
        if any(file.data[s.offset + s.length:following.offset]):
            found.add("gap_not_zero")


def is_id(file, value):
    return 0 <= value <= MAX_ID and (not file.header["vocab_size"] or value < file.header["vocab_size"])


def check_tokens(file, found):  # K-3, L-3
    h = file.header
    if not all(is_id(file, t) for t in set(file.array(1, 0, h["tokens"]))):
        found.add("token_range")
    labels = file.array(6, 0, h["tokens"]) if 6 in file.by_kind else []
    labels += file.per_sequence(10, 0, h["sequences"], h["ignore_index"])
    if not all(v == h["ignore_index"] or is_id(file, v) for v in set(labels)):
        found.add("label_range")


def check_packs(file, found):  # B-2, B-3, B-4, K-7, K-12, K-13, L-5
    h = file.header
    ignore, longest, most, total, complete = h["ignore_index"], 0, 0, 0, True
    if h["packs"] == 0:
        for kind, name in ((2, "pack_token_offsets"), (3, "pack_sequence_offsets")):
            if file.array(kind, 0, 1) != [0]:
                found.add(name)
    for p in range(h["packs"]):
        bounds = attempt(found, file.bounds, p)
        cu = bounds and attempt(found, file.cu_seqlens, p, bounds[1] - bounds[0], *bounds[2:])
        if not cu:
            complete = False
            continue
        t0, t1, s0, s1 = bounds
        lengths = [b - a for a, b in zip(cu, cu[1:])]
        if sum(-(-n // h["alignment"]) * h["alignment"] for n in lengths) > h["capacity"]:
            found.add("aligned_sum")
        longest, most = max(longest, *lengths), max(most, len(lengths))
        labels, starts = file.stored_labels(p, t0, t1), set(cu)
        targets = sum(v != ignore for i, v in enumerate(labels) if i not in starts)
        targets += sum(v != ignore for v in file.per_sequence(10, s0, s1, ignore))
        if file.array(7, p, p + 1) != [targets]:
            found.add("targets_count")
        total += targets
        if 5 in file.by_kind:
            bits = file.array(5, (t0 >> 3) + p, (t1 >> 3) + p + 1)
            if int.from_bytes(bytes(bits), "little") >> (t1 - t0):
                found.add("loss_bits_padding")
    if complete and (longest, most) != (h["longest_sequence"], h["most_sequences_in_pack"]):
        found.add("longest_sequence")
    if complete and total != h["targets"]:
        found.add("targets_count")


def sequence_lengths(file):
    """(pack, length) of every sequence, or None where boundaries are wrong."""
    out = []
    for p in range(file.header["packs"]):
        bounds = attempt(set(), file.bounds, p)
        cu = bounds and attempt(set(), file.cu_seqlens, p, bounds[1] - bounds[0], *bounds[2:])
        if not cu or bounds[2] != len(out):
            return None
        out += [(p, b - a) for a, b in zip(cu, cu[1:])]
    return out


def check_sources(file, found):  # K-9, K-10
    h = file.header
    sources = file.array(8, 0, h["sequences"])
    positions = file.per_sequence(9, 0, h["sequences"], 0)
    if any(s >= h["samples"] for s in sources):
        found.add("source_range")
    if any(p > MAX_ID for p in positions):
        found.add("first_token_position")
    lengths = sequence_lengths(file)
    if lengths is None:
        return
    ends = {}
    for source, position, (_, length) in sorted(zip(sources, positions, lengths)):
        if position < ends.get(source, 0):
            found.add("first_token_position")
        ends[source] = position + length


def check_columns(file, found):  # B-5, X-4
    for c in file.columns:
        if c.offsets:
            attempt(found, file.column_rows, c, 0, file.rows(c.scope))
        elif c.name == "group":
            groups, lengths = file.column_rows(c, 0, file.header["sequences"]), sequence_lengths(file)
            if set(groups) != set(range(len(set(groups)))):
                found.add("group_numbers")
            packs = {}
            for group, (pack, _) in zip(groups, lengths or []):
                if packs.setdefault(group, pack) != pack:
                    found.add("group_numbers")


def check_metadata(file, found):  # M-1, M-2, M-4
    if 14 not in file.by_kind:
        return
    metadata = attempt(found, parse_metadata, file.metadata_text())
    if metadata is None:
        return
    if "account" in metadata and not account_adds_up(metadata["account"], file.header):
        found.add("account")


def account_adds_up(account, header):
    a = {field: account.get(field, 0) for field in ACCOUNT_FIELDS}
    samples = sum(a["samples_" + k] for k in ("packed", "empty", "dropped", "held_out", "skipped"))
    tokens = sum(a["tokens_" + k] for k in ("stored", "dropped", "held_out", "skipped", "target_only"))
    return (a["samples_in"] == samples == header["samples"] and a["tokens_in"] == tokens
            and a["tokens_stored"] == header["tokens"]
            and a["sequences"] == a["samples_packed"] + a["extra_fragments"] == header["sequences"])
