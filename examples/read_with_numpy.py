import json, sys, numpy as np
TYPES = [None, *"u1 <u2 <u4 <u8 <i4 <i8 <f2 <u2 <f4 u1".split()]          # numpy has no bf16: its 16 bits

def open_tpk(path):
    data = np.memmap(path, np.uint8, mode="r")                            # nothing is read yet
    if data[:12].tobytes() != b"\x89TPK\r\n\x1a\n\0\0\1\0" or data[32:40].tobytes() != data.size.to_bytes(8, "little"):
        raise ValueError(f"{path}: not a whole file of tokpack format 0.1")
    capacity, _, sections, ignore, pad = np.frombuffer(data[80:], "<u4,V6,<u2,<i4,<u4", 1).tolist()[0]
    arrays = {}                                                           # a ragged column: NAME and NAME.offsets
    for kind, element, _, _, width, offset, length, _, name in np.frombuffer(
            data[256:], "<u2,u1,u1,<u2,<u2,<u8,<u8,V16,S24", sections).tolist():
        if kind < 15:                                                     # not checksums and kinds of the future
            array = data[offset:offset + length].view(TYPES[element])     # in place; rows of `width` elements
            arrays[name.decode() + ".offsets" * (kind == 12)] = array.reshape(-1, width) if width > 1 else array
    metadata = json.loads(arrays.pop("metadata").tobytes()) if "metadata" in arrays else {}
    return dict(capacity=capacity, ignore_index=ignore, pad_id=pad, metadata=metadata), arrays

def pack(arrays, p):
    (t, t_end), (s, s_end) = (arrays[f"pack_{of}_offsets"][p:p + 2].tolist() for of in ("token", "sequence"))
    return arrays["tokens"][t:t_end], arrays["cu_seqlens"][s + p:s_end + p + 1], slice(t, t_end), slice(s, s_end)

if __name__ == "__main__":
    header, arrays = open_tpk(sys.argv[1])
    for p in range(len(arrays["targets"])):
        tokens, cu_seqlens, _, _ = pack(arrays, p)
        print(p, tokens.tolist(), cu_seqlens.tolist())
