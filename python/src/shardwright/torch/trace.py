"""A step of PyTorch as one flat graph of ATen ops: forward, loss, backward, optimizer.

The step runs once on fake tensors, which have shapes and no data. Parameters, buffers and the state of optimizers are taken
out of their objects meanwhile, and are arguments of the graph; what the step writes in place comes back as results.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
import torch.fx
import torch.utils._pytree as pytree
from torch._decomp import core_aten_decompositions
from torch._subclasses.fake_tensor import FakeTensorMode
from torch._subclasses.functional_tensor import FunctionalTensor, FunctionalTensorMode
from torch.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from torch.nn.modules import module as hooks
from torch.utils._python_dispatch import TorchDispatchMode

import shardwright
from shardwright.torch import _libraries, ops

NOT_OF_USERS = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(__file__) + os.sep, "<")  # files
SCOPE = "shardwright"  # key of the meta of nodes: (scope, location)
GRADIENT = "grad"  # the last word of the scope of what a backward pass does


@dataclasses.dataclass
class Argument:
    """Of the graph: what it is called, what it is, and what the step leaves in it."""

    name: str
    kind: str  # parameter, buffer, state (of an optimizer), input
    value: torch.Tensor  # fake


@dataclasses.dataclass
class Traced:
    """The placeholders of `graph` are `arguments` in order. Its results are, one after the other, the new values of the
    arguments with the numbers `updated`, and then the leaves of what the step returned."""

    graph: torch.fx.GraphModule
    arguments: list[Argument]
    updated: list[int]
    results: list[str]
    out_tree: pytree.TreeSpec
    out_leaves: list[tuple[bool, Any]]  # (is it a tensor, else what it is)


class Place:
    """A tensor's place in an object: where it is read, and where another is put for the time of a trace."""

    def __init__(self, name: str, kind: str, holder: Any, key: Any) -> None:
        self.name, self.kind, self.holder, self.key = name, kind, holder, key

    def get(self) -> torch.Tensor:
        return self.holder[self.key]

    def put(self, value: Any) -> None:
        self.holder[self.key] = value


# --- where tensors are -----------------------------------------------------------------------------------------------


def _of_model(model: torch.nn.Module, prefix: str) -> Iterator[Place]:
    """A shared parameter has several places of one name, its first one."""
    seen: dict[int, str] = {}
    for path, module in model.named_modules(remove_duplicate=True):
        path = (prefix + path).removesuffix(".")
        for kind, tensors in (("parameter", module._parameters), ("buffer", module._buffers)):
            for key, value in tensors.items():
                if value is not None:
                    name = seen.setdefault(id(value), f"{path}.{key}" if path else key)
                    yield Place(name, kind, tensors, key)


def _of_optimizer(optimizer: torch.optim.Optimizer, names: Mapping[int, str], prefix: str) -> Iterator[Place]:
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            if isinstance(value, torch.Tensor):
                yield Place(f"{prefix}{names.get(id(parameter), 'parameter')}.{key}", "state", state, key)


def _faked(mode: FakeTensorMode, value: torch.Tensor) -> torch.Tensor:
    """Of its shape, on the CPU, whatever device it is on: a plan needs no other."""
    with mode:
        made = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")
    return made


class _Swapped:
    """Fakes in the places of tensors, and the optimizers over them, until `restore`."""

    def __init__(self, models: Mapping[str, torch.nn.Module], optimizers: Sequence[torch.optim.Optimizer]) -> None:
        self.mode = FakeTensorMode(allow_non_fake_inputs=True)
        self.undo: list[Callable[[], None]] = []
        self.places = [p for prefix, model in models.items() for p in _of_model(model, prefix)]
        self.optimizers = list(optimizers)
        self.names: dict[int, str] = {id(p.get()): p.name for p in self.places}
        self.fake_of: dict[int, torch.Tensor] = {}
        self.keep = [p.get() for p in self.places]  # ids stay theirs
        self.requires = {p.name: p.get().requires_grad for p in self.places}

    def swap(self) -> None:
        for place in self.places:
            value = place.get()
            if id(value) not in self.fake_of:
                fake = _faked(self.mode, value)
                self.fake_of[id(value)] = torch.nn.Parameter(fake, value.requires_grad) if place.kind == "parameter" else fake
            self.undo.append(lambda place=place, value=value: place.put(value))
            place.put(self.fake_of[id(value)])
        for optimizer in self.optimizers:
            self._swap_optimizer(optimizer)

    def _swap_optimizer(self, optimizer: torch.optim.Optimizer) -> None:
        """Its parameters are the fakes, and its state is as it is after a step."""
        groups, state = optimizer.param_groups, optimizer.state
        self.undo.append(lambda: setattr(optimizer, "param_groups", groups))
        self.undo.append(lambda: setattr(optimizer, "state", state))
        fakes = [[self._fake(p) for p in group["params"]] for group in groups]
        plainly = {"foreach": False, "fused": False, "capturable": True}  # the same numbers, op by op and without item()
        optimizer.param_groups = [
            {**group, "params": params, **{k: v for k, v in plainly.items() if k in group}}
            for group, params in zip(groups, fakes, strict=True)
        ]
        optimizer.state = type(state)(state.default_factory) if hasattr(state, "default_factory") else type(state)()
        for parameter, held in state.items():
            optimizer.state[self._fake(parameter)] = {
                key: _faked(self.mode, value) if isinstance(value, torch.Tensor) else value for key, value in held.items()
            }
        with self.mode, torch.no_grad():  # what it makes in its first step is there in all others
            parameters = [p for params in fakes for p in params]
            for parameter in parameters:
                parameter.grad = torch.zeros_like(parameter)
            with _compiling():
                optimizer.step()
            for parameter in parameters:
                parameter.grad = None

    def _fake(self, parameter: torch.Tensor) -> torch.Tensor:
        if id(parameter) not in self.fake_of:
            raise shardwright.InputError(
                f"the optimizer has a parameter of shape {list(parameter.shape)} that no model here has; expected those of "
                "the model that is planned"
            )
        return self.fake_of[id(parameter)]

    def all_places(self) -> list[Place]:
        """Those of models, and of optimizers, whose states are there by now."""
        names = {id(p.get()): p.name for p in self.places}
        found = list(self.places)
        for i, optimizer in enumerate(self.optimizers):
            prefix = "optimizer." if len(self.optimizers) == 1 else f"optimizer.{i}."
            found += _of_optimizer(optimizer, names, prefix)
        return found

    def restore(self) -> None:
        for undo in reversed(self.undo):
            undo()


@contextlib.contextmanager
def _compiling() -> Iterator[None]:
    """As torch.compile has it: counters of optimizers stay tensors, and libraries do not look at values."""
    was = torch.compiler._is_compiling_flag
    torch.compiler._is_compiling_flag = True
    try:
        yield
    finally:
        torch.compiler._is_compiling_flag = was


# --- names and places ------------------------------------------------------------------------------------------------


class _Scopes(TorchDispatchMode):
    """Writes into each node of a trace which module it belongs to and which line made it. A node of the backward part has
    those of the op that it is the gradient of, which autograd numbers alike."""

    def __init__(self, names: Mapping[int, str]) -> None:
        super().__init__()
        self.names, self.stack = names, [""]
        self.of_number: dict[int, tuple[str, str | None]] = {}
        self.op = ""  # that is running
        self.graph: torch.fx.Graph | None = None

    def enter(self, module: torch.nn.Module, _: Any) -> None:
        self.stack.append(self.names.get(id(module), self.stack[-1]))

    def leave(self, *_: Any) -> None:
        self.stack.pop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        backward = torch._C._current_autograd_node()
        if backward is None:
            scope = (self.stack[-1], _line_of_user())
            self.of_number[torch.autograd._get_sequence_nr() - 1] = scope
        else:
            path, line = self.of_number.get(backward._sequence_nr(), ("", None))
            scope = (f"{path}.{GRADIENT}" if path else GRADIENT, line)
        self.op = str(func)
        made = func(*args, **(kwargs or {}))
        if self.graph is not None:
            node = self.graph._root.prev
            while node.op != "root" and SCOPE not in node.meta:
                node.meta[SCOPE] = scope
                node = node.prev
        return made

    @contextlib.contextmanager
    def following(self) -> Iterator[None]:
        handles = [
            hooks.register_module_forward_pre_hook(self.enter),
            hooks.register_module_forward_hook(self.leave, always_call=True),
        ]
        try:
            mode = get_proxy_mode()
            self.graph = mode.tracer.graph if mode else None
            with self:
                yield
        finally:
            for handle in handles:
                handle.remove()


def _line_of_user() -> str | None:
    """The innermost line that is neither PyTorch's nor ours."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(NOT_OF_USERS):
            return f"{name}:{frame.f_lineno}:1"
        frame = frame.f_back  # type: ignore[assignment]
    return None


# --- the trace -------------------------------------------------------------------------------------------------------


def _decompositions() -> dict[Any, Any]:
    """To core ATen, but for what has a row of its own."""
    return {op: rule for op, rule in core_aten_decompositions().items() if str(op) not in ops.ROWS}


def _functional(value: Any, requires_grad: bool = False) -> Any:
    made = FunctionalTensor.to_functional(value)
    return made.requires_grad_(True) if requires_grad else made


def _plain(value: Any) -> Any:
    return value.from_functional() if isinstance(value, FunctionalTensor) else value


def trace(
    step: Callable[..., Any],
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    input_names: Sequence[str],
    models: Mapping[str, torch.nn.Module],
    optimizers: Sequence[torch.optim.Optimizer] = (),
) -> Traced:
    """step(*inputs, **kwargs) as a graph. `models` are those that it uses, by what the names of their parameters start
    with; `input_names` are those of the leaves of inputs and kwargs that are tensors."""
    swapped = _Swapped(models, optimizers)
    try:
        swapped.swap()
        return _trace(step, inputs, kwargs, input_names, models, swapped)
    finally:
        swapped.restore()


def _trace(
    step: Callable[..., Any],
    inputs: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    input_names: Sequence[str],
    models: Mapping[str, torch.nn.Module],
    swapped: _Swapped,
) -> Traced:
    places = swapped.all_places()
    first: dict[str, Argument] = {}
    for place in places:
        first.setdefault(place.name, Argument(place.name, place.kind, place.get().detach()))
    leaves, tree = pytree.tree_flatten((inputs, dict(kwargs)))
    moving = [i for i, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
    arguments = list(first.values()) + [
        Argument(name, "input", _faked(swapped.mode, leaves[i])) for name, i in zip(input_names, moving, strict=True)
    ]
    number = {a.name: i for i, a in enumerate(arguments)}
    scopes = _Scopes({id(m): (prefix + path).removesuffix(".") for prefix, model in models.items() for path, m in model.named_modules()})
    told: dict[str, Any] = {}

    def flat(*values: torch.Tensor) -> list[torch.Tensor]:
        with FunctionalTensorMode(), scopes.following():
            wrapped = [
                _functional(v, swapped.requires.get(a.name, False) or _needs_grad(leaves, moving, i - len(first)))
                for i, (v, a) in enumerate(zip(values, arguments, strict=True))
            ]
            swap = {place.name: wrapped[number[place.name]] for place in places}
            with _placed(places, swap, swapped.optimizers):
                given = list(leaves)
                for k, i in enumerate(moving):
                    given[i] = wrapped[len(first) + k]
                args, kw = pytree.tree_unflatten(given, tree)
                out = step(*args, **kw)
                for place in reversed(places):  # as it is held now: written in place, or another tensor
                    wrapped[number[place.name]] = place.get()
            outs, told["tree"] = pytree.tree_flatten_with_path(out)
            told["paths"] = [path for path, leaf in outs if isinstance(leaf, torch.Tensor)]
            told["leaves"] = [
                (True, None) if isinstance(leaf, torch.Tensor) else (False, leaf) for _, leaf in outs
            ]
            after = [_plain(w) for w in wrapped]
            told["updated"] = [i for i, (v, a) in enumerate(zip(values, after, strict=True)) if a is not v]
            results = [_plain(leaf) for _, leaf in outs if isinstance(leaf, torch.Tensor)]
            return [after[i] for i in told["updated"]] + results

    with swapped.mode, _libraries.as_traced(models.values(), kwargs), _compiling():
        try:
            graph = make_fx(flat, decomposition_table=_decompositions())(*[a.value for a in arguments])
        except Exception as error:
            raise _explained(error, scopes) from error
    _update_early(graph.graph)
    graph.recompile()
    results = ["result" + pytree.keystr(path) for path in told["paths"]]
    return Traced(graph, arguments, told["updated"], results, told["tree"], told["leaves"])


def scope_of(node: torch.fx.Node) -> str:
    """The path of the module that it is of, and GRADIENT where it is of a backward pass; '': of none."""
    return str(node.meta.get(SCOPE, ("", None))[0])


def is_backward(node: torch.fx.Node) -> bool:
    return scope_of(node).rsplit(".", 1)[-1] == GRADIENT


def _update_early(graph: torch.fx.Graph) -> None:
    """Behind the backward part: each op as soon as the gradient is there that it hangs on, so that no gradient waits for the last
    one; what hangs on none, just before it is read."""
    nodes = list(graph.nodes)
    backward = [i for i, node in enumerate(nodes) if is_backward(node)]
    if not backward:
        return
    end = backward[-1] + 1
    place = {node: i for i, node in enumerate(nodes[:end])}  # behind which node a node comes
    hangs = dict.fromkeys(nodes[backward[0] : end])  # on gradients
    for node in nodes[end:-1]:
        reads = [n for n in node.all_input_nodes if n in place]
        if any(n in hangs for n in reads):
            hangs[node], place[node] = None, max(place[n] for n in reads)
    for node in reversed(nodes[end:-1]):
        if node not in place:
            place[node] = min((place[n] for n in node.users if n in place), default=end - 1)
    last = dict(enumerate(nodes[:end]))
    for node in sorted(nodes[end:-1], key=place.__getitem__):
        last[place[node]].append(node)
        last[place[node]] = node


def _needs_grad(leaves: Sequence[Any], moving: Sequence[int], i: int) -> bool:
    return i >= 0 and bool(leaves[moving[i]].requires_grad)


@contextlib.contextmanager
def _placed(
    places: Sequence[Place], values: Mapping[str, Any], optimizers: Sequence[torch.optim.Optimizer]
) -> Iterator[None]:
    """Tensors of the trace in all places, and in the groups and states of optimizers, which know parameters as such."""
    before = [(place, place.get()) for place in places]
    groups = [(o, o.param_groups, o.state) for o in optimizers]
    now_of = {id(old): values[place.name] for place, old in before}
    try:
        for place, _ in before:
            place.put(values[place.name])
        for optimizer, old_groups, old_state in groups:
            optimizer.param_groups = [{**g, "params": [now_of[id(p)] for p in g["params"]]} for g in old_groups]
            state = type(old_state)(old_state.default_factory) if hasattr(old_state, "default_factory") else {}
            state.update({now_of[id(p)]: held for p, held in old_state.items()})
            optimizer.state = state
        yield
    finally:
        for optimizer, old_groups, old_state in groups:
            optimizer.param_groups, optimizer.state = old_groups, old_state
        for place, old in before:
            place.put(old)


def _explained(error: Exception, scopes: _Scopes) -> Exception:
    """Where it was: the module and the op. What a tensor holds is not known in a trace, which is said in plain words."""
    where = scopes.stack[-1] or "the step"
    kind = type(error).__name__
    if kind in ("DataDependentOutputException", "DynamicOutputShapeException", "GuardOnDataDependentSymNode"):
        return shardwright.InputError(
            f"{where}: {scopes.op} asks what a tensor holds, which a plan does not know; expected shapes and control flow that "
            "do not depend on data (experts as a grouped or batched product in place of a loop over them)"
        )
    return shardwright.InputError(f"{where}: {scopes.op}: {kind}: {error}")
