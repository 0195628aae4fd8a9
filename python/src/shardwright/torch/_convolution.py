"""Convolutions over DTensors, each process its part: DTensor's own rule takes any cut for one of space."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

from shardwright.torch._routes import part

FORWARD = torch.ops.aten.convolution.default
BACKWARD = torch.ops.aten.convolution_backward.default
WHOLE, PARTS = Replicate(), Partial()
# By what an axis cuts: the input, the weight, the bias, the output; and the gradients of the first three.
CUTS: dict[str, tuple[Any, ...]] = {
    "": (WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE, WHOLE),
    "samples": (Shard(0), WHOLE, WHOLE, Shard(0), Shard(0), PARTS, PARTS),
    "outputs": (WHOLE, Shard(0), Shard(0), Shard(1), PARTS, Shard(0), Shard(0)),
    "inputs": (Shard(1), Shard(1), WHOLE, PARTS, Shard(1), Shard(1), WHOLE),
    "groups": (Shard(1), Shard(0), Shard(0), Shard(1), Shard(1), Shard(0), Shard(0)),
}
X, WEIGHT, BIAS, OUT = range(4)
READS = {OUT: (X, WEIGHT), 4: (OUT, WEIGHT), 5: (OUT, X), 6: (OUT,)}  # of what is made
GIVEN = {OUT: 0, X: 1, WEIGHT: 2}  # among the arguments of a gradient
SUMMED = "sum"  # one operand is so many parts of a sum, and so is what is made


def _column(cut: str, which: int) -> Any:
    """What of a gradient's operands an axis cuts: no sum of parts is read as such."""
    return WHOLE if CUTS[cut][which] == PARTS else CUTS[cut][which]


class _Cut:
    """What each axis cuts, of a convolution or one of its gradients, by how what it reads is held; nothing that does not divide."""

    def __init__(self, made: int, held: Mapping[int, DTensor], transposed: bool, groups: int) -> None:
        self.mesh, self.made, self.groups = held[READS[made][0]].device_mesh, made, groups
        shape = {which: value.shape for which, value in held.items()}
        sizes = {"": 1, SUMMED: 1, "groups": groups}
        dims = ((X, "samples", 0), (OUT, "samples", 0), (X, "inputs", 1), (WEIGHT, "outputs", 0), (OUT, "outputs", 1))
        for which, cut, dim in dims:
            if which in shape:
                sizes[cut] = shape[which][dim]
        if WEIGHT in shape and groups == 1:
            sizes["inputs"] = shape[WEIGHT][1]
        self.parts = dict.fromkeys(sizes, 1)
        self.labels: list[str] = []
        for i in range(self.mesh.ndim):
            label = self._label({which: value.placements[i] for which, value in held.items()}, transposed)
            if sizes.get(label, 1) % (self.parts.get(label, 1) * self.mesh.size(i)) and label not in ("", SUMMED):
                label = ""
            self.parts[label] = self.parts.get(label, 1) * self.mesh.size(i)
            self.labels.append(label)

    def _label(self, held: Mapping[int, Any], transposed: bool) -> str:
        reads = {which: held[which] for which in READS[self.made]}
        if sorted(map(str, reads.values())) == ["P(sum)", "R"][: len(reads)]:
            return SUMMED
        known = [c for c in CUTS if c in ("", "samples") or not transposed and (c == "groups") == (self.groups > 1)]
        exact = (c for c in known if all(_column(c, which) == p for which, p in reads.items()))
        near = (c for c in known for which, p in reads.items() if not p.is_replicate() and _column(c, which) == p)
        return next(exact, None) or next(near, "")

    def local(self, value: Any, which: int) -> Any:
        if not isinstance(value, DTensor):
            return value
        to = [
            (p if p.is_partial() else WHOLE) if label == SUMMED else _column(label, which)
            for label, p in zip(self.labels, value.placements, strict=True)
        ]
        return value.redistribute(self.mesh, to).to_local()

    def given(self, local: torch.Tensor) -> DTensor:
        to = [PARTS if label == SUMMED else CUTS[label][self.made] for label in self.labels]
        return DTensor.from_local(local, self.mesh, to, run_check=False)

    def later(self) -> bool:
        """Is this process's part of a sum not the first?"""
        return any(label in ("inputs", SUMMED) and self.mesh.get_local_rank(i) for i, label in enumerate(self.labels))

    def groups_here(self) -> int:
        return self.groups // math.prod(self.mesh.size(i) for i, label in enumerate(self.labels) if label == "groups")


def convolved(
    x: DTensor, weight: DTensor, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, more: Any, groups: int
) -> DTensor:
    """As aten.convolution."""
    cut = _Cut(OUT, {X: x, WEIGHT: weight}, transposed, groups)
    here = [cut.local(value, which) for which, value in enumerate((x, weight, bias))]
    if bias is not None and cut.later():
        here[2] = torch.zeros_like(here[2])  # the first part of the sum has it
    return cut.given(FORWARD(*here, stride, padding, dilation, transposed, more, cut.groups_here()))


def gradient(i: int, args: Sequence[Any]) -> DTensor:
    """Result i of aten.convolution_backward alone, of its arguments, which may be held otherwise for each."""
    operands, (sizes, stride, padding, dilation, transposed, more, groups, _) = list(args[:3]), args[3:]
    made = 4 + i
    cut = _Cut(made, {which: operands[GIVEN[which]] for which in READS[made]}, transposed, groups)
    here = [cut.local(operands[GIVEN[which]], which) if which in READS[made] else None for which in (OUT, X, WEIGHT)]
    for which, place in ((X, 1), (WEIGHT, 2)):
        if here[place] is None:  # whose shape alone counts
            here[place] = _unread(operands[place], cut, which)
    bias = None if sizes is None else [here[0].shape[1]]
    outs = BACKWARD(*here, bias, stride, padding, dilation, transposed, more, cut.groups_here(), [i == k for k in range(3)])
    return cut.given(outs[i])


def _unread(value: DTensor, cut: _Cut, which: int) -> torch.Tensor:
    """Of the shape of this process's part."""
    shape = part(value.shape, [WHOLE if label == SUMMED else _column(label, which) for label in cut.labels], cut.mesh)
    held = value.to_local()
    return held if list(held.shape) == shape else held.new_empty(shape)
