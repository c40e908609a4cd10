import json, sys, numpy as np
from read_with_numpy import open_tpk, pack                # the reader above, same folder

def row(header, arrays, p):
    capacity, ignore = header["capacity"], header["ignore_index"]
    ids, cu, in_tokens, in_sequences = pack(arrays, p)
    t, n = in_tokens.start, len(ids)
    stored = tokens = ids.astype(np.int64)                                             # every token is its own label,
    if "loss_bits" in arrays:                                                          # or has one bit,
        bits = np.unpackbits(arrays["loss_bits"][(t >> 3) + p:][:(n + 7) // 8], count=n, bitorder="little")
        stored = np.where(bits == 1, tokens, ignore)
    stored = arrays["labels"][in_tokens] if "labels" in arrays else stored              # or a number of its own
    labels = np.array(stored, np.int64)
    labels[cu[:-1]] = ignore                           # nothing before it in its sequence predicts a first token
    targets = np.append(labels[1:], ignore)            # for a loss that does not shift: token i predicts targets[i]
    if "tail_labels" in arrays:
        targets[cu[1:] - 1] = arrays["tail_labels"][in_sequences]
    assert np.count_nonzero(targets != ignore) == arrays["targets"][p]
    batch = dict(input_ids=(tokens, header["pad_id"]), labels=(labels, ignore), targets=(targets, ignore),
                 position_ids=(np.arange(n) - np.repeat(cu[:-1], np.diff(cu)), 0))
    return {name: np.pad(values, (0, capacity - n), constant_values=fill) for name, (values, fill) in batch.items()}

if __name__ == "__main__":
    header, arrays = open_tpk(sys.argv[1])
    for p in range(len(arrays["targets"])):
        print(json.dumps({name: values.tolist() for name, values in row(header, arrays, p).items()}))
