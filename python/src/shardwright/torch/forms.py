"""A plan in forms of others: AutoParallel's saved placements, types of spmd_types, and the calls of PyTorch that do what it says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.tensor import Partial, Replicate, Shard

import shardwright
from shardwright.torch.apply import borders, said_of
from shardwright.torch.placements import dims_of_sharding, placements
from shardwright.torch.recompute import layers
from shardwright.torch.trace import is_backward, scope_of

if TYPE_CHECKING:
    from shardwright.torch.plan import Plan


class _Values:
    """Placements of what the nodes of the traced graph give and read, by names of nodes."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.graph = plan, plan._traced.graph.graph
        self.made, used = borders(plan._model, said_of(plan))
        maker: dict[str, str] = {}
        for node, results in plan._model.values.items():
            for value in results:
                maker.setdefault(value, node)
        self.reads = {node: {maker[v] for v in reads.values()} for node, reads in plan._model.reads.items()}
        self.used = {node: {maker[v]: p for v, p in wanted.items()} for node, wanted in used.items()}
        if not self.made:
            plan.emit("dtensor", uneven=True)  # says what DTensor cannot
        self.arguments = {
            node.name: (argument, name)
            for node, argument, name in zip(
                (n for n in self.graph.nodes if n.op == "placeholder"), plan._traced.arguments, plan._model.arguments, strict=True
            )
        }
        for node, (_, name) in self.arguments.items():
            self.made[node] = [list(placements(name, plan.arguments[name], plan.mesh))]

    def forward(self) -> Iterator[torch.fx.Node]:
        for node in self.graph.nodes:
            if node.op == "call_function" and not is_backward(node):
                yield node

    def as_read(self, node: str, read: str) -> Any:
        return self.used.get(node, {}).get(read) or next(iter(self.made.get(read, ())), None)


# --- AutoParallel ----------------------------------------------------------------------------------------------------


def autoparallel(plan: Plan) -> str:
    """As its save_solution writes: what each node of the graph gives. Nodes are those of our trace."""
    values = _Values(plan)

    def spelled(made: list[Any]) -> str:
        texts = ["None" if p is None else "".join(map(str, p)) for p in made]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    said = {node.name: spelled(values.made[node.name]) for node in values.graph.nodes if any(values.made.get(node.name, ()))}
    axes = plan.mesh.axes
    form = {"version": 1, "mesh_shape": list(axes.values()), "mesh_dim_names": list(axes), "placements": said}
    return json.dumps(form, indent=2) + "\n"


# --- spmd_types ------------------------------------------------------------------------------------------------------


def spmd_types(plan: Plan) -> str:
    """Python: the type of each argument by its name, on each axis R (the gradient is a sum over it), I (it is the same there),
    S(dim), or, where several axes cut one dim, V and a PartitionSpec."""
    values = _Values(plan)
    node_of = {name: node for node, (_, name) in values.arguments.items()}
    lines = ["from spmd_types import I, R, S, V, PartitionSpec", "from spmd_types.types import SpmdType", "", "TYPES = {"]
    for name, sharding in plan.arguments.items():
        dims = dims_of_sharding(sharding)
        several = any(len(axes) > 1 for axes in dims)
        types = {axis: _whole_on(values, node_of[name], list(plan.mesh.axes).index(axis)) for axis in plan.mesh.axes}
        types |= {axis: "V" if several else f"S({i})" for i, axes in enumerate(dims) for axis in axes}
        said = "{" + ", ".join(f'"{axis}": {t}' for axis, t in types.items()) + "}"
        if several:
            parts = (repr(tuple(axes)) if len(axes) > 1 else f'"{axes[0]}"' if axes else "None" for axes in dims)
            said += f", PartitionSpec({', '.join(parts)})".replace("'", '"')
        lines.append(f'    "{name}": SpmdType({said}),')
    return "\n".join([*lines, "}", ""])


def _whole_on(values: _Values, argument: str, axis: int) -> str:
    """R where what is made of it is cut by the axis, so that each device has a part of its gradient."""
    if values.arguments[argument][0].kind != "parameter":
        return "I"
    for node in values.forward():
        made = next(iter(values.made.get(node.name, ())), None)
        if made and argument in values.reads.get(node.name, ()) and not made[axis].is_replicate():
            return "R"
    return "I"


# --- parallelize_module and fully_shard ------------------------------------------------------------------------------


def parallelize(plan: Plan) -> str:
    """Python: a function `parallelize(model, mesh)` of PyTorch's own calls, where they do what the plan does; else an InputError
    that names what they do not."""
    if len(plan._step.models) != 1:
        raise shardwright.InputError(f"the step has {len(plan._step.models)} models; expected one")
    values = _Values(plan)
    roles = {axis: _role(values, i, axis) for i, axis in enumerate(plan.mesh.axes)}
    sharded, replicated, tensor = ([a for a, role in roles.items() if role == of] for of in ("fully_shard", "replicate", "tensor"))
    if len(tensor) > 1 or [*replicated, *sharded, *tensor] != list(roles) or (len(sharded) > 1 and replicated):
        raise shardwright.InputError(
            f"axes do {', '.join(f'{role} ({a})' for a, role in roles.items())}; PyTorch's calls take them in the order replicate, "
            "fully_shard, tensor, with one axis for the last"
        )
    model = next(iter(plan._step.models.values()))
    body: list[str] = []
    if tensor:
        styles = _styles(values, list(plan.mesh.axes).index(tensor[0]), tensor[0], model)
        body += [f'    parallelize_module(model, mesh["{tensor[0]}"], {{']
        body += [f'        "{path}": {style},' for path, style in styles.items()] + ["    })"]
    if sharded:
        axes = ", ".join(f'"{a}"' for a in [*replicated, *sharded])  # of two, those along the first hold the same
        whole = f"mesh[{axes}]" + ("._flatten()" if len(sharded) > 1 else "")
        body += [f'    fully_shard(model.get_submodule("{path}"), mesh={whole})' for path in layers(model, (torch.nn.ModuleList,))]
        body.append(f"    fully_shard(model, mesh={whole})")
    elif replicated:
        axes = ", ".join(f'"{a}"' for a in replicated)
        body.append(f"    replicate(model, device_mesh=mesh[{axes}]" + ("._flatten())" if len(replicated) > 1 else ")"))
    head = ["from torch.distributed._composable.replicate import replicate"] if replicated and not sharded else []
    head += ["from torch.distributed.fsdp import fully_shard"] if sharded else []
    if tensor:
        head.append("from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module")
        head.insert(0, "from torch.distributed.tensor import Replicate")
    axes = ", ".join(f"{a}={n}" for a, n in plan.mesh.axes.items())
    said = [f'    """On a mesh of {axes}; each process has its part of the batch."""']
    return "\n".join([*head, "", "", "def parallelize(model, mesh):", *said, *(body or []), "    return model", ""])


def _role(values: _Values, axis: int, name: str) -> str:
    """fully_shard, replicate, tensor; an error where an axis does what none of them does."""
    parameters = {n: p for n, p in values.arguments.items() if p[0].kind == "parameter" and p[0].value.dim()}
    inputs = [values.made[n][0][axis] for n, (argument, _) in values.arguments.items() if argument.kind == "input"]
    rest = {n: values.made[n][0][axis] for n in parameters}
    if all(_cuts(p, 0) for p in inputs):
        _check_batch(values, axis, name, set(parameters))
        if all(p.is_replicate() for p in rest.values()):
            return "replicate"
        odd = next((n for n, p in rest.items() if not _cuts(p, 0)), None)
        if odd is None:
            return "fully_shard"
        raise shardwright.InputError(f"{parameters[odd][1]} is not cut along its first dim by {name}, as fully_shard does")
    odd_input = next((i for i, p in enumerate(inputs) if not p.is_replicate()), None)
    if odd_input is not None:
        raise shardwright.InputError(f"{name} cuts some inputs by their first dim and others not; PyTorch's calls do neither")
    return "tensor"


def _cuts(placement: Any, dim: int) -> bool:
    return not placement.is_replicate() and not placement.is_partial() and placement.dim == dim


def _check_batch(values: _Values, axis: int, name: str, parameters: set[str]) -> None:
    """What comes of inputs is cut along its first dim, but for whole numbers, and parameters are whole where they are used."""
    moving = {n for n, (argument, _) in values.arguments.items() if argument.kind == "input"}
    for node in values.forward():
        reads = values.reads.get(node.name, ())
        scope = scope_of(node)
        if not any(n.name in moving for n in node.all_input_nodes):
            continue
        moving.add(node.name)
        for read in reads:
            used = values.as_read(node.name, read)
            if read in parameters and used and not used[axis].is_replicate():
                raise shardwright.InputError(f"{values.arguments[read][1]} is cut by {name} where it is used, in {scope}")
        value = node.meta.get("val")
        made = next(iter(values.made.get(node.name, ())), None)
        whole = isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() and made and not _cuts(made[axis], 0)
        if whole and value.numel() > 1:
            raise shardwright.InputError(f"{node.name} of {scope or 'the step'} is not cut along the batch by {name}, as data parallelism does")


def _styles(values: _Values, axis: int, name: str, model: torch.nn.Module) -> dict[str, str]:
    """ColwiseParallel or RowwiseParallel of each module whose weight the axis cuts, at rest and where it is used."""
    styles: dict[str, str] = {}
    node_of = {argument.name: node for node, (argument, _) in values.arguments.items()}
    for path, module in model.named_modules():
        cut: dict[str, int] = {}
        for key, _ in module.named_parameters(recurse=False):
            node = node_of[f"{path}.{key}" if path else key]
            placed = values.made[node][0][axis]
            for reader in values.forward():
                if node in values.reads.get(reader.name, ()) and scope_of(reader) == path:
                    if values.as_read(reader.name, node)[axis] != placed:
                        raise shardwright.InputError(f"{path}.{key} is used otherwise than {name} cuts it, in {reader.name}")
            if not placed.is_replicate():
                cut[key] = placed.dim
        if not cut:
            continue
        table = isinstance(module, torch.nn.Embedding)
        by_columns = cut.get("weight") == (1 if table else 0)
        if not isinstance(module, (torch.nn.Linear, torch.nn.Embedding)) or "weight" not in cut:
            raise shardwright.InputError(f"{path} is cut by {name}; parallelize_module cuts weights of Linear and Embedding alone")
        if not table and getattr(module, "bias", None) is not None and ("bias" in cut) != by_columns:
            raise shardwright.InputError(f"{path} has a weight that {name} cuts otherwise than its bias; parallelize_module cuts columns of both")
        styles[path] = ("ColwiseParallel" if by_columns else "RowwiseParallel") + _layouts(values, axis, path, by_columns)
    return styles


def _layouts(values: _Values, axis: int, path: str, colwise: bool) -> str:
    """What the module reads and gives, where it is not what its style does anyway."""
    inside = [n for n in values.forward() if scope_of(n) == path and n.name in values.made]
    names = {n.name for n in inside}
    readers = [n for n in values.forward() if n.name not in names and names & set(values.reads.get(n.name, ()))]
    outs = [values.as_read(n.name, r)[axis] for n in readers for r in values.reads[n.name] if r in names]
    if any(type(o) is not type(outs[0]) for o in outs):
        raise shardwright.InputError(f"what reads {path} wants it in several ways, of which parallelize_module has one")
    if outs and not colwise and not outs[0].is_replicate():
        raise shardwright.InputError(f"{path} gives parts by {outs[0]}, and RowwiseParallel here the whole")
    if outs and colwise and outs[0].is_replicate():
        return "(output_layouts=Replicate())"
    return "()"


FORMS: dict[str, Callable[[Plan], str]] = {"autoparallel": autoparallel, "spmd_types": spmd_types, "parallelize": parallelize}
