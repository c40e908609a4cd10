import json, numpy as np
from read_with_numpy import data, first_sequence, first_token, sections   # the reader above, same folder
capacity, ignore, pad = (int(data[at:at + 4].view(t)[0]) for at, t in ((80, "<u4"), (92, "<i4"), (96, "<u4")))

def row(p):
    t, s, n = int(first_token[p]), int(first_sequence[p]), int(first_token[p + 1] - first_token[p])
    cu = np.array(sections["cu_seqlens"][s + p:int(first_sequence[p + 1]) + p + 1])
    stored = tokens = sections["tokens"][t:t + n].astype(np.int64)                 # every token is its own label,
    if "loss_bits" in sections:                                                    # or has one bit,
        bits = np.unpackbits(sections["loss_bits"][(t >> 3) + p:][:(n + 7) // 8], count=n, bitorder="little")
        stored = np.where(bits == 1, tokens, ignore)
    stored = sections["labels"][t:t + n] if "labels" in sections else stored       # or a number of its own
    labels = np.array(stored, np.int64)
    labels[cu[:-1]] = ignore                           # nothing before it in its sequence predicts a first token
    targets = np.append(labels[1:], ignore)            # for a loss that does not shift: token i predicts targets[i]
    if "tail_labels" in sections:
        targets[cu[1:] - 1] = sections["tail_labels"][s:s + len(cu) - 1]
    assert np.count_nonzero(targets != ignore) == sections["targets"][p]
    arrays = dict(input_ids=(tokens, pad), labels=(labels, ignore), targets=(targets, ignore),
                  position_ids=(np.arange(n) - np.repeat(cu[:-1], np.diff(cu)), 0))
    return {name: np.pad(values, (0, capacity - n), constant_values=fill) for name, (values, fill) in arrays.items()}

if __name__ == "__main__":
    for p in range(len(first_token) - 1):
        print(json.dumps({name: values.tolist() for name, values in row(p).items()}))
