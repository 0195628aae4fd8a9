"""Rows of the table of ops: bags of rows of a table."""

from __future__ import annotations

import math
from typing import Any

from shardwright.torch._indexing import scatter_along, scatter_rows, take
from shardwright.torch.model import Builder, Value
from shardwright.torch.ops import Call, row

SUM, MEAN, MAX = range(3)


def _kept(b: Builder, indices: Value, padding: int, dtype: str) -> Value:
    """1 for each index that counts, else 0."""
    return b.cast(b.compare(indices, padding, "ne"), dtype)


def _bag_of(b: Builder, offsets: Value, indices: Value) -> Value:
    """Of each index: how many bags begin up to it, less one."""
    wall = [indices.shape[0], offsets.shape[0]]
    begun = b.compare(b.spread(offsets, wall, [1]), b.iota(offsets.dtype, wall, 0), "le")
    return b.binary("subtract", b.reduce(b.cast(begun, "i64"), "sum", [1]), 1)


def _wide(b: Builder, x: Value, like: Value) -> Value:
    return b.spread(b.cast(x, like.dtype), like.shape, [0])


@row("aten._embedding_bag", "aten._embedding_bag_forward_only")
def embedding_bag(
    t: Call, table: Value, indices: Value, offsets: Value, by_count: bool = False, mode: int = SUM, sparse: bool = False,
    weights: Value | None = None, with_end: bool = False, padding: int = -1,
) -> tuple[Value, ...]:  # fmt: skip
    b, dtype = t.b, table.dtype
    shape = t.results[0][1]  # type: ignore[index]
    bags = shape[0]
    rows = take(b, table, indices, 0)
    bag = _bag_of(b, b.slice(offsets, 0, 0, bags), indices)
    kept = _kept(b, indices, padding, "i64")
    sizes = scatter_rows(b, b.const(0, "i64", [bags]), bag, kept, "sum")
    most = b.const(0, "i64", t.results[3][1])  # type: ignore[index]
    if mode == MAX:
        least = b.const(-math.inf, dtype, rows.shape)
        rows = b.select(b.spread(b.cast(kept, "bool"), rows.shape, [0]), rows, least)
        made = scatter_rows(b, b.const(-math.inf, dtype, shape), bag, rows, "max")
        here = b.compare(rows, take(b, made, bag, 0), "eq")
        none = table.shape[0]
        first = b.select(here, _wide(b, indices, b.const(0, "i64", rows.shape)), b.const(none, "i64", rows.shape))
        most = scatter_rows(b, b.const(none, "i64", shape), bag, first, "min")
        some = b.spread(b.compare(sizes, 0, "gt"), shape, [0])
        zero = b.const(0, "i64", shape)
        made, most = b.select(some, made, b.const(0, dtype, shape)), b.select(some, most, zero)
    else:
        rows = b.binary("multiply", rows, _wide(b, kept, rows))
        if weights is not None:
            rows = b.binary("multiply", rows, _wide(b, weights, rows))
        made = scatter_rows(b, b.const(0, dtype, shape), bag, rows, "sum")
        if mode == MEAN:
            made = b.binary("divide", made, _wide(b, b.binary("maximum", sizes, 1), made))
    kept_for_gradient = [bag, sizes, most]
    fit = [
        b.cast(v, r[0]) if r and v.shape == r[1] else b.const(0, *r)  # type: ignore[misc]
        for v, r in zip(kept_for_gradient, t.results[1:], strict=True)
    ]
    return made, *fit


@row("aten._embedding_bag_backward")
def embedding_bag_grad(
    t: Call, grad: Value, indices: Value, offsets: Value, _: Value, sizes: Value, most: Value, rows: int, by_count: bool,
    mode: int, sparse: bool, weights: Value | None, padding: int = -1,
) -> Value:  # fmt: skip
    b = t.b
    bag = _bag_of(b, b.slice(offsets, 0, 0, grad.shape[0]), indices)
    start = b.const(0, grad.dtype, t.shape)
    if mode == MAX:
        some = b.spread(b.compare(sizes, 0, "gt"), grad.shape, [0])
        grad = b.select(some, grad, b.const(0, grad.dtype, grad.shape))
        return scatter_along(t, start, 0, b.cast(most, "i64"), grad, "sum")
    if mode == MEAN:
        grad = b.binary("divide", grad, _wide(b, b.binary("maximum", sizes, 1), grad))
    each = take(b, grad, bag, 0)
    each = b.binary("multiply", each, _wide(b, _kept(b, indices, padding, each.dtype), each))
    if weights is not None:
        each = b.binary("multiply", each, _wide(b, weights, each))
    if by_count:
        ones = b.const(1, each.dtype, indices.shape)
        counts = scatter_rows(b, b.const(0, each.dtype, [rows]), indices, ones, "sum")
        each = b.binary("divide", each, _wide(b, take(b, counts, indices, 0), each))
    return scatter_rows(b, start, indices, each, "sum")


@row("aten._embedding_bag_per_sample_weights_backward")
def weights_of_bag_grad(
    t: Call, grad: Value, table: Value, indices: Value, offsets: Value, _: Value, mode: int, padding: int = -1
) -> Value:
    b = t.b
    bag = _bag_of(b, b.slice(offsets, 0, 0, grad.shape[0]), indices)
    each = b.reduce(b.binary("multiply", take(b, grad, bag, 0), take(b, table, indices, 0)), "sum", [1])
    return b.binary("multiply", each, _kept(b, indices, padding, each.dtype))
