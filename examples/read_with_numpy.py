import sys, numpy as np
data = np.memmap(sys.argv[1], np.uint8, mode="r")                    # nothing is read yet
if data[:12].tobytes() != b"\x89TPK\r\n\x1a\n\0\0\1\0" or data[32:40].tobytes() != data.size.to_bytes(8, "little"):
    sys.exit(f"{sys.argv[1]}: not a whole file of tokpack format 0.1")
types = [None, *"u1 <u2 <u4 <u8 <i4 <i8 <f2 <u2 <f4 u1".split()]     # numpy has no bf16: its 16 bits
table = np.frombuffer(data[256:], "<u2,u1,u1,<u2,<u2,<u8,<u8,V16,S24", int(data[90:92].view("<u2")[0]))
sections = {name.decode(): data[offset:offset + length].view(types[element]) for
            kind, element, scope, flags, width, offset, length, xxh3, name in table.tolist() if kind < 12}
first_token, first_sequence = sections["pack_token_offsets"], sections["pack_sequence_offsets"]
if __name__ == "__main__":
    for p in range(len(first_token) - 1):
        tokens = sections["tokens"][first_token[p]:first_token[p + 1]]   # u16 or u32, in place
        cu_seqlens = sections["cu_seqlens"][int(first_sequence[p]) + p:int(first_sequence[p + 1]) + p + 1]
        print(p, tokens.tolist(), cu_seqlens.tolist())
