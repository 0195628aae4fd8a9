"""Convolutions over DTensors, each process its part: DTensor's own rule takes any cut for one of space."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

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


def convolved(target: Any, args: Sequence[Any]) -> Any:
    """Of an op's arguments, whose tensors are DTensors of one mesh: what it gives, as DTensors."""
    return _forward(*args) if target is FORWARD else _backward(*args)


def _cuts(x: DTensor, weight: DTensor, out: DTensor | None, transposed: bool, groups: int) -> list[str]:
    """What each axis cuts, by how operands are held; nothing that does not divide."""
    sizes = {"samples": x.shape[0], "outputs": weight.shape[0], "inputs": x.shape[1], "groups": groups}
    parts = dict.fromkeys(sizes, 1)
    found = []
    for i in range(x.device_mesh.ndim):
        held = [t.placements[i] if t is not None else WHOLE for t in (x, weight, out)]
        cut = ""
        if Shard(0) in (held[0], held[2]):
            cut = "samples"
        elif not transposed and (held[2] == Shard(1) or held[1] == Shard(0)):
            cut = "outputs" if groups == 1 else "groups"
        elif not transposed and groups == 1 and Shard(1) in held[:2]:
            cut = "inputs"
        if cut and sizes[cut] % (parts[cut] * x.device_mesh.size(i)):
            cut = ""
        if cut:
            parts[cut] *= x.device_mesh.size(i)
        found.append(cut)
    return found


def _local(value: Any, cuts: Sequence[str], which: int) -> Any:
    if not isinstance(value, DTensor):
        return value
    return value.redistribute(value.device_mesh, [CUTS[cut][which] for cut in cuts]).to_local()


def _of_group(groups: int, cuts: Sequence[str], mesh: Any) -> int:
    return groups // math.prod(mesh.size(i) for i, cut in enumerate(cuts) if cut == "groups")


def _forward(
    x: DTensor, weight: DTensor, bias: Any, stride: Any, padding: Any, dilation: Any, transposed: bool, more: Any, groups: int
) -> DTensor:
    mesh, cuts = x.device_mesh, _cuts(x, weight, None, transposed, groups)
    here = [_local(value, cuts, i) for i, value in enumerate((x, weight, bias))]
    if bias is not None and any(cut == "inputs" and mesh.get_local_rank(i) for i, cut in enumerate(cuts)):
        here[2] = torch.zeros_like(here[2])  # one part of the sum has it
    out = FORWARD(*here, stride, padding, dilation, transposed, more, _of_group(groups, cuts, mesh))
    return DTensor.from_local(out, mesh, [CUTS[cut][3] for cut in cuts], run_check=False)


def _backward(
    grad: DTensor, x: DTensor, weight: DTensor, bias_sizes: Any, stride: Any, padding: Any, dilation: Any, transposed: bool,
    more: Any, groups: int, mask: Any,
) -> list[DTensor | None]:  # fmt: skip
    mesh, cuts = x.device_mesh, _cuts(x, weight, grad, transposed, groups)
    whole = grad.redistribute(mesh, [WHOLE if cut == "inputs" else CUTS[cut][3] for cut in cuts]).to_local()
    sizes = None if bias_sizes is None else [whole.shape[1]]
    n = _of_group(groups, cuts, mesh)
    outs = BACKWARD(
        whole, _local(x, cuts, 0), _local(weight, cuts, 1), sizes, stride, padding, dilation, transposed, more, n, mask
    )
    return [
        None if out is None else DTensor.from_local(out, mesh, [CUTS[cut][4 + i] for cut in cuts], run_check=False)
        for i, out in enumerate(outs)
    ]
