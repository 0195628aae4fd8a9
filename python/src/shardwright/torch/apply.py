"""A plan carried out: the step's graph over DTensors, on the processes of a mesh, with a redistribute at each border."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed
import torch.fx
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.utils import _pytree as pytree

import shardwright
from shardwright.torch.placements import placements

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from shardwright.torch.plan import Plan

# What is dense in one process may not be so in parts.
ANY_STRIDES = dict.fromkeys((torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default), torch.ops.aten.reshape.default)
CONVOLUTION = torch.ops.aten.convolution.default
CONVOLUTION_GRAD = torch.ops.aten.convolution_backward.default
ATTENTION = "scaled_dot_product"


class Applied:
    """A step under its plan. It is called with what the step is called with, the whole of it on every process, and returns
    what the step returns: numbers whole, other tensors as DTensors. Parameters, buffers and states of optimizers are DTensors,
    in `state` by the names of the plan; a call changes them as the step does.

    `borders`: "values" where every value is redistributed as planned, "arguments" where the plan has shardings that DTensor
    cannot say, so that its own rules decide about values in between. `whole`: ops for which DTensor has no rule, and how
    often: each process computes all of them."""

    def __init__(
        self, plan: Plan, mesh: DeviceMesh, values: Mapping[str, torch.Tensor], keys: Mapping[str, str]
    ) -> None:
        """`values` by the names of the plan's arguments; `keys`: the name that each key of the model's state_dict has there."""
        self._plan, self.mesh, self._keys = plan, mesh, dict(keys)
        self._graph = plan._traced.graph
        self._arguments = plan._traced.arguments
        self._names = plan._model.arguments
        self._wanted = [placements(n, s, plan.mesh) for n, s in plan.arguments.items()]
        self.state: dict[str, DTensor] = {
            name: self._placed(values[name].to(mesh.device_type), wanted)
            for name, argument, wanted in zip(self._names, self._arguments, self._wanted, strict=True)
            if argument.kind != "input"
        }
        self.whole: dict[str, int] = {}
        self._made, self._used = _borders(plan)
        self.borders = "values" if self._made else "arguments"
        self._last = _last_uses(self._graph.graph)

    def state_dict(self) -> dict[str, DTensor]:
        """By the keys that the model's own has: what torch.distributed.checkpoint saves and loads."""
        return {key: self.state[name] for key, name in self._keys.items()}

    def full_state_dict(self) -> dict[str, torch.Tensor]:
        """The same, gathered on every process: what the model's load_state_dict takes."""
        return {key: value.full_tensor() for key, value in self.state_dict().items()}

    def load_state_dict(self, values: Mapping[str, torch.Tensor]) -> None:
        """Of the keys of `state_dict`, whole on every process or DTensors; refused before anything changes where a key or a
        shape is another."""
        if set(values) != set(self._keys):
            odd = sorted(set(values) ^ set(self._keys))
            raise shardwright.InputError(f"{odd[0]} and {len(odd) - 1} more are in one of the two state_dicts alone")
        for key, value in values.items():
            _same(key, value, self.state[self._keys[key]])
        for key, value in values.items():
            name = self._keys[key]
            on_mesh = value if isinstance(value, DTensor) else self._replicated(value.clone().to(self.mesh.device_type))
            self.state[name] = on_mesh.redistribute(self.mesh, self.state[name].placements)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = [leaf for leaf in pytree.tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        inputs = [i for i, argument in enumerate(self._arguments) if argument.kind == "input"]
        if len(leaves) != len(inputs):
            raise TypeError(f"the plan is for {len(inputs)} tensors; got {len(leaves)}")
        for i, leaf in zip(inputs, leaves, strict=True):
            _same(self._names[i], leaf, self._arguments[i].value)
        given = dict(self.state)
        for i, leaf in zip(inputs, leaves, strict=True):
            given[self._names[i]] = self._placed(leaf.to(self.mesh.device_type), self._wanted[i])
        with torch.no_grad():
            outs = self._run([given[name] for name in self._names])
        updated = self._plan._traced.updated
        for i, value in zip(updated, outs, strict=False):
            self.state[self._names[i]] = self._to(value, self._wanted[i])
        results = iter(_whole_number(value) for value in outs[len(updated) :])
        leaves = [next(results) if moves else leaf for moves, leaf in self._plan._traced.out_leaves]
        return pytree.tree_unflatten(leaves, self._plan._traced.out_tree)

    # --- one op after the other

    def _run(self, given: Sequence[DTensor]) -> list[Any]:
        values: dict[torch.fx.Node, Any] = {}
        arguments = iter(given)
        for node in self._graph.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(arguments)
            elif node.op == "get_attr":
                values[node] = self._replicated(getattr(self._graph, str(node.target)).to(self.mesh.device_type))
            elif node.op == "call_function":
                values[node] = self._call(node, values)
            else:
                return [values[out] for out in node.args[0]]
            for done in self._last.get(node, ()):
                values[done] = None
        raise AssertionError("a graph without an end")

    def _call(self, node: torch.fx.Node, values: Mapping[torch.fx.Node, Any]) -> Any:
        if node.target is operator.getitem:
            return values[node.args[0]][node.args[1]]  # type: ignore[index]
        if str(node.target).startswith("profiler."):
            return None
        wanted = self._used.get(node.name, {})

        def value(x: Any) -> Any:
            if not isinstance(x, torch.fx.Node):
                return torch.device(self.mesh.device_type) if isinstance(x, torch.device) else x
            held = values[x]
            return self._to(held, wanted.get(x.name)) if isinstance(held, DTensor) else held

        args, kwargs = pytree.tree_map(value, (node.args, node.kwargs))
        made = self._made.get(node.name, ())
        outs = self._computed(node, args, kwargs)
        if isinstance(outs, (tuple, list)):
            return [self._to(o, made[i] if i < len(made) else None) for i, o in enumerate(outs)]
        return self._to(outs, made[0] if made else None)

    def _computed(self, node: torch.fx.Node, args: Any, kwargs: Any) -> Any:
        target: Callable[..., Any] = ANY_STRIDES.get(node.target, node.target)  # type: ignore[arg-type, assignment]
        tensors = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, DTensor)]
        if not tensors:
            return pytree.tree_map_only(torch.Tensor, self._replicated, target(*args, **kwargs))
        if ATTENTION in str(target):
            return self._of_heads(target, args, kwargs)
        if target in (CONVOLUTION, CONVOLUTION_GRAD):
            return self._of_samples(target, args)
        try:
            return target(*args, **kwargs)
        except (NotImplementedError, RuntimeError, ValueError, AssertionError):
            return self._by_all(target, args, kwargs)

    def _by_all(self, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Every process has all operands and computes all of it."""
        self.whole[str(target)] = self.whole.get(str(target), 0) + 1
        args, kwargs = pytree.tree_map_only(DTensor, lambda x: x.full_tensor(), (args, kwargs))
        return pytree.tree_map_only(torch.Tensor, self._replicated, target(*args, **kwargs))

    def _of_heads(self, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Attention where batch and heads are cut: each process its own."""
        tensors = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, DTensor)]
        masked = kwargs.get("attn_mask") is not None
        cut = [
            p if _cuts_all(p, tensors, self.mesh) and not masked else Replicate() for p in tensors[0].placements
        ]
        local = pytree.tree_map_only(DTensor, lambda x: x.redistribute(self.mesh, cut).to_local(), (args, kwargs))
        outs = target(*local[0], **local[1])
        return [DTensor.from_local(o, self.mesh, cut, run_check=False) for o in outs]

    def _of_samples(self, target: Callable[..., Any], args: Any) -> Any:
        """A convolution where samples are cut: each process its own. DTensor's rule takes any cut for one of space."""
        grad = target is CONVOLUTION_GRAD
        n = 2 if grad else 1  # operands that have samples
        cut = [p if _cuts_all(p, args[:n], self.mesh) and p.dim == 0 else Replicate() for p in args[0].placements]
        whole = [Replicate()] * len(cut)
        local = [
            a.redistribute(self.mesh, cut if i < n else whole).to_local() if isinstance(a, DTensor) else a
            for i, a in enumerate(args)
        ]
        outs = target(*local)
        if not grad:
            return DTensor.from_local(outs, self.mesh, cut, run_check=False)
        parts = [Partial() if isinstance(p, Shard) else p for p in cut]
        placed = (cut, parts, parts)
        return [
            None if o is None else DTensor.from_local(o, self.mesh, p, run_check=False)
            for o, p in zip(outs, placed, strict=True)
        ]

    # --- where tensors are

    def _replicated(self, value: torch.Tensor) -> DTensor:
        return DTensor.from_local(value.detach(), self.mesh, [Replicate()] * self.mesh.ndim, run_check=False)

    def _placed(self, value: torch.Tensor, wanted: Sequence[Any]) -> DTensor:
        return self._replicated(value.clone()).redistribute(self.mesh, wanted)

    def _to(self, value: Any, wanted: Sequence[Any] | None) -> Any:
        if not isinstance(value, DTensor) or wanted is None or tuple(value.placements) == tuple(wanted):
            return value
        if any(isinstance(p, Partial) and p != q for p, q in zip(wanted, value.placements, strict=True)):
            return value
        return value.redistribute(self.mesh, wanted)


def _cuts_all(placement: Any, tensors: Sequence[DTensor], mesh: DeviceMesh) -> bool:
    """Batch or heads, of every operand alike."""
    return type(placement) is Shard and placement.dim < 2 and all(x.shape[placement.dim] % mesh.size() == 0 for x in tensors)


def _whole_number(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) and not value.ndim else value


def _same(name: str, got: torch.Tensor, wanted: torch.Tensor) -> None:
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        raise shardwright.InputError(
            f"{name} is {got.dtype}{list(got.shape)}; the plan is for {wanted.dtype}{list(wanted.shape)}"
        )


def values_of(arguments: Sequence[Any], models: Mapping[str, torch.nn.Module], optimizers: Sequence[Any]) -> dict[str, torch.Tensor]:
    """What the arguments of a plan hold now; states of optimizers that have not begun are 0. Refused where a model is
    another one than was planned, or has no weights."""
    held: dict[str, torch.Tensor] = {}
    names: dict[int, str] = {}
    for prefix, model in models.items():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            held[prefix + name] = value.detach()
            names[id(value)] = prefix + name
    for i, optimizer in enumerate(optimizers):
        prefix = "optimizer." if len(optimizers) == 1 else f"optimizer.{i}."
        for parameter, state in optimizer.state.items():
            found = {k: v for k, v in state.items() if isinstance(v, torch.Tensor)}
            held |= {f"{prefix}{names.get(id(parameter), 'parameter')}.{k}": v for k, v in found.items()}
    values: dict[str, torch.Tensor] = {}
    for argument in arguments:
        if argument.kind == "input":
            continue
        value = held.get(argument.name)
        if value is None and argument.kind == "state":
            value = torch.zeros(argument.value.shape, dtype=argument.value.dtype)
        if value is None:
            raise shardwright.InputError(f"the model has no {argument.name}, of which the plan is; expected the model that was planned")
        _same(argument.name, value, argument.value)
        if value.is_meta:
            raise shardwright.InputError(f"{argument.name} has no data; expected a model with weights")
        values[argument.name] = value
    return values


def _last_uses(graph: torch.fx.Graph) -> dict[torch.fx.Node, list[torch.fx.Node]]:
    """What nobody reads behind a node."""
    last: dict[torch.fx.Node, torch.fx.Node] = {}
    for node in graph.nodes:
        for read in node.all_input_nodes:
            last[read] = node
    by_node: dict[torch.fx.Node, list[torch.fx.Node]] = {}
    for read, node in last.items():
        by_node.setdefault(node, []).append(read)
    return by_node


def _borders(plan: Plan) -> tuple[dict[str, list[Any]], dict[str, dict[str, Any]]]:
    """Placements of what each node of the graph gives, and of what it reads where they differ from that."""
    try:
        text = plan.emit("dtensor", uneven=True)
    except shardwright.Error:
        return {}, {}
    said: dict[str, Any] = {}
    exec(compile(text, "<plan>", "exec"), said)  # of our own making: MESH, ARGUMENTS, OUTPUTS, VALUES, USES
    made = {node: [said["VALUES"].get(v) for v in values] for node, values in plan._model.values.items()}
    used: dict[str, dict[str, Any]] = {}
    for node, reads in plan._model.reads.items():
        for (op, operand), read in reads.items():
            wanted = said["USES"].get((op, operand))
            if wanted is not None:
                used.setdefault(node, {}).setdefault(read, wanted)
    return made, used
