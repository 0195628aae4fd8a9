"""Ops of models, each process on its part: what a plan prices, for ops of PyTorch for which DTensor does something else."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec, TensorMeta

from shardwright.torch._routes import even, part
from shardwright.torch.model import DTYPES

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

TORCH = {name: dtype for dtype, name in DTYPES.items()}
OF_NODES = {  # that are done so
    *(f"aten.{op}.default" for op in (
        "nll_loss_forward", "nll_loss_backward", "nll_loss2d_forward", "nll_loss2d_backward", "index_put", "cumsum", "copy",
        "new_zeros", "zeros_like", "ones_like", "full_like", "empty_like", "as_strided", "as_strided_scatter", "_grouped_mm",
        "_native_batch_norm_legit_functional", "native_batch_norm_backward",
    )),
    "aten.index.Tensor", "transformers.grouped_mm_fallback.default", "transformers.grouped_mm_fallback_backward.default",
}  # fmt: skip


class Op(NamedTuple):
    """Of a model."""

    kind: str
    inputs: list[str]
    name: str  # of its first result
    dtype: torch.dtype
    shape: list[int]
    attrs: Mapping[str, Any]


class Not(NotImplementedError):
    """It is cut as no function here knows."""


def ops_of(model: str) -> dict[str, Op]:
    """By their first results, in order."""
    found: dict[str, Op] = {}
    for op in json.loads(model)["ops"]:
        out = op["outputs"][0]
        found[out["name"]] = Op(op["op"], op["inputs"], out["name"], TORCH[out["dtype"]], out["shape"], {**op, **op.get("attrs", {})})
    return found


def done(op: Op, values: Sequence[DTensor], placed: Sequence[Any], mesh: DeviceMesh) -> DTensor:
    """Its result, cut as follows from what it reads, and, where that leaves it open, as `placed` says; Not where it is not known."""
    local, cut = KINDS[op.kind](op, values, tuple(placed), mesh)
    return made_of(local, cut, op.shape, mesh)


def made_of(local: torch.Tensor, cut: Sequence[Any], shape: Sequence[int], mesh: DeviceMesh) -> DTensor:
    stride = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    meta = TensorMeta(torch.Size(shape), tuple(stride), local.dtype)
    return DTensor(local, DTensorSpec(mesh, tuple(cut), tensor_meta=meta), requires_grad=False)


def stored(value: DTensor) -> DTensor:
    """With a place of its own for each element, as nodes give it."""
    if value._local_tensor.untyped_storage().nbytes() >= value._local_tensor.nbytes:
        return value
    return made_of(value._local_tensor.contiguous(), value.placements, value.shape, value.device_mesh)


Made = tuple[torch.Tensor, Sequence[Any]]


def _part(shape: Sequence[int], placed: Sequence[Any], mesh: DeviceMesh) -> list[int]:
    """Of this process, of a tensor."""
    if not even(shape, placed, mesh):
        raise Not
    return part(shape, placed, mesh)


def _first(dim: int, extent: int, placed: Sequence[Any], mesh: DeviceMesh) -> int:
    """Where this process's part begins."""
    first, here = 0, extent
    for i, placement in enumerate(placed):
        if isinstance(placement, Shard) and placement.dim == dim:
            here //= mesh.size(i)
            first += mesh.get_local_rank(i) * here
    return first


def _whole(value: DTensor, dim: int) -> DTensor:
    """Not cut along a dim, nor a part of a sum."""
    to = [Replicate() if p.is_partial() or p == Shard(dim) else p for p in value.placements]
    return value.redistribute(value.device_mesh, to)


# --- elements --------------------------------------------------------------------------------------------------------

COMPARE = {"eq": torch.eq, "ne": torch.ne, "lt": torch.lt, "le": torch.le, "gt": torch.gt, "ge": torch.ge}
ELEMENTS: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add, "subtract": torch.sub, "multiply": torch.mul, "divide": torch.div, "negate": torch.neg, "rsqrt": torch.rsqrt,
    "select": torch.where, "convert": lambda x: x,
}  # fmt: skip


def _elements(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    cut = []
    for of in zip(*(v.placements for v in values), strict=True):
        parts = [p.is_partial() for p in of]
        linear = op.kind in ("negate",) or op.kind in ("add", "subtract") and all(parts) or op.kind == "multiply" and sum(parts) == 1
        linear = linear or (op.kind == "divide" and parts == [True, False])
        if (any(parts) and not linear) or len({p for p in of if not p.is_partial()}) > 1:
            raise Not
        if any(parts) and not all(p.is_partial() or p.is_replicate() for p in of):
            raise Not
        cut.append(next((p for p in of if p.is_partial()), of[0]))
    here = [v._local_tensor for v in values]
    function = COMPARE[op.attrs["direction"]] if op.kind == "compare" else ELEMENTS[op.kind]
    if op.kind == "divide" and not op.dtype.is_floating_point:
        raise Not
    return function(*here).to(op.dtype), cut


def _constant(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    number = op.attrs["value"]
    number = float(number) if isinstance(number, str) else number
    if any(p.is_partial() for p in placed) and number != 0 or isinstance(number, list):
        raise Not
    return torch.tensor(number, dtype=op.dtype, device=mesh.device_type).expand(_part(op.shape, placed, mesh)), placed


def _iota(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    size, dim = _part(op.shape, placed, mesh), op.attrs["dim"]
    if any(p.is_partial() for p in placed):
        raise Not
    first = _first(dim, op.shape[dim], placed, mesh)
    along = torch.arange(first, first + size[dim], device=mesh.device_type).to(op.dtype)
    return along.view([-1 if d == dim else 1 for d in range(len(size))]).expand(size), placed


# --- shapes ----------------------------------------------------------------------------------------------------------


def _broadcast(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    (x,), dims = values, op.attrs["dims"]
    cut = []
    for p, wanted in zip(x.placements, placed, strict=True):
        new = isinstance(wanted, Shard) and (wanted.dim not in dims or x.shape[dims.index(wanted.dim)] == 1)
        own = Shard(dims[p.dim]) if isinstance(p, Shard) else p
        cut.append(wanted if new and p.is_replicate() else own)
    size = _part(op.shape, cut, mesh)
    view = [1] * len(size)
    for i, d in enumerate(dims):
        view[d] = x._local_tensor.shape[i]
    return x._local_tensor.reshape(view).expand(size), cut


def _reshape(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    """The first dim of each group of dims that become others is the one that may be cut."""
    (x,) = values
    if not even(x.shape, x.placements, mesh):
        raise Not
    cut = [Shard(_dim_after(x.shape, op.shape, p.dim)) if isinstance(p, Shard) else p for p in x.placements]
    return x._local_tensor.reshape(_part(op.shape, cut, mesh)), cut


def _dim_after(before: Sequence[int], after: Sequence[int], dim: int) -> int:
    lead, seen = math.prod(before[:dim]), 1
    for d, n in enumerate(after):
        if seen == lead and n > 1:
            if n % before[dim] and before[dim] % n:
                raise Not
            return d
        seen *= n
    raise Not


def _transpose(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    (x,), order = values, op.attrs["permutation"]
    return x._local_tensor.permute(order), [Shard(order.index(p.dim)) if isinstance(p, Shard) else p for p in x.placements]


REDUCE: dict[str, Callable[..., torch.Tensor]] = {"sum": torch.sum, "max": torch.amax, "min": torch.amin}


def _reduce(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    (x,), kind, dims, keep = values, op.attrs["kind"], op.attrs["dims"], op.attrs.get("keep_dims", False)
    if kind not in REDUCE or any(p.is_partial() and p != Partial(kind) for p in x.placements):
        raise Not
    left = [d for d in range(x.ndim) if keep or d not in dims]
    cut = [
        p if not isinstance(p, Shard) else Partial(kind) if p.dim in dims else Shard(left.index(p.dim)) for p in x.placements
    ]
    local = x._local_tensor
    return (REDUCE[kind](local, dims, keepdim=keep).to(op.dtype) if dims else local), cut


def _slice(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    (x,) = values
    starts, limits, steps = (op.attrs[k] for k in ("start", "limit", "strides"))
    for d, (start, limit, step) in enumerate(zip(starts, limits, steps, strict=True)):
        if (start, limit, step) != (0, x.shape[d], 1):
            x = _whole(x, d)
    local = x._local_tensor
    for d, (start, limit, step) in enumerate(zip(starts, limits, steps, strict=True)):
        if (start, limit, step) != (0, x.shape[d], 1):
            local = local[(slice(None),) * d + (slice(start, limit, step),)]
    return local, x.placements


def _concatenate(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    whole = [_whole(v, op.attrs["dim"]) for v in values]
    if len({tuple(v.placements) for v in whole}) > 1:
        raise Not
    return torch.cat([v._local_tensor for v in whole], op.attrs["dim"]), whole[0].placements


def _cumulative(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    x = _whole(values[0], op.attrs["dim"])
    if op.attrs["kind"] != "sum" or op.attrs.get("reverse") or op.attrs.get("exclusive"):
        raise Not
    return x._local_tensor.cumsum(op.attrs["dim"]).to(op.dtype), x.placements


# --- places ----------------------------------------------------------------------------------------------------------


def _rows(op: Op, named: str) -> bool:
    """Each index is of a row, dim 0?"""
    a = op.attrs
    return a[named] == [0] and a["start_index_map"] == [0] and not a.get("operand_batch")


def _within(x: DTensor, dim: int, index: DTensor, mesh: DeviceMesh) -> tuple[torch.Tensor, torch.Tensor | None, list[Any]]:
    """Indices along a dim in this process's part of it; which of them are there, or None: all; what is by axes what the dim cuts."""
    if not even(x.shape, x.placements, mesh) or not even(index.shape, index.placements, mesh):
        raise Not
    cuts = [p == Shard(dim) for p in x.placements]
    if any(c and not p.is_replicate() for c, p in zip(cuts, index.placements, strict=True)):
        raise Not
    if not any(cuts):
        return index._local_tensor, None, cuts
    here = index._local_tensor - _first(dim, x.shape[dim], x.placements, mesh)
    there = (here >= 0) & (here < x._local_tensor.shape[dim])
    return here.clamp(0, x._local_tensor.shape[dim] - 1), there, cuts


def _gather(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    x, index = values
    rows = _rows(op, "collapsed_dims") and op.attrs["index_vector_dim"] == index.ndim
    dim = 0 if rows else _picked(op, x, index)
    here, there, cuts = _within(x, dim, index, mesh)
    found = x._local_tensor[here] if rows else x._local_tensor.gather(dim, here)
    cut: list[Any] = []
    for p, q, cuts_dim in zip(x.placements, index.placements, cuts, strict=True):
        if cuts_dim:
            cut.append(Partial())
        elif rows:
            if isinstance(p, Shard) and not q.is_replicate() or q.is_partial():
                raise Not
            cut.append(Shard(p.dim - 1 + index.ndim) if isinstance(p, Shard) else p if q.is_replicate() else q)
        elif p == q or p.is_partial() and q.is_replicate():
            cut.append(p)
        else:
            raise Not
    if there is not None:
        found = torch.where(there.view(*there.shape, *[1] * (found.ndim - there.ndim)), found, 0)
    return found, cut


def _picked(op: Op, x: DTensor, index: DTensor) -> int:
    """Of each row one element: along which dim?"""
    (dim,) = op.attrs["collapsed_dims"] if len(op.attrs["collapsed_dims"]) == 1 else (-1,)
    rest = [d for d in range(x.ndim) if d != dim]
    if op.attrs["start_index_map"] != [dim] or op.attrs.get("operand_batch") != rest or op.attrs["index_vector_dim"] != index.ndim:
        raise Not
    return dim


def _scatter(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    x, index, new = values
    summed = op.attrs["kind"] == "sum"
    if not _rows(op, "inserted_dims") or op.attrs["index_vector_dim"] != index.ndim or op.attrs["kind"] not in ("sum", "replace"):
        raise Not
    here, there, cuts = _within(x, 0, index, mesh)
    for p, q, n, cuts_rows in zip(x.placements, index.placements, new.placements, cuts, strict=True):
        if p.is_partial():  # each its own rows, or its part of all
            fits = summed and (n == q if isinstance(q, Shard) else q.is_replicate() and n.is_partial())
        else:
            as_rows = Replicate() if cuts_rows or p.is_replicate() else Shard(p.dim - 1 + index.ndim)
            fits = q.is_replicate() and n == as_rows
        if not fits:
            raise Not
    here, rows = here.reshape(-1), new._local_tensor.reshape(-1, *new._local_tensor.shape[index.ndim :])
    if there is not None:
        here, rows = here[there.reshape(-1)], rows[there.reshape(-1)]
    local = x._local_tensor
    return local.index_add(0, here, rows) if summed else local.index_copy(0, here, rows), x.placements


# --- products in groups ----------------------------------------------------------------------------------------------


def _grouped(op: Op, values: Sequence[DTensor], placed: Any, mesh: DeviceMesh) -> Made:
    """Rows of x in groups, each with a matrix of its own; or a product for each group of rows of both. Groups, rows or columns
    may be cut, and what is contracted."""
    maps = [m.split("->")[1] for m in op.attrs["maps"]]
    by_rows = maps == ["(d0,d3)", "(d2,d3,d1)", "(d2)", "(d2)", "(d0,d1)"]
    if not by_rows and maps != ["(d1,d3)", "(d3,d2)", "(d0)", "(d0)", "(d0,d1,d2)"]:
        raise Not
    x, y, starts, ends = values
    loop = {"rows": (0, None, None, 0), "groups": (None, 0, 0, Partial()), "inner": (1, 1, None, Partial()), "columns": (None, 2, None, 1)}
    if not by_rows:
        loop = {"rows": (1, 0, None, Partial()), "groups": (None, None, 0, 0), "inner": (0, None, None, 1), "columns": (None, 1, None, 2)}
    ways = {tuple(Replicate() if d is None else Shard(d) for d in way[:3]): way[3] for way in loop.values()}
    ways[Replicate(), Replicate(), Replicate()] = None
    cut = []
    for of in zip(x.placements, y.placements, starts.placements, ends.placements, strict=True):
        if of[:3] not in ways or of[2] != of[3]:
            raise Not
        way = ways[of[:3]]
        cut.append(Replicate() if way is None else Shard(way) if isinstance(way, int) else way)
    if not all(even(v.shape, v.placements, mesh) for v in values):
        raise Not
    rows = 0 if by_rows else 1
    first, here = _first(rows, x.shape[rows], x.placements, mesh), x._local_tensor.shape[rows]
    bounds = [[min(max(i - first, 0), here) for i in of._local_tensor.tolist()] for of in (starts, ends)]
    a, b = x._local_tensor, y._local_tensor
    made = a.new_zeros(_part(op.shape, cut, mesh), dtype=op.dtype)
    for i, (start, end) in enumerate(zip(*bounds, strict=True)):
        if by_rows:
            made[start:end] = a[start:end] @ b[i]
        else:
            made[i] = a[:, start:end] @ b[start:end]
    return made, cut


KINDS: dict[str, Callable[[Op, Sequence[DTensor], Any, Any], Made]] = {
    **dict.fromkeys((*ELEMENTS, "compare"), _elements), "constant": _constant, "iota": _iota, "broadcast_in_dim": _broadcast,
    "reshape": _reshape, "transpose": _transpose, "reduce": _reduce, "slice": _slice, "concatenate": _concatenate,
    "cumulative": _cumulative, "gather": _gather, "scatter": _scatter, "generic": _grouped,
}  # fmt: skip
