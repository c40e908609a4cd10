"""The operators under torch.compile(fullgraph=True), in FlexAttention, and against what compiled code can do."""

import torch
import torch.nn.functional as F
from attention import packed_case
from cases import FAMILIES, Case, expect_equal, int32
from report import NotRun
from times import broadcast_formula, documents_of, race, rows_of, tell
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from tokpack import torch_ops


def backend_of(device, quick):
    return "aot_eager" if quick and torch.device(device).type == "cpu" else "inductor"


def probe(device, backend):
    """torch.compile needs more than torch: a compiler, Python's headers, triton."""
    x = torch.arange(8.0, device=device)
    try:
        made = torch.compile(lambda x: x * 2 + 1, backend=backend)(x)
    except Exception as error:
        raise NotRun(f"torch.compile does not work here: {type(error).__name__}: {str(error)[:300]}") from error
    expect_equal(made, x * 2 + 1, "x * 2 + 1")
    return 1


def packed_attention(q, k, v, cu):
    lo, hi = torch_ops.row_intervals(cu, q.shape[2], family="bidirectional")
    return F.scaled_dot_product_attention(q, k, v, attn_mask=torch_ops.attention_mask(lo, hi)) * 2


def inputs(device, positions, width=32):
    torch.manual_seed(positions)
    return [torch.randn(2, 4, positions, width, device=device) for _ in range(3)]


def near(made, expected, words):
    torch.testing.assert_close(made, expected, atol=5e-3, rtol=5e-3, msg=lambda text: f"{words}: {text}")


def into_sdpa(device, backend, dynamic, mode=None):
    torch._dynamo.reset()
    options = {"mode": mode} if mode else {"backend": backend}
    compiled = torch.compile(packed_attention, fullgraph=True, dynamic=dynamic, **options)
    sizes = (256, 384, 200) if dynamic else (256, 256, 256)
    for number, positions in enumerate(sizes):
        qkv = inputs(device, positions)
        cu = int32([[0, 30 + number, 90], [0, positions, positions]], device)
        near(compiled(*qkv, cu), packed_attention(*qkv, cu), f"S = {positions}")
    return len(sizes)


def into_a_given_mask(device, backend):
    torch._dynamo.reset()

    @torch.compile(fullgraph=True, backend=backend)
    def attention(q, lo, out):
        return F.scaled_dot_product_attention(q, q, q, attn_mask=torch_ops.attention_mask(lo, out=out))

    out = torch.zeros(2, 1, 256, 256, dtype=torch.bool, device=device)
    q = inputs(device, 256)[0]
    for cut in (100, 17):
        lo, _ = torch_ops.row_intervals(int32([[0, cut, 200], [0, 256, 256]], device), 256)
        mask = torch_ops.attention_mask(lo)
        near(attention(q, lo, out), F.scaled_dot_product_attention(q, q, q, attn_mask=mask), f"cut at {cut}")
        expect_equal(out, mask, "the given mask")
    return 2


def flex_case(device, family):
    case = packed_case(family)
    return case.intervals(torch_ops, device), [tensor[:1] for tensor in inputs(device, case.positions)]


def flex_eager(device):
    for family in FAMILIES:
        (lo, hi), qkv = flex_case(device, family)
        expected = F.scaled_dot_product_attention(*qkv, attn_mask=torch_ops.attention_mask(lo, hi))
        near(flex_attention(*qkv, block_mask=torch_ops.block_mask(lo, hi)), expected, family)
    return len(FAMILIES)


def flex_compiled(device, backend, family):
    """The blocks are skipped for real here."""
    torch._dynamo.reset()
    compiled = torch.compile(flex_attention, fullgraph=True, dynamic=False, backend=backend)
    (lo, hi), qkv = flex_case(device, family)
    expected = F.scaled_dot_product_attention(*qkv, attn_mask=torch_ops.attention_mask(lo, hi))
    near(compiled(*qkv, block_mask=torch_ops.block_mask(lo, hi)), expected, family)
    # Lists of an earlier step hold its entries behind their counts; nobody may read them.
    lists = tuple(torch.zeros_like(list_) for list_ in torch_ops.block_lists(lo, hi))
    everything, _ = Case([[lo.shape[1]]], lo.shape[1]).intervals(torch_ops, device)
    torch_ops.block_lists(everything, out=lists)
    near(compiled(*qkv, block_mask=torch_ops.block_mask(lo, hi, out=lists)), expected, f"{family}, lists used again")
    return 2


def packed_flex(q, k, v, cu):
    lo, hi = torch_ops.row_intervals(cu, q.shape[2], family="bidirectional")
    return flex_attention(q, k, v, block_mask=torch_ops.block_mask(lo, hi))


def flex_in_one_graph(device, backend):
    """Boundaries to FlexAttention, the block mask made inside."""
    torch._dynamo.reset()
    compiled = torch.compile(packed_flex, fullgraph=True, dynamic=False, backend=backend)
    for cut in (100, 17):
        qkv = inputs(device, 384)
        cu = int32([[0, cut, 300], [0, 384, 384]], device)
        lo, hi = torch_ops.row_intervals(cu, 384, family="bidirectional")
        expected = F.scaled_dot_product_attention(*qkv, attn_mask=torch_ops.attention_mask(lo, hi))
        near(compiled(*qkv, cu), expected, f"cut at {cut}")
    return 2


def formula_times(report, device, backend, batch, positions):
    torch._dynamo.reset()
    case = rows_of(batch, positions)
    lo, _ = case.intervals(torch_ops, device)
    documents = documents_of(case, device)
    compiled = torch.compile(broadcast_formula, fullgraph=True, dynamic=False, backend=backend)
    out = torch.empty(batch, 1, positions, positions, dtype=torch.bool, device=device)
    expect_equal(compiled(documents), torch_ops.attention_mask(lo, out=out), "the compiled formula")
    contenders = {
        "zero_": out.zero_,
        "attention_mask, out=": lambda: torch_ops.attention_mask(lo, out=out),
        "PyTorch's formula, compiled": lambda: compiled(documents),
    }
    times = race(contenders, 10, device)
    return tell(report, times, form="bool", batch=batch, positions=positions, bytes=out.numel())


def block_mask_times(report, device, backend, positions):
    torch._dynamo.reset()
    case = rows_of(1, positions)
    lo, _ = case.intervals(torch_ops, device)
    documents = documents_of(case, device)[0]

    def of_documents(b, h, q, kv):
        return (documents[q] == documents[kv]) & (q >= kv)

    compiled = torch.compile(create_block_mask, dynamic=False, backend=backend)

    def created():
        return compiled(of_documents, 1, None, positions, positions, device=device)

    ours, theirs = torch_ops.block_mask(lo), created()
    for name in ("kv_num_blocks", "full_kv_num_blocks", "q_num_blocks", "full_q_num_blocks"):
        expect_equal(getattr(ours, name), getattr(theirs, name), name)
    expect_equal(ours.to_dense(), theirs.to_dense(), "block_mask against create_block_mask")
    contenders = {
        "block_lists": lambda: torch_ops.block_lists(lo),
        "block_mask": lambda: torch_ops.block_mask(lo),
        "create_block_mask, compiled": created,
    }
    return tell(report, race(contenders, 5, device), batch=1, positions=positions)


def run(report, device, quick):
    backend = backend_of(device, quick)
    gpu = torch.device(device).type == "cuda"
    positions = 128 if quick else 8192
    if not report.run("torch.compile by itself", probe, device, backend):
        return

    def check(name, call, *arguments, needs=12):
        report.run(name, call, *arguments, needs=needs if gpu else 0)

    # What matters most comes first: compilers are slow.
    check("compiled without a break into SDPA", into_sdpa, device, backend, False)
    check("times of the compiled formula, 4 rows", formula_times, report, device, backend, 4, positions)
    check("times of the compiled formula, 16 rows", formula_times, report, device, backend, 16, positions)
    check("FlexAttention, eager", flex_eager, device)
    if gpu:
        check("FlexAttention, compiled", flex_compiled, device, backend, "sliding_window", needs=25)
    check("times of block_mask and create_block_mask", block_mask_times, report, device, backend, 4 * positions)
    if gpu:
        check("FlexAttention with its block mask, compiled without a break", flex_in_one_graph, device, backend, needs=25)
    check("compiled for any size into SDPA", into_sdpa, device, backend, True)
    check("compiled with a given mask", into_a_given_mask, device, backend)
    if gpu:
        check("compiled into CUDA graphs", into_sdpa, device, backend, False, "reduce-overhead")
        check("FlexAttention, compiled, with hi", flex_compiled, device, backend, "prefix_lm", needs=25)
