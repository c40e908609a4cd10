"""Attention over a packed row against each of its sequences alone, in float32."""

import torch
import torch.nn.functional as F
from cases import FAMILIES, PADS, Case, expect_equal, formula
from torch.nn.attention import SDPBackend, sdpa_kernel

from tokpack import torch_ops

LENGTHS, POSITIONS, PREFIXES, WINDOW = [100, 28, 130, 1], 300, [7, 0, 130, 1], 50
# PyTorch's plain way, whose products are float32 throughout; and what it chooses by itself, which may round more.
BACKENDS = {"math": [SDPBackend.MATH], "chosen": list(SDPBackend.__members__.values())}


def backends(device):
    """On the CPU one of them is enough."""
    return BACKENDS if torch.device(device).type == "cuda" else {"math": BACKENDS["math"]}


def packed_case(family, pads="segment"):
    return Case([LENGTHS], POSITIONS, family, pads, WINDOW, [PREFIXES])


def inputs(device):
    torch.manual_seed(3)
    q, k, v, weight = (torch.randn(1, 4, POSITIONS, 32, device=device) for _ in range(4))
    weight[:, :, sum(LENGTHS) :] = 0  # nobody asks what pads attend
    return [tensor.requires_grad_() for tensor in (q, k, v)], weight


def tolerance(backend, device):
    loose = backend == "chosen" and torch.device(device).type == "cuda"
    return {"atol": 5e-3, "rtol": 5e-3} if loose else {"atol": 5e-5, "rtol": 5e-4}


def packed_equals_alone(device):
    count = 0
    for backend, kernels in backends(device).items():
        for family in FAMILIES:
            lo, hi = packed_case(family).intervals(torch_ops, device)
            for form in ({}, {"dtype": torch.float32, "lowest": True}):
                (q, k, v), weight = inputs(device)
                near = {**tolerance(backend, device), "msg": lambda text: f"{family}, {backend}, {form}: {text}"}
                mask = torch_ops.attention_mask(lo, hi, **form)
                with sdpa_kernel(kernels):
                    out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                    grads = torch.autograd.grad((out * weight).sum(), (q, k, v))
                    at = 0
                    for length, prefix in zip(LENGTHS, PREFIXES):
                        here = slice(at, at + length)
                        alone = formula(Case([[length]], length, family, "segment", WINDOW, [[prefix]]), device)[:, None]
                        own = [tensor[:, :, here].detach().requires_grad_() for tensor in (q, k, v)]
                        out_alone = F.scaled_dot_product_attention(*own, attn_mask=alone)
                        torch.testing.assert_close(out[:, :, here], out_alone, **near)
                        grads_alone = torch.autograd.grad((out_alone * weight[:, :, here]).sum(), own)
                        for grad, grad_alone in zip(grads, grads_alone):
                            torch.testing.assert_close(grad[:, :, here], grad_alone, **near)
                        at += length
                        count += 1
    return count


def nothing_leaks(device):
    """Other keys and values in one sequence leave every other's output as it is, to the bit; so do the pads'."""
    count = 0
    tokens = torch.arange(POSITIONS, device=device) < sum(LENGTHS)
    for backend, kernels in backends(device).items():
        for family in FAMILIES:
            for pads in PADS:
                mask = torch_ops.attention_mask(*packed_case(family, pads).intervals(torch_ops, device))
                (q, k, v), _ = inputs(device)
                with torch.no_grad(), sdpa_kernel(kernels):
                    before = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                    at = 0
                    for length in (*LENGTHS, POSITIONS - sum(LENGTHS)):
                        own = torch.zeros_like(tokens)
                        own[at : at + length] = True
                        shift = own[:, None].float()
                        after = F.scaled_dot_product_attention(q, k + shift, v + shift, attn_mask=mask)
                        kept = tokens & ~own
                        expect_equal(after[:, :, kept], before[:, :, kept], f"{family}, pads {pads}, {backend}")
                        if (own & tokens).any():
                            assert not torch.equal(after[:, :, own], before[:, :, own]), "a change is not seen"
                        at += length
                        count += 1
    return count
