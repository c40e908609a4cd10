import sys, numpy as np
data = np.memmap(sys.argv[1], np.uint8, mode="r")                    # nothing is read yet
entry = np.dtype([("kind", "<u2"), ("type", "u1"), ("scope", "u1"), ("flags", "<u2"), ("width", "<u2"),
                  ("offset", "<u8"), ("length", "<u8"), ("hash", "u1", 16), ("name", "S24")])
types = dict(zip(range(1, 11), "u1 <u2 <u4 <u8 <i4 <i8 <f2 <u2 <f4 u1".split()))
sections = {e["name"].decode(): data[int(e["offset"]):][:int(e["length"])].view(types[e["type"]])
            for e in np.frombuffer(data, entry, int(data[90:92].view("<u2")[0]), 256) if e["kind"] != 12}
first_token, first_sequence = sections["pack_token_offsets"], sections["pack_sequence_offsets"]
for p in range(len(first_token) - 1):
    tokens = sections["tokens"][first_token[p]:first_token[p + 1]]   # u16 or u32, in place
    cu_seqlens = sections["cu_seqlens"][int(first_sequence[p]) + p:int(first_sequence[p + 1]) + p + 1]
    print(p, tokens.tolist(), cu_seqlens.tolist())
