"""Ops of PyTorch that each process does on its part, where what they hold apart is cut: attention by heads, norms by rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.utils import _pytree as pytree

ATTENTION = "scaled_dot_product"
NORM_GRADIENTS = torch.ops.aten.native_layer_norm_backward.default


def _cuts_all(placement: Any, tensors: Sequence[DTensor], cut: Sequence[Any]) -> bool:
    """Batch or heads, of every operand alike."""
    if type(placement) is not Shard or placement.dim > 1:
        return False
    mesh = tensors[0].device_mesh
    parts = math.prod(mesh.size(i) for i, p in enumerate(cut) if p == placement)
    return all(x.shape[placement.dim] % parts == 0 for x in tensors)


def attention(target: Callable[..., Any], args: Any, kwargs: Any) -> list[DTensor]:
    """Where batch and heads are cut: each process its own, and of a mask, where it has such dims, its part."""
    tensors = [x for x in pytree.tree_leaves(args) if isinstance(x, DTensor) and x.ndim > 2]
    mesh = tensors[0].device_mesh
    cut = [p if _cuts_all(p, tensors, tensors[0].placements) else Replicate() for p in tensors[0].placements]

    def local(x: DTensor) -> torch.Tensor:
        own = [p if isinstance(p, Shard) and x.shape[p.dim] > 1 and x.ndim > 2 else Replicate() for p in cut]
        return x.redistribute(mesh, own).to_local()

    args, kwargs = pytree.tree_map_only(DTensor, local, (args, kwargs))
    return [DTensor.from_local(o, mesh, cut, run_check=False) for o in target(*args, **kwargs)]


def norm_gradients(
    grad: DTensor, x: DTensor, shape: Sequence[int], mean: DTensor, rstd: DTensor, weight: Any, bias: Any, wanted: Sequence[bool]
) -> list[DTensor | None]:
    """Of rows that are cut: gradients of weight and bias are parts of sums, in f32 where the processor does that. Of the bias the
    shape alone is read."""
    mesh, rows = x.device_mesh, x.ndim - len(shape)
    cut = [p if type(p) is Shard and p.dim < rows else Replicate() for p in x.placements]
    here = [v.redistribute(mesh, cut).to_local() for v in (grad, x, mean, rstd)]
    scale = None if weight is None else weight.redistribute(mesh, [Replicate()] * mesh.ndim).to_local()
    if scale is not None and mesh.device_type == "cpu" and scale.dtype in (torch.bfloat16, torch.float16):
        scale, here[2:] = scale.float(), [v.float() for v in here[2:]]
    outs = NORM_GRADIENTS(*here[:2], shape, *here[2:], scale, None if bias is None else scale, wanted)
    summed = [Partial() if isinstance(p, Shard) else p for p in cut]
    placed = (cut, summed, summed)
    return [None if o is None else DTensor.from_local(o, mesh, p, run_check=False) for o, p in zip(outs, placed, strict=True)]
