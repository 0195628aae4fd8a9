"""A plan carried out: the step's graph over DTensors, on the processes of a mesh, with a redistribute at each border."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch
import torch.distributed
import torch.fx
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard
from torch.distributed.tensor._dtensor_spec import DTensorSpec
from torch.distributed.tensor._redistribute import redistribute_local_tensor
from torch.utils import _pytree as pytree

import shardwright
from shardwright.torch import _convolution, _local, _parts
from shardwright.torch._again import Written, written
from shardwright.torch._routes import even, moved, routes_of
from shardwright.torch._watch import Seen, Watch, Where
from shardwright.torch.placements import placements

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh

    from shardwright.torch.convert import Model
    from shardwright.torch.plan import Plan

T = TypeVar("T")
Copy = tuple[str, tuple[Any, ...]]  # of a value of the plan, by its placements


class Read(NamedTuple):
    """How a node reads a value: as that copy of what a node gives, permuted."""

    source: torch.fx.Node
    copy: Copy
    permutation: tuple[int, ...] | None = None
    other: bool = True  # than what the node gives: once it is there, that is needed no more


class Parts(NamedTuple):
    """A node done as the ops of the model that it is: what they read of other nodes, by op and operand, and what of it all the node
    gives; None: what none of the model's ops reads."""

    ops: list[_parts.Op]
    reads: dict[tuple[str, int], Read]
    results: list[tuple[str, tuple[int, ...] | None] | None]  # a value, permuted


# What is dense in one process may not be so in parts.
ANY_STRIDES = dict.fromkeys((torch.ops.aten.view.default, torch.ops.aten._unsafe_view.default), torch.ops.aten.reshape.default)


class Applied:
    """A step under its plan. It is called with what the step is called with, whole on every process or as `shard` gives it, and
    returns what the step returns: numbers whole, other tensors as DTensors. Parameters, buffers and states of optimizers are DTensors,
    in `state` by the names of the plan; a call changes them as the step does.

    `borders`: "values" where every value is redistributed as planned, "arguments" where the plan has shardings that DTensor
    cannot say, so that its own rules decide about values in between. `whole`: ops for which DTensor has no rule, and how
    often: each process computes all of them."""

    def __init__(
        self, plan: Plan, mesh: DeviceMesh, values: Mapping[str, torch.Tensor], keys: Mapping[str, str]
    ) -> None:
        """`values` by the names of the plan's arguments; `keys`: the name that each key of the model's state_dict has there."""
        self._plan, self.mesh, self._keys = plan, mesh, dict(keys)
        self._step = written(plan)
        self._graph = self._step.traced.graph
        self._arguments = plan._traced.arguments
        self._names = plan._model.arguments
        self._wanted = [placements(n, s, plan.mesh) for n, s in plan.arguments.items()]
        self.state: dict[str, DTensor] = {
            name: self._placed(values[name].to(mesh.device_type), wanted)
            for name, argument, wanted in zip(self._names, self._arguments, self._wanted, strict=True)
            if argument.kind != "input"
        }
        self.whole: dict[str, int] = {}
        self.seen: Seen | None = None  # of the first step
        self._watch: Watch | None = None
        self._said = said_of(plan)
        self._made, used = borders(self._step.model, self._said)
        self.borders = "values" if self._made else "arguments"
        self._reads = _reads(self._step, used)
        self._parts = _nodes_in_parts(self._step, self._said)
        self._operands = _operands(self._step, self._said)
        self._routes = routes_of(plan)
        more = {node: [*parts.reads.values()] for node, parts in self._parts.items()}
        for (node, _), reads in self._operands.items():
            more.setdefault(node, []).extend(reads.values())
        self._last, self._last_copies = _last_uses(self._graph.graph, self._reads, more)
        self._copied = {copy for of in self._last_copies.values() for copy in of}
        self._in_place = _written_in_place(self._graph.graph, plan._traced.updated)

    def state_dict(self) -> dict[str, DTensor]:
        """By the keys that the model's own has: what torch.distributed.checkpoint saves and loads."""
        return {key: self.state[name] for key, name in self._keys.items()}

    def full_state_dict(self) -> dict[str, torch.Tensor]:
        """Copies of the same, gathered on every process: what the model's load_state_dict takes."""
        return {key: _whole_copy(value) for key, value in self.state_dict().items()}

    def load_state_dict(self, values: Mapping[str, torch.Tensor]) -> None:
        """Of the keys of `state_dict`, whole on every process or DTensors; refused before anything changes where a key or a
        shape is another."""
        if set(values) != set(self._keys):
            odd = sorted(set(values) ^ set(self._keys))
            raise shardwright.InputError(f"{odd[0]} and {len(odd) - 1} more are in one of the two state_dicts alone")
        for key, value in values.items():
            _same(key, value, self.state[self._keys[key]])
        for key, value in values.items():
            state = self.state[self._keys[key]]
            on_mesh = value if isinstance(value, DTensor) else self._replicated(value.to(self.mesh.device_type))
            state._local_tensor.copy_(on_mesh.redistribute(self.mesh, state.placements)._local_tensor)

    def shard(self, *args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """(args, kwargs) of a call, each tensor as a DTensor, cut as planned: this process holds no more of it."""
        inputs, kwargs = iter(self._inputs(args, kwargs)), {key: kwargs[key] for key in self._plan._step.kwargs}
        wanted = iter([w for w, a in zip(self._wanted, self._arguments, strict=True) if a.kind == "input"])
        return pytree.tree_map_only(torch.Tensor, lambda _: self._input(next(inputs), next(wanted)), (args, kwargs))

    def _input(self, value: torch.Tensor, wanted: Sequence[Any]) -> DTensor:
        on_mesh = value if isinstance(value, DTensor) else self._replicated(value.to(self.mesh.device_type))
        return on_mesh.redistribute(self.mesh, wanted)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves = self._inputs(args, kwargs)
        watch = Watch(Seen(), self._plan._classes) if self.seen is None else None
        with watch or contextlib.nullcontext(), torch.no_grad():
            self._watch = watch
            try:
                result = self._stepped(leaves)
            finally:
                self._watch = None
        if watch:
            self.seen = watch.seen
        return result

    def _inputs(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
        """Tensors of a call, in the order of the plan; refused where it is not called as it was planned."""
        step = self._plan._step
        if set(kwargs) != set(step.kwargs) or len(args) != len(step.args):
            raise TypeError(
                f"the plan is for a call with {len(step.args)} arguments by position and {sorted(step.kwargs)} by name; got "
                f"{len(args)} and {sorted(kwargs)}"
            )
        given, tree = pytree.tree_flatten((args, {key: kwargs[key] for key in step.kwargs}))
        planned, as_planned = pytree.tree_flatten((step.args, step.kwargs))
        if tree != as_planned:
            raise TypeError(f"the arguments are nested as {tree}; the plan is for {as_planned}")
        names = (name for name, a in zip(self._names, self._arguments, strict=True) if a.kind == "input")
        tensors = []
        for leaf, was in zip(given, planned, strict=True):
            if isinstance(was, torch.Tensor) != isinstance(leaf, torch.Tensor):
                raise TypeError(f"an argument is {type(leaf).__name__}; the plan is for {type(was).__name__}")
            if isinstance(leaf, torch.Tensor):
                _same(next(names), leaf, was)
                tensors.append(leaf)
            elif leaf != was:
                raise shardwright.InputError(f"an argument is {leaf!r}; the plan is for {was!r}")
        return tensors

    def _stepped(self, leaves: Sequence[torch.Tensor]) -> Any:
        given, inputs = [], iter(leaves)
        for name, argument, wanted in zip(self._names, self._arguments, self._wanted, strict=True):
            if argument.kind != "input":
                given.append(self.state[name])
                self._note(given[-1].to_local(), "optimizer state" if argument.kind == "state" else "parameters")
            else:
                leaf = next(inputs)
                self._note(leaf.to_local() if isinstance(leaf, DTensor) else leaf, "inputs")
                self._at(Where(name, "", tuple(wanted), tuple(getattr(leaf, "placements", (Replicate(),) * self.mesh.ndim))))
                given.append(self._input(leaf, wanted))
        nodes, outs = self._run(given)
        updated = self._plan._traced.updated
        for i, node, value in zip(updated, nodes, outs, strict=False):
            if value is not self.state[self._names[i]]:
                self.state[self._names[i]] = self._delivered(node, value, self._wanted[i])
        n = len(updated)
        results = iter([self._result(node, value) for node, value in zip(nodes[n:], outs[n:], strict=True)])
        leaves = [next(results) if moves else leaf for moves, leaf in self._plan._traced.out_leaves]
        return pytree.tree_unflatten(leaves, self._plan._traced.out_tree)

    def _result(self, node: torch.fx.Node, value: Any) -> Any:
        """Numbers whole."""
        self._at(Where(self._step.value_of(node), "", (Replicate(),) * self.mesh.ndim, tuple(getattr(value, "placements", ()))))
        return value.full_tensor() if isinstance(value, DTensor) and not value.ndim else value

    def _at(self, where: Where) -> None:
        if self._watch:
            self._watch.where = where

    def _note(self, value: torch.Tensor, what: str) -> None:
        if self._watch:
            self._watch.holds(value, what)

    # --- one op after the other

    def _run(self, given: list[DTensor]) -> tuple[list[torch.fx.Node], list[Any]]:
        values: dict[torch.fx.Node, Any] = {}
        copies: dict[Copy, DTensor] = {}
        arguments = iter(given)
        for node in self._graph.graph.nodes:
            if node.op == "placeholder":
                values[node] = next(arguments)
            elif node.op == "get_attr":
                values[node] = self._replicated(getattr(self._graph, str(node.target)).to(self.mesh.device_type))
            elif node.op == "call_function":
                values[node] = self._call(node, values, copies)
                given.clear()
            else:
                return list(node.args[0]), [values[out] for out in node.args[0]]
            if node in self._in_place:
                values[node] = self._written(self._in_place[node], node, values[node])
            for done in self._last.get(node, ()):
                values[done] = None
            for copy in self._last_copies.get(node, ()):
                copies.pop(copy, None)
        raise AssertionError("a graph without an end")

    def _call(self, node: torch.fx.Node, values: Mapping[torch.fx.Node, Any], copies: dict[Copy, DTensor]) -> Any:
        if node.target is operator.getitem:
            return values[node.args[0]][node.args[1]]  # type: ignore[index]
        if str(node.target).startswith("profiler."):
            return None

        def value(x: Any) -> Any:
            if not isinstance(x, torch.fx.Node):
                return torch.device(self.mesh.device_type) if isinstance(x, torch.device) else x
            read = self._reads.get((node, x))
            return self._read(read, values, copies) if read else values[x]

        if node in self._parts:
            try:
                return self._in_parts(node, self._parts[node], values, copies)
            except _parts.Not:
                pass
        if node.target is _convolution.BACKWARD:
            outs = self._gradients(node, values, copies)
        else:
            args, kwargs = pytree.tree_map(value, (node.args, node.kwargs))
            self._at(Where(self._step.value_of(node), str(node.target)))
            outs = self._computed(node, args, kwargs)
        made = self._made.get(node.name, ())
        names = self._step.model.values.get(node.name, ())
        if isinstance(outs, (tuple, list)):
            placed = [self._to(o, made[i] if i < len(made) else None, names[i] if i < len(names) else "") for i, o in enumerate(outs)]
            return [_as(v, like) for v, like in zip(placed, node.meta["val"], strict=True)]
        return self._to(outs, made[0] if made else None, names[0] if names else "")

    def _gradients(self, node: torch.fx.Node, values: Mapping[torch.fx.Node, Any], copies: dict[Copy, DTensor]) -> list[Any]:
        """Of a convolution, each of operands as the plan reads them for it."""
        outs: list[Any] = []
        args = [*(values[x] for x in node.args[:3]), *node.args[3:]]  # type: ignore[index]
        for i, wanted in enumerate(node.args[-1]):  # type: ignore[arg-type]
            reads = self._operands.get((node, i), {})
            for k, x in enumerate(node.args[:3]):
                args[k] = self._read(reads[x], values, copies) if x in reads else args[k]  # type: ignore[index]
            self._at(Where(self._step.value_of(node), str(node.target)))
            outs.append(_convolution.gradient(i, args) if wanted else None)
        return outs

    def _in_parts(self, node: torch.fx.Node, parts: Parts, values: Mapping[torch.fx.Node, Any], copies: dict[Copy, DTensor]) -> Any:
        """As the ops that the node is, each on this process's parts."""
        last = {name: op.name for op in parts.ops for name in op.inputs}
        kept = {result[0] for result in parts.results if result}
        made: dict[str, DTensor] = {}

        def read(op: _parts.Op, i: int) -> Any:
            name, wanted = op.inputs[i], self._said["USES"].get((op.name, i))
            if name not in made:
                return self._read(parts.reads[op.name, i], values, copies)
            key = (name, tuple(wanted or ()))
            if key in copies:
                return copies[key]
            shared = key in self._copied  # with readers of what the node gives
            self._at(Where(name, "", key[1], tuple(made[name].placements)) if shared else Where(name, str(node.target)))
            found = self._to(made[name], wanted, name)
            if shared:
                copies[key] = found
            return found

        for op in parts.ops:
            operands = [read(op, i) for i in range(len(op.inputs))]
            self._at(Where(op.name, str(node.target)))
            placed = self._said["VALUES"][op.name]
            made[op.name] = self._to(_parts.done(op, operands, placed, self.mesh), placed, op.name)
            del operands
            for name in op.inputs:
                if last[name] == op.name and name not in kept:
                    made.pop(name, None)
        several = isinstance(node.meta["val"], (tuple, list))
        outs: list[Any] = []
        for result, like in zip(parts.results, node.meta["val"] if several else [node.meta["val"]], strict=True):
            if result is None:  # nobody asks what it holds
                outs.append(None if like is None else self._replicated(torch.zeros(like.shape, dtype=like.dtype, device=self.mesh.device_type)))
                continue
            name, permutation = result
            value = _parts.stored(made[name]) if name in made else self._read(parts.reads[name, -1], values, copies)
            outs.append(value if permutation is None else value.permute(permutation))
        return outs if several else outs[0]

    def _read(self, read: Read, values: Mapping[torch.fx.Node, Any], copies: dict[Copy, DTensor]) -> Any:
        """One copy for all that read the value so."""
        held = copies.get(read.copy)
        if held is None:
            held = values[read.source]
            if not isinstance(held, DTensor):
                return held
            if self._watch:
                self._watch.seen.sources.setdefault(read.copy, tuple(held.placements))
            if read.other or not _stays(held, read.copy[1]):
                self._at(Where(read.copy[0], "", read.copy[1], tuple(held.placements)))
                held = copies[read.copy] = self._to(held, read.copy[1], read.copy[0])
        return held if read.permutation is None else held.permute(read.permutation)

    def _written(self, i: int, node: torch.fx.Node, value: DTensor) -> DTensor:
        """The next value of argument i, over the one that nobody reads any more."""
        state = self.state[self._names[i]]
        if len(node.users) > 1 and tuple(value.placements) != tuple(state.placements):
            return value
        value = self._delivered(node, value, self._wanted[i])
        state._local_tensor.copy_(value._local_tensor)
        return state

    def _delivered(self, node: torch.fx.Node, value: DTensor, wanted: Sequence[Any]) -> DTensor:
        name = self._step.value_of(node)
        self._at(Where(name, "", tuple(wanted), tuple(value.placements)))
        return self._to(value, wanted, name)

    def _computed(self, node: torch.fx.Node, args: Any, kwargs: Any) -> Any:
        target: Callable[..., Any] = ANY_STRIDES.get(node.target, node.target)  # type: ignore[arg-type, assignment]
        tensors = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, DTensor)]
        if not tensors:
            return pytree.tree_map_only(torch.Tensor, self._replicated, target(*args, **kwargs))
        if _local.ATTENTION in str(target):
            return _local.attention(target, args, kwargs)
        if target is _local.NORM_GRADIENTS:
            return _local.norm_gradients(*args)
        if target is _convolution.FORWARD:
            return _convolution.convolved(*args)
        try:
            return target(*args, **kwargs)
        except (NotImplementedError, RuntimeError, ValueError, AssertionError):
            return self._by_all(target, args, kwargs)

    def _by_all(self, target: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """Every process has all operands and computes all of it."""
        self.whole[str(target)] = self.whole.get(str(target), 0) + 1
        args, kwargs = pytree.tree_map_only(DTensor, lambda x: x.full_tensor(), (args, kwargs))
        return pytree.tree_map_only(torch.Tensor, self._replicated, target(*args, **kwargs))

    # --- where tensors are

    def _replicated(self, value: torch.Tensor) -> DTensor:
        return DTensor.from_local(value.detach(), self.mesh, [Replicate()] * self.mesh.ndim, run_check=False)

    def _placed(self, value: torch.Tensor, wanted: Sequence[Any]) -> DTensor:
        return self._replicated(value.clone()).redistribute(self.mesh, wanted)

    def _to(self, value: Any, wanted: Sequence[Any] | None, name: str) -> Any:
        """By the plan's route for the value of that name, where it has one."""
        if not isinstance(value, DTensor) or wanted is None or _stays(value, wanted):
            return value
        route = self._routes.get((name, tuple(value.placements), tuple(wanted)))
        if route and even(value.shape, value.placements, self.mesh) and even(value.shape, wanted, self.mesh):
            return _parts.made_of(moved(value._local_tensor, route, self.mesh), wanted, value.shape, self.mesh)
        return _redistributed(value, wanted)


def _as(value: Any, like: Any) -> Any:
    """In the dtype that the graph has."""
    return value.to(like.dtype) if isinstance(value, DTensor) and value.dtype != like.dtype else value


def _whole_copy(value: DTensor) -> torch.Tensor:
    whole = value.full_tensor()
    return whole.clone() if whole.data_ptr() == value.to_local().data_ptr() else whole


def _stays(value: DTensor, wanted: Sequence[Any]) -> bool:
    """Is it so, or is it of other parts, which DTensor turns into no others?"""
    placed = list(zip(wanted, value.placements, strict=True))
    return all(p == q for p, q in placed) or any(isinstance(p, Partial) and q.is_partial() and p != q for p, q in placed)


def _redistributed(value: DTensor, wanted: Sequence[Any]) -> DTensor:
    """DTensor's own method makes no parts of sums of what is none; what it does by makes them."""
    if not any(isinstance(p, Partial) and p != q for p, q in zip(wanted, value.placements, strict=True)):
        return value.redistribute(value.device_mesh, wanted)
    spec = DTensorSpec(value.device_mesh, tuple(wanted), tensor_meta=value._spec.tensor_meta)
    return DTensor(redistribute_local_tensor(value._local_tensor, value._spec, spec), spec, requires_grad=False)


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
    known = {argument.name for argument in arguments}
    for name in held.keys() - known:
        raise shardwright.InputError(f"the model has {name}, of which the plan knows nothing; expected the model that was planned")
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


def _reads(step: Written, used: Mapping[str, Mapping[str, Any]]) -> dict[tuple[torch.fx.Node, torch.fx.Node], Read]:
    """How nodes read others, where the plan says it. A model's op reads what a transpose is of."""
    found: dict[tuple[torch.fx.Node, torch.fx.Node], Read] = {}
    by_value: dict[str, torch.fx.Node] = {}
    for node in step.traced.graph.graph.nodes:
        wanted = used.get(node.name, {})
        for x in node.all_input_nodes if wanted else ():
            name = step.value_of(x)
            source, permutation = step.model.sources.get(name, (name, None))
            if name in wanted:
                found[node, x] = Read(x, (name, tuple(wanted[name])), None)
            elif source in wanted:
                found[node, x] = Read(by_value[source], (source, tuple(wanted[source])), permutation)
        by_value.setdefault(step.value_of(node), node)
    return found


def _last_uses(
    graph: torch.fx.Graph, reads: Mapping[tuple[torch.fx.Node, torch.fx.Node], Read], more: Mapping[torch.fx.Node, list[Read]]
) -> tuple[dict[torch.fx.Node, list[torch.fx.Node]], dict[torch.fx.Node, list[Copy]]]:
    """What nobody reads behind a node: values, and copies of them."""
    last: dict[torch.fx.Node, torch.fx.Node] = {}
    last_copies: dict[Copy, torch.fx.Node] = {}
    for node in graph.nodes:  # of a copy the first reader makes it
        last[node] = node
        last.update({x: node for x in node.all_input_nodes if (node, x) not in reads})
        read_here = [reads[node, x] for x in node.all_input_nodes if (node, x) in reads]
        for read in [*read_here, *more.get(node, ())]:
            if not read.other or read.copy not in last_copies:
                last[read.source] = node
            last_copies[read.copy] = node
    return _by_value(last), _by_value(last_copies)


def _by_value(of: Mapping[T, torch.fx.Node]) -> dict[torch.fx.Node, list[T]]:
    turned: dict[torch.fx.Node, list[T]] = {}
    for key, value in of.items():
        turned.setdefault(value, []).append(key)
    return turned


def _may_alias(node: torch.fx.Node) -> bool:
    """What it gives may be a view of what it reads."""
    if node.op != "call_function" or node.target is operator.getitem or node.target in ANY_STRIDES:
        return node.op == "call_function"
    schema = getattr(node.target, "_schema", None)
    return schema is None or any(r.alias_info is not None for r in schema.returns)


def _written_in_place(graph: torch.fx.Graph, updated: Sequence[int]) -> dict[torch.fx.Node, int]:
    """Nodes that give the next value of an argument when nobody reads that, or a view of it, any more; and which."""
    nodes = list(graph.nodes)
    position = {node: i for i, node in enumerate(nodes)}
    placeholders = [node for node in nodes if node.op == "placeholder"]
    outs = list(nodes[-1].args[0])  # type: ignore[arg-type]
    views_of: dict[torch.fx.Node, set[torch.fx.Node]] = {p: {p} for p in placeholders}  # the placeholders that a node may be of
    last = dict.fromkeys(placeholders, 0)
    for node in nodes:
        of = set().union(*(views_of.get(read, ()) for read in node.all_input_nodes))
        last.update(dict.fromkeys(of, position[node]))
        if _may_alias(node) and of:
            views_of[node] = of
    return {
        new: i
        for i, new in zip(updated, outs, strict=False)
        if outs.count(new) == 1 and placeholders[i] not in views_of.get(new, ())
        and last[placeholders[i]] <= position[new]
    }  # fmt: skip


def said_of(plan: Plan) -> dict[str, Any]:
    """ARGUMENTS, VALUES and USES of the plan's placements; empty where no placement says them."""
    said: dict[str, Any] = {"ARGUMENTS": {}, "VALUES": {}, "USES": {}}
    with contextlib.suppress(shardwright.Error):
        exec(compile(plan.emit("dtensor", uneven=True), "<plan>", "exec"), said)  # of our own making
    return said


def borders(model: Model, said: Mapping[str, Any]) -> tuple[dict[str, list[Any]], dict[str, dict[str, Any]]]:
    """Placements of what each node of the graph gives, and of what it reads where they differ from that."""
    if not said["VALUES"]:
        return {}, {}
    made = {node: [said["VALUES"].get(v) for v in values] for node, values in model.values.items()}
    used: dict[str, dict[str, Any]] = {}
    for node, reads in model.reads.items():
        for (op, operand), read in reads.items():
            wanted = said["USES"].get((op, operand))
            if wanted is not None:
                used.setdefault(node, {}).setdefault(read, wanted)
    return made, used


def _nodes_in_parts(step: Written, said: Mapping[str, Any]) -> dict[torch.fx.Node, Parts]:
    """Those of which DTensor would make something else, where all of their ops are known and cut as placements say."""
    found: dict[torch.fx.Node, Parts] = {}
    by_value: dict[str, torch.fx.Node] = {}
    for node in step.traced.graph.graph.nodes:
        if str(node.target) in _parts.OF_NODES:
            parts = _in_parts(step, node, by_value, said)
            found |= {node: parts} if parts else {}
        if not isinstance(node.meta.get("val"), (tuple, list)):
            by_value.setdefault(step.value_of(node), node)
    return found


def _operands(step: Written, said: Mapping[str, Any]) -> dict[tuple[torch.fx.Node, int], dict[torch.fx.Node, Read]]:
    """How each result of a convolution's gradient reads what the node reads."""
    placed = said["ARGUMENTS"] | said["VALUES"]
    found: dict[tuple[torch.fx.Node, int], dict[torch.fx.Node, Read]] = {}
    for node in step.traced.graph.graph.nodes:
        if node.target is not _convolution.BACKWARD:
            continue
        read_as = {step.value_of(x): x for x in node.args[:3]}
        for i, result in enumerate(step.model.values[node.name]):
            needed = {result}
            for op in reversed(step.ops.get(node.name, [])):
                if op.name not in needed:
                    continue
                needed.update(op.inputs)
                for k, name in enumerate(op.inputs):
                    wanted = said["USES"].get((op.name, k), placed.get(name))
                    if name in read_as and wanted is not None:
                        other = tuple(wanted) != tuple(placed[name])
                        found.setdefault((node, i), {})[read_as[name]] = Read(read_as[name], (name, tuple(wanted)), other=other)
    return found


def _in_parts(
    step: Written, node: torch.fx.Node, by_value: Mapping[str, torch.fx.Node], said: Mapping[str, Any]
) -> Parts | None:
    ops = step.ops.get(node.name, [])
    placed = said["ARGUMENTS"] | said["VALUES"]
    reads: dict[tuple[str, int], Read] = {}
    made = {op.name for op in ops}
    if not all(op.kind in _parts.KINDS and op.name in said["VALUES"] for op in ops):
        return None
    results: list[tuple[str, tuple[int, ...] | None]] = [
        (name, None) if name in made or name in by_value else step.model.sources.get(name, ("", None))
        for name in step.model.values[node.name]
    ]
    wanted = [(op.name, i, name) for op in ops for i, name in enumerate(op.inputs)]
    wanted += [(name, -1, name) for name, _ in results if name in by_value and name not in made]
    for op_name, i, name in wanted:
        if name not in made:
            if name not in by_value or name not in placed:
                return None
            use = tuple(said["USES"].get((op_name, i), placed[name]))
            reads[op_name, i] = Read(by_value[name], (name, use), other=use != tuple(placed[name]))
    return Parts(ops, reads, [result if result[0] in made or result[0] in by_value else None for result in results])
