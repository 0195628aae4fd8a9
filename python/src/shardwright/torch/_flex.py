"""FlexAttention as a trace has it: with a mask, or a bias that is added to scores, it is scaled_dot_product_attention, which is
priced whole; with another function of scores it is written out in products and a softmax."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

TRIED = (0.0, 1.0, -2.5)  # scores


def _grid(q: torch.Tensor, k: torch.Tensor) -> list[torch.Tensor]:
    """Batch, head, query and key, to be spread over scores."""
    sizes = (q.shape[0], q.shape[1], q.shape[2], k.shape[2])
    return [torch.arange(n).reshape([n if i == d else 1 for d in range(4)]) for i, n in enumerate(sizes)]


def _is_added(score_mod: Callable[..., Any]) -> bool:
    """Is it the score and something that no score changes? Found by trying it, on the first positions."""
    at = [torch.arange(n).reshape([-1 if i == d else 1 for d in range(4)]) for i, n in enumerate((1, 1, 4, 4))]
    try:
        scores = [torch.full((1, 1, 4, 4), value) for value in TRIED]
        rest = [torch.nan_to_num(score_mod(score, *at) - score, neginf=-1e30) for score in scores]
    except Exception:  # what it reads is in the trace alone
        return False
    return all(torch.allclose(r, rest[0], atol=1e-5) or bool((r.isnan() | (r < -1e20)).any()) for r in rest)


def attention(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, score_mod: Any, block_mask: Any, scale: float, *_: Any, **__: Any
) -> tuple[torch.Tensor, None, None]:
    """In the place of the operator that flex_attention calls; log-sum-exps are not given."""
    library = sys.modules["torch.nn.attention.flex_attention"]
    mask_mod = block_mask[-1]
    at = _grid(q, k)
    seen = None if mask_mod is library.noop_mask else mask_mod(*at)
    grouped = {"enable_gqa": True} if q.shape[1] != k.shape[1] else {}
    if score_mod is library._identity:
        return scaled_dot_product_attention(q, k, v, attn_mask=seen, scale=scale, **grouped), None, None
    if grouped:
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    with torch._C._DisableTorchDispatch():
        added = _is_added(score_mod)
    if added:
        bias = score_mod(torch.zeros([1] * 4, dtype=q.dtype), *at).expand([x.shape[i] for i, x in enumerate(at)])
        bias = bias if seen is None else torch.where(seen, bias, -float("inf"))
        return scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype), scale=scale), None, None
    scores = score_mod((q @ k.transpose(-1, -2)).float() * scale, *at)
    scores = scores if seen is None else torch.where(seen, scores, -float("inf"))
    return scores.softmax(-1).to(q.dtype) @ v, None, None


def written_out() -> list[tuple[Any, str, Any]]:
    """(where a function stands, its name there, what takes its place), where anybody has loaded it."""
    library = sys.modules.get("torch.nn.attention.flex_attention")
    if not library:
        return []
    return [
        (library, "flex_attention_hop", attention),
        (library, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True),
        (library, "_validate_device", lambda *_: None),
    ]
