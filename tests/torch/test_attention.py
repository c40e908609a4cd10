"""Attention over a packed row is attention over each sample alone: outputs, loss, gradients; nothing leaks."""

import pytest
import torch
import torch.nn.functional as F
from naive import PADS, boundaries, int32
from tokpack import torch_ops

LENGTHS = [5, 1, 7, 3]
POSITIONS, WIDTH, HEADS, VOCABULARY = 20, 16, 2, 23


class Model(torch.nn.Module):
    """Two blocks of attention, learned positions: small, yet whatever leaks shows."""

    def __init__(self):
        super().__init__()
        self.tokens = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.places = torch.nn.Embedding(POSITIONS, WIDTH)
        self.blocks = torch.nn.ModuleList(
            torch.nn.ModuleDict({"qkv": torch.nn.Linear(WIDTH, 3 * WIDTH), "out": torch.nn.Linear(WIDTH, WIDTH)})
            for _ in range(2)
        )
        self.head = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids, positions, mask):
        x = self.tokens(ids) + self.places(positions)
        for block in self.blocks:
            q, k, v = (
                part.unflatten(-1, (HEADS, -1)).transpose(1, 2) for part in block["qkv"](x).chunk(3, dim=-1)
            )
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            x = x + torch.tanh(block["out"](y.transpose(1, 2).flatten(2)))
        return self.head(x)


FAMILIES = [("causal", {}), ("sliding_window", {"window": 3}), ("bidirectional", {}), ("prefix_lm", {"prefixes": [2, 0, 4, 3]})]


def packed(device, dtype):
    torch.manual_seed(1)
    model = Model().to(device, dtype)
    ids = torch.randint(VOCABULARY, (1, POSITIONS), device=device)
    positions = torch.zeros(1, POSITIONS, dtype=torch.long, device=device)
    targets = torch.full((1, POSITIONS), -100, device=device)
    at = 0
    for length in LENGTHS:
        positions[0, at : at + length] = torch.arange(length)
        targets[0, at : at + length - 1] = ids[0, at + 1 : at + length]
        at += length
    return model, ids, positions, targets


def mask_of(device, dtype, family, options, pads="segment", form="bool", lengths=LENGTHS, positions=POSITIONS):
    options = {k: int32(v, device) if k == "prefixes" else v for k, v in options.items()}
    lo, hi = torch_ops.row_intervals(int32(boundaries(lengths), device), positions, family=family, pads=pads, **options)
    if form == "bool" or dtype == torch.float64:
        return torch_ops.attention_mask(lo, hi)
    return torch_ops.attention_mask(lo, hi, dtype=dtype, lowest=True)


def loss_and_grads(model, logits, targets, divisor):
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, reduction="sum") / divisor
    return loss.detach(), torch.autograd.grad(loss, list(model.parameters()))


@pytest.mark.parametrize("form", ["bool", "additive"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize(("family", "options"), FAMILIES)
def test_a_packed_row_is_its_samples_one_by_one(family, options, dtype, form, device):
    model, ids, positions, targets = packed(device, dtype)
    divisor = (targets != -100).sum()
    assert divisor == sum(LENGTHS) - len(LENGTHS)
    logits = model(ids, positions, mask_of(device, dtype, family, options, form=form))
    loss, grads = loss_and_grads(model, logits, targets, divisor)

    tolerance = {"atol": 1e-12, "rtol": 1e-10} if dtype == torch.float64 else {"atol": 2e-5, "rtol": 2e-4}
    total, sums, at = 0, [torch.zeros_like(grad) for grad in grads], 0
    for s, length in enumerate(LENGTHS):
        here = slice(at, at + length)
        alone = {k: v[s : s + 1] if k == "prefixes" else v for k, v in options.items()}
        # By PyTorch's own way where it has one; nothing of tokpack then.
        mask = None if family == "bidirectional" else mask_of(device, dtype, family, alone, lengths=[length], positions=length)
        if family == "causal":
            mask = torch.ones(length, length, dtype=torch.bool, device=device).tril()
        own = model(ids[:, here], positions[:, here], mask)
        torch.testing.assert_close(own, logits[:, here], **tolerance)
        part, part_grads = loss_and_grads(model, own, targets[:, here], divisor)
        total = total + part
        sums = [a + b for a, b in zip(sums, part_grads)]
        at += length
    torch.testing.assert_close(total, loss, **tolerance)
    for a, b in zip(sums, grads):
        torch.testing.assert_close(a, b, **tolerance)


@pytest.mark.parametrize("pads", PADS)
@pytest.mark.parametrize(("family", "options"), FAMILIES)
def test_changing_one_sample_changes_no_others_logits(family, options, pads, device):
    model, ids, positions, _ = packed(device, torch.float32)
    mask = mask_of(device, torch.float32, family, options, pads)
    before = model(ids, positions, mask)
    assert torch.isfinite(before[:, : sum(LENGTHS)]).all()
    at = 0
    for length in LENGTHS:
        changed = ids.clone()
        changed[0, at : at + length] = (changed[0, at : at + length] + 1) % VOCABULARY
        after = model(changed, positions, mask)
        tokens = torch.arange(POSITIONS, device=device) < sum(LENGTHS)
        own = torch.zeros(POSITIONS, dtype=torch.bool, device=device)
        own[at : at + length] = True
        assert torch.equal(after[:, tokens & ~own], before[:, tokens & ~own])
        assert not torch.equal(after[:, own], before[:, own])
        at += length
    pads_changed = ids.clone()
    pads_changed[0, sum(LENGTHS) :] = (pads_changed[0, sum(LENGTHS) :] + 1) % VOCABULARY
    assert torch.equal(model(pads_changed, positions, mask)[:, : sum(LENGTHS)], before[:, : sum(LENGTHS)])


@pytest.mark.parametrize("pads", ["segment", "self", "last"])
def test_no_row_is_empty_unless_asked_for(pads, device):
    for lengths in ([], [1], [3, 2], [8]):
        lo, hi = torch_ops.row_intervals(int32(boundaries(lengths), device), 8, pads=pads)
        assert torch_ops.attention_mask(lo, hi).any(-1).all()
