"""Copies by the routes that a plan has for them: its own collectives, along all of their axes at once."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.distributed import _functional_collectives as funcol
from torch.distributed.tensor import Partial, Replicate, Shard

import shardwright
from shardwright.torch.placements import REDUCTIONS, placements

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from shardwright.torch.plan import Plan

STEP = re.compile(r"(\w+) axes=\[([^\]]*)\](.*)")
ATTRIBUTE = re.compile(r"(\w+)=(\S+)")
Key = tuple[str, tuple[Any, ...], tuple[Any, ...]]  # a value, its placements, and those of the copy


class Step(NamedTuple):
    """A collective of a route. `axes` cut inside of all others that cut the same dim; major first, in the order of the mesh."""

    op: str
    axes: tuple[str, ...]
    dim: int
    join: int
    reduction: str


def routes_of(plan: Plan) -> dict[Key, tuple[Step, ...]]:
    """Of the copies of a plan whose parts are equal and whose collectives processes have."""
    found: dict[Key, tuple[Step, ...]] = {}
    for row in plan.report().data["reshards"]:
        try:
            source, to = (tuple(placements(row["value"], row[key], plan.mesh)) for key in ("from", "to"))
            steps = tuple(_step(step["collective"], list(plan.mesh.axes)) for step in row["steps"])
        except shardwright.InputError:
            continue
        found[row["value"], source, to] = steps
    return found


def _step(text: str, order: Sequence[str]) -> Step:
    said = STEP.fullmatch(text)
    op, axes, rest = said.groups() if said else ("", "", "")
    attributes = dict(ATTRIBUTE.findall(rest))
    names = tuple(axes.split(","))
    if op not in STEPS or sorted(names, key=lambda a: order.index(a) if a in order else -1) != list(names) or ":" in axes:
        raise shardwright.InputError(f"no collective of processes is {text}")
    if attributes.get("reduction", "sum") != "sum" and op == "to_partial":
        raise shardwright.InputError(f"{text}: what is neutral there is not known")
    dim = int(attributes.get("dim", 0))
    return Step(op, names, dim, int(attributes.get("concat_dim", dim)), REDUCTIONS.get(attributes.get("reduction", "sum"), ""))


def even(shape: Sequence[int], placed: Sequence[Any], mesh: DeviceMesh) -> bool:
    """Are parts equal, and each the block that DTensor's own order of axes says?"""
    parts = [1] * len(shape)
    for i, placement in enumerate(placed):
        if type(placement) is Shard:
            parts[placement.dim] *= mesh.size(i)
        elif type(placement) not in (Replicate, Partial):
            return False
    return all(n % k == 0 for n, k in zip(shape, parts, strict=True))


def part(shape: Sequence[int], placed: Sequence[Any], mesh: DeviceMesh) -> list[int]:
    """The shape of a process's part, where parts are equal."""
    sizes = list(shape)
    for i, placement in enumerate(placed):
        if isinstance(placement, Shard):
            sizes[placement.dim] //= mesh.size(i)
    return sizes


def group_of(mesh: DeviceMesh, axes: tuple[str, ...]) -> Any:
    """Of the processes along the axes, in the order of the mesh."""
    return mesh.get_group(axes[0]) if len(axes) == 1 else mesh[axes]._flatten().get_group()


def moved(value: torch.Tensor, steps: Sequence[Step], mesh: DeviceMesh) -> torch.Tensor:
    """The part of the copy, of this process's part of the value."""
    for step in steps:
        value = STEPS[step.op](value, step, mesh)
        value = value.wait() if isinstance(value, funcol.AsyncCollectiveTensor) else value
    return value


def _rank(step: Step, mesh: DeviceMesh) -> int:
    """Of this process among those along the axes."""
    rank = 0
    for axis in step.axes:
        rank = rank * mesh[axis].size() + mesh.get_local_rank(axis)
    return rank


def _size(step: Step, mesh: DeviceMesh) -> int:
    return math.prod(mesh[axis].size() for axis in step.axes)


def _gathered(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    return funcol.all_gather_single(value.contiguous(), step.dim, group_of(mesh, step.axes))


def _reduced(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    return funcol.all_reduce(value.contiguous(), step.reduction, group_of(mesh, step.axes))


def _scattered(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    return funcol.reduce_scatter_single(value.contiguous(), step.reduction, step.dim, group_of(mesh, step.axes))


def _sliced(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    part = value.shape[step.dim] // _size(step, mesh)
    return value.narrow(step.dim, _rank(step, mesh) * part, part).clone(memory_format=torch.contiguous_format)


def _exchanged(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    n = _size(step, mesh)
    sent = torch.cat(value.chunk(n, step.dim)) if step.dim else value.contiguous()
    got = funcol.all_to_all_single(sent, None, None, group_of(mesh, step.axes))
    got = got.wait() if isinstance(got, funcol.AsyncCollectiveTensor) else got
    return torch.cat(got.chunk(n), step.join) if step.join else got


def _part_of_sum(value: torch.Tensor, step: Step, mesh: DeviceMesh) -> torch.Tensor:
    return torch.zeros_like(value) if _rank(step, mesh) else value


STEPS: Mapping[str, Callable[[torch.Tensor, Step, DeviceMesh], torch.Tensor]] = {
    "all_gather": _gathered, "all_reduce": _reduced, "reduce_scatter": _scattered, "all_slice": _sliced,
    "all_to_all": _exchanged, "to_partial": _part_of_sum,
}  # fmt: skip
