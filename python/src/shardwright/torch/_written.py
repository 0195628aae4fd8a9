"""Functions of PyTorch that are written out before autograd sees them, so that their gradients are those of the ops that they
are made of: distances, and images at other points and in other sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import decomposition_table

ATEN = torch.ops.aten
RESIZED = (
    "upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d", "_upsample_nearest_exact1d", "_upsample_nearest_exact2d",
    "_upsample_nearest_exact3d", "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d",
)  # fmt: skip


def _norm(off: torch.Tensor, p: float) -> torch.Tensor:
    """Along the last dim; its slope at 0 is 0."""
    size = off.abs()
    if p == 0:
        return (off != 0).to(off.dtype).sum(-1)
    if p in (1, float("inf")):
        return size.sum(-1) if p == 1 else size.amax(-1)
    total = (off * off if p == 2 else size**p).sum(-1)
    root = torch.where(total > 0, total, 1.0)
    return torch.where(total > 0, root.sqrt() if p == 2 else root ** (1 / p), 0.0)


def cdist(x1: torch.Tensor, x2: torch.Tensor, p: float = 2.0, compute_mode: Any = None) -> torch.Tensor:
    return _norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


def pdist(input: torch.Tensor, p: float = 2.0) -> torch.Tensor:
    pairs = [(i, j) for i in range(input.shape[0]) for j in range(i + 1, input.shape[0])]
    first, second = (torch.tensor([pair[k] for pair in pairs], dtype=torch.int64) for k in (0, 1))
    return _norm(input[first] - input[second], p)


def _grid_sampler(original: Callable[..., Any], x: torch.Tensor, *rest: Any) -> torch.Tensor:
    return (decomposition_table[ATEN.grid_sampler_2d.default] if x.dim() == 4 else original)(x, *rest)


def _resized(name: str, x: torch.Tensor, size: Sequence[int] | None, *rest: Any) -> torch.Tensor:
    """As torch.nn.functional.interpolate calls them: a size, or factors behind all else."""
    *flags, factors = rest
    of = x.shape[2:]
    size = [int(n * f) for n, f in zip(of, factors, strict=True)] if size is None else size
    return decomposition_table[getattr(ATEN, name).default](x, size, *flags, *(factors or [None] * len(of)))


def written_out() -> list[tuple[Any, str, Callable[..., Any]]]:
    """(where a function stands, its name there, what takes its place)"""
    return [
        (torch, "cdist", cdist),
        (torch, "pdist", pdist),
        (torch.nn.functional, "pdist", pdist),
        (torch, "grid_sampler", functools.partial(_grid_sampler, torch.grid_sampler)),
        *((torch._C._nn, name, functools.partial(_resized, name)) for name in RESIZED),
    ]
