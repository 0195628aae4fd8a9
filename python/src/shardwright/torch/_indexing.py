"""Rows of the table of ops: what reads and writes elements by their numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from shardwright.torch.model import FLOATS, Builder, Value
from shardwright.torch.ops import Call, row


@row("aten.embedding")
def embedding(t: Call, table: Value, indices: Value, *_: Any, **__: Any) -> Value:
    return take(t.b, table, indices, 0)


def take(b: Builder, x: Value, indices: Value, dim: int) -> Value:
    """Slices of x along dim, the dims of indices in its place."""
    rank, n = len(x.shape), len(indices.shape)
    shape = [*x.shape[:dim], *indices.shape, *x.shape[dim + 1 :]]
    return b.op(
        "gather",
        [x, indices],
        x.dtype,
        shape,
        sizes=[1 if i == dim else size for i, size in enumerate(x.shape)],
        offset_dims=[i if i < dim else i - 1 + n for i in range(rank) if i != dim],
        collapsed_dims=[dim],
        start_index_map=[dim],
        index_vector_dim=n,
    )


@row("aten.embedding_dense_backward")
def embedding_grad(t: Call, grad: Value, indices: Value, rows: int, padding: int, by_count: bool) -> Value:
    b = t.b
    if padding >= 0:
        kept = b.compare(indices, padding, "ne")
        kept = b.spread(kept, grad.shape, range(len(indices.shape)))
        grad = b.select(kept, grad, b.const(0, grad.dtype, grad.shape))
    start = b.const(0, grad.dtype, t.shape)
    made = scatter_rows(b, start, indices, grad, "sum")
    if not by_count:
        return made
    counts = scatter_rows(
        b, b.const(0, grad.dtype, [rows]), indices, b.const(1, grad.dtype, indices.shape), "sum"
    )
    return b.binary("divide", made, b.spread(b.binary("maximum", counts, 1), made.shape, [0]))


def scatter_rows(b: Builder, x: Value, indices: Value, updates: Value, kind: str) -> Value:
    n = len(indices.shape)
    return b.op(
        "scatter",
        [x, indices, updates],
        x.dtype,
        x.shape,
        kind=kind,
        update_window_dims=list(range(n, len(updates.shape))),
        inserted_dims=[0],
        start_index_map=[0],
        index_vector_dim=n,
    )


@row("aten.index_select")
def index_select(t: Call, x: Value, dim: int, index: Value) -> Value:
    if not x.shape:
        return t.b.reshape(x, t.shape)
    index = t.b.reshape(index, [1]) if not index.shape else index
    return take(t.b, x, index, dim % len(x.shape))


@row("aten.index_add")
def index_add(t: Call, x: Value, dim: int, index: Value, source: Value, *, alpha: Any = 1) -> Value:
    b = t.b
    if not x.shape:
        return b.binary("add", x, b.binary("multiply", b.reshape(source, []), alpha))
    dim %= len(x.shape)
    index = b.reshape(index, [1]) if not index.shape else index
    if not source.shape:
        source = b.reshape(source, [1])
    source = source if alpha == 1 else b.binary("multiply", source, alpha)
    order = [dim, *(i for i in range(len(x.shape)) if i != dim)]
    back = [order.index(i) for i in range(len(order))]
    added = scatter_rows(b, b.transpose(x, order), index, b.transpose(source, order), "sum")
    return b.transpose(added, back)


# --- by tensors of indices -------------------------------------------------------------------------------------------


class _Advanced:
    """What x[i, :, j] reads: the dims of indices, and of everything else."""

    def __init__(self, b: Builder, x: Value, indices: Sequence[Value | None]) -> None:
        self.x = x
        self.dims = [d for d, i in enumerate(indices) if i is not None]
        given = [i for i in indices if i is not None]
        rank = max(len(i.shape) for i in given)
        padded = [[1] * (rank - len(i.shape)) + list(i.shape) for i in given]
        self.shape = [max(sizes, key=lambda n: (n != 1, n)) for sizes in zip(*padded, strict=True)]
        wide = [self._wrapped(b, i, x.shape[d]) for d, i in zip(self.dims, given, strict=True)]
        self.index = b.expand(wide[0], self.shape)
        if len(wide) > 1:
            parts = [b.reshape(b.expand(i, self.shape), [*self.shape, 1]) for i in wide]
            self.index = b.op("concatenate", parts, "i64", [*self.shape, len(wide)], dim=rank)
        self.vector = rank
        others = [d for d in range(len(x.shape)) if d not in self.dims]
        together = self.dims == list(range(self.dims[0], self.dims[0] + len(self.dims)))
        first = self.dims[0] if together else 0
        self.window = [k if k < first else k + rank for k in range(len(others))]
        sizes = [x.shape[d] for d in others]
        self.result = [*sizes[:first], *self.shape, *sizes[first:]]

    @staticmethod
    def _wrapped(b: Builder, i: Value, size: int) -> Value:
        i = b.cast(i, "i64")
        return b.select(b.compare(i, 0, "lt"), b.binary("add", i, size), i)


def _by_mask(indices: Sequence[Value | None]) -> bool:
    return any(i is not None and i.dtype in ("bool", "u8") for i in indices)


@row("aten.index.Tensor", "aten._unsafe_index.Tensor")
def index(t: Call, x: Value, indices: Sequence[Value | None]) -> Value:
    if _by_mask(indices):
        raise NotImplementedError("indices by a mask: how many there are depends on data")
    at = _Advanced(t.b, x, indices)
    return t.b.op(
        "gather",
        [x, at.index],
        x.dtype,
        t.shape,
        sizes=[1 if d in at.dims else n for d, n in enumerate(x.shape)],
        offset_dims=at.window,
        collapsed_dims=at.dims,
        start_index_map=at.dims,
        index_vector_dim=at.vector,
    )


@row("aten.index_put", "aten._unsafe_index_put")
def index_put(t: Call, x: Value, indices: Sequence[Value | None], values: Value, accumulate: bool = False) -> Value:
    values = t.b.cast(values, x.dtype)
    if _by_mask(indices):
        if values.shape or len(indices) > 1:
            raise NotImplementedError("values by a mask: how many there are depends on data")
        mask = indices[0]
        assert mask is not None
        mask = t.b.spread(t.b.cast(mask, "bool"), x.shape, range(len(mask.shape)))
        new = t.b.expand(values, x.shape)
        return t.b.select(mask, t.b.binary("add", x, new) if accumulate else new, x)
    at = _Advanced(t.b, x, indices)
    return t.b.op(
        "scatter",
        [x, at.index, t.b.expand(values, at.result)],
        x.dtype,
        x.shape,
        kind="sum" if accumulate else "replace",
        update_window_dims=at.window,
        inserted_dims=at.dims,
        start_index_map=at.dims,
        index_vector_dim=at.vector,
    )


# --- along one dim, an index for each element ------------------------------------------------------------------------


def _cut_to(b: Builder, x: Value, shape: Sequence[int], but: int = -1) -> Value:
    """Its first elements in each dim but one."""
    for d, n in enumerate(shape):
        if d != but:
            x = b.slice(x, d, 0, n)
    return x


def _along(rank: int, dim: int) -> dict[str, Any]:
    """Of gathers and scatters with an index along one dim for each place of the others."""
    others = [d for d in range(rank) if d != dim]
    return {"operand_batch": others, "indices_batch": others, "start_index_map": [dim], "index_vector_dim": rank}


def pick(b: Builder, x: Value, dim: int, index: Value) -> Value:
    """result[..i..] = x[..index[..i..]..]: as aten.gather."""
    rank = len(index.shape)
    if len(x.shape) != rank:
        raise NotImplementedError("an index of no dims")
    return b.op(
        "gather",
        [_cut_to(b, x, index.shape, dim), index],
        x.dtype,
        index.shape,
        sizes=[1] * rank,
        offset_dims=[],
        collapsed_dims=[dim],
        **_along(rank, dim),
    )


@row("aten.gather")
def gather(t: Call, x: Value, dim: int, index: Value, **_: Any) -> Value:
    if not x.shape:
        return t.b.reshape(t.b.expand(t.b.reshape(x, [1]), [math.prod(index.shape)]), t.shape)
    if not index.shape:
        return t.b.reshape(pick(t.b, x, dim % len(x.shape), t.b.reshape(index, [1])), [])
    return pick(t.b, x, dim % len(x.shape), index)


# --- by indices that are known ---------------------------------------------------------------------------------------


def _taken(b: Builder, x: Value, dim: int, indices: Sequence[int]) -> Value:
    at = b.constant_of(f"{b.scope}.{b.base}.indices".lstrip("."), "i64", [len(indices)], list(indices))
    return take(b, x, at, dim)


@row(
    "aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d",
    "aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d",
)  # fmt: skip
def mirrored(t: Call, x: Value, pad: Sequence[int]) -> Value:
    for i in range(len(pad) // 2):
        dim = len(x.shape) - 1 - i
        n = x.shape[dim]
        at = range(-pad[2 * i], n + pad[2 * i + 1])
        if "reflection" in t.op:
            x = _taken(t.b, x, dim, [n - 1 - abs(n - 1 - abs(j)) for j in at])
        else:
            x = _taken(t.b, x, dim, [min(max(j, 0), n - 1) for j in at])
    return x


def scatter_along(t: Call, x: Value, dim: int, index: Value, source: Value, kind: str) -> Value:
    b = t.b
    if not x.shape:
        one = _place_in(b, b.reshape(x, [1]), 0, b.reshape(index, [1]), b.reshape(source, [1]), kind)
        return b.reshape(one, [])
    if not math.prod(index.shape):
        return x
    if not index.shape:
        index = b.reshape(index, [1])
    dim %= len(x.shape)
    source = _cut_to(b, b.reshape(source, [1]) if not source.shape else source, index.shape)
    part = _cut_to(b, x, index.shape, dim)
    made = _place_in(b, part, dim, index, b.cast(source, x.dtype), kind)
    if part is x:
        return made
    zero = b.const(0, "i64")
    return b.op("dynamic_update_slice", [x, made, *[zero] * len(x.shape)], x.dtype, x.shape)


def _place_in(b: Builder, x: Value, dim: int, index: Value, source: Value, kind: str) -> Value:
    rank = len(index.shape)
    return b.op(
        "scatter",
        [x, index, source],
        x.dtype,
        x.shape,
        kind=kind,
        update_window_dims=[],
        inserted_dims=[dim],
        **_along(rank, dim),
    )


@row("aten.scatter.src")
def scatter(t: Call, x: Value, dim: int, index: Value, source: Value) -> Value:
    return scatter_along(t, x, dim, index, source, "replace")


@row("aten.scatter.value")
def scatter_value(t: Call, x: Value, dim: int, index: Value, value: Any) -> Value:
    return scatter_along(t, x, dim, index, t.b.const(value, x.dtype, index.shape), "replace")


@row("aten.scatter_add")
def scatter_add(t: Call, x: Value, dim: int, index: Value, source: Value) -> Value:
    return scatter_along(t, x, dim, index, source, "sum")


@row("aten.scatter_reduce.two")
def scatter_reduce(
    t: Call, x: Value, dim: int, index: Value, source: Value, reduce: str, *, include_self: bool = True
) -> Value:
    b = t.b
    kinds = {"sum": "sum", "mean": "sum", "prod": "product", "amax": "max", "amin": "min"}
    kind = kinds[reduce]
    ones = b.const(1, "i64", source.shape)
    counts = scatter_along(t, b.const(0, "i64", x.shape), dim, index, ones, "sum")
    if not include_self:
        least, most = _ends(x.dtype)
        neutral = {"sum": 0, "product": 1, "max": least, "min": most}[kind]
        x = b.select(b.compare(counts, 0, "ne"), b.const(neutral, x.dtype, x.shape), x)
    made = scatter_along(t, x, dim, index, source, kind)
    if reduce != "mean":
        return made
    n = b.binary("maximum", counts, 1) if not include_self else b.binary("add", counts, 1)
    return b.binary("divide", made, b.cast(n, x.dtype))


def _ends(dtype: str) -> tuple[Any, Any]:
    if dtype in FLOATS:
        return -math.inf, math.inf
    bits = int(dtype[1:]) if dtype != "bool" else 1
    return (0, 2**bits - 1) if dtype[0] in "ub" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
