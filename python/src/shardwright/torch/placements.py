"""Shardings as DTensor has them: a placement for each axis of the mesh."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from torch.distributed.tensor import Partial, Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard

import shardwright

DIM = re.compile(r"\[([^\[\]]*)\]")
PARTIAL = re.compile(r" partial (\w+)\[([^\]]*)\]")
REDUCTIONS = {"sum": "sum", "average": "avg", "min": "min", "max": "max", "product": "product"}


def dims_of_sharding(sharding: str) -> list[list[str]]:
    """The axes that cut each dim, of whole axes: [['x'], []]."""
    text = re.split(r" partial ", sharding)[0]
    return [[axis for axis in dim.split(",") if axis] for dim in DIM.findall(text[1:-1])]


def placements(name: str, sharding: str, mesh: shardwright.Mesh) -> tuple[Any, ...]:
    """Of a sharding as plans spell it, '[[x],[y]]'; an error names what no placement says."""
    partials = re.split(r"(?= partial )", sharding)[1:]
    if ":" in sharding or "offsets" in sharding or "halos" in sharding:
        raise shardwright.InputError(f"{name} is {sharding}: no DTensor placement says so; expected whole axes in equal parts")
    made: dict[str, Any] = {}
    order = list(mesh.axes)
    for i, axes in enumerate(dims_of_sharding(sharding)):
        for axis in axes:
            made[axis] = _shard(i, axis, axes, order, mesh)
    for text in partials:
        kind, axes_text = PARTIAL.match(text).groups()  # type: ignore[union-attr]
        if kind not in REDUCTIONS:
            raise shardwright.InputError(f"{name} is {sharding}: DTensor has no parts of {kind}")
        made |= {axis: Partial(REDUCTIONS[kind]) for axis in axes_text.split(",")}
    return tuple(made.get(axis, Replicate()) for axis in order)


def _shard(dim: int, axis: str, axes: Sequence[str], order: Sequence[str], mesh: shardwright.Mesh) -> Any:
    """DTensor cuts by the axes of a mesh one after the other; an axis that cuts inside of the parts of a later one says how
    many there are."""
    later = [a for a in axes[: axes.index(axis)] if order.index(a) > order.index(axis)]
    factor = 1
    for a in later:
        factor *= mesh.axes[a]
    return Shard(dim) if factor == 1 else _StridedShard(dim, split_factor=factor)
