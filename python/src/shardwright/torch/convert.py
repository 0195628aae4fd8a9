"""From a traced graph to a model: each node by its row."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch.utils import _pytree as pytree

from shardwright.torch.model import DTYPES, Builder, Value
from shardwright.torch.ops import ROWS, Call
from shardwright.torch.trace import SCOPE, Traced

KINDS = {"parameter": "parameter", "buffer": "parameter", "state": "state", "input": "input"}
CUSTOM: dict[str, Callable[..., Any]] = {}


@dataclasses.dataclass
class Model:
    """What a step became: the text of its model, and by name of op how often something had no row."""

    text: str
    opaque: dict[str, int]
    arguments: list[str]
    outputs: list[str]
    values: dict[str, list[str]]  # of each node of the graph, by its name: those that are its results
    reads: dict[str, dict[tuple[str, int], str]]  # of each node: operands of its ops that are results of other nodes
    nodes: dict[str, str]  # of each op, by the name of its first result: the node that it is of
    sources: dict[str, tuple[str, tuple[int, ...]]]  # of results that are transposes: of which value, and how


class _Converter:
    def __init__(self, traced: Traced, name: str) -> None:
        self.traced, self.b = traced, Builder(name)
        self.values: dict[torch.fx.Node, Any] = {}
        self.opaque: dict[str, int] = {}
        self.results: dict[str, list[str]] = {}
        self.reads: dict[str, dict[tuple[str, int], str]] = {}
        self.given: set[str] = set()  # values that are results of nodes
        self.nodes: dict[str, str] = {}

    def run(self) -> Model:
        b, traced = self.b, self.traced
        changed = set(traced.updated)
        named: list[str] = []
        placeholders = [n for n in traced.graph.graph.nodes if n.op == "placeholder"]
        for i, (node, argument) in enumerate(zip(placeholders, traced.arguments, strict=True)):
            kind = "state" if i in changed else KINDS[argument.kind]
            value = argument.value
            self.values[node] = b.argument(argument.name, kind, DTYPES[value.dtype], value.shape)
            named.append(self.values[node].name)
            self._note(node, 0)
        for node in traced.graph.graph.nodes:
            if node.op == "get_attr":
                self.values[node] = self._constant(node)
            elif node.op == "call_function":
                before = len(b.ops)
                self.values[node] = self._called(node)
                self._note(node, before)
            elif node.op == "output":
                self._end(node.args[0], named)
        text = b.text()
        outputs = [o["name"] for o in b.outputs]
        sources = {name: (of.name, permutation) for name, (of, permutation) in b.source.items()}
        return Model(text, self.opaque, named, outputs, self.results, self.reads, self.nodes, sources)

    def _note(self, node: torch.fx.Node, first: int) -> None:
        """What a node's ops, from number `first` on, read of other nodes, and what it gives."""
        if node.target is operator.getitem:
            return
        ops = self.b.ops[first:] if node.op == "call_function" else []
        self.nodes |= {op["outputs"][0]["name"]: node.name for op in ops}
        found = {
            (op["outputs"][0]["name"], i): name for op in ops for i, name in enumerate(op["inputs"]) if name in self.given
        }
        if found:
            self.reads[node.name] = found
        outs = self.values[node]
        outs = outs if isinstance(outs, (tuple, list)) else [outs]
        self.results[node.name] = ["" if v is None else v.name for v in outs]
        self.given |= set(self.results[node.name]) - {""}

    def _constant(self, node: torch.fx.Node) -> Value:
        """A tensor that the step has from elsewhere."""
        tensor = getattr(self.traced.graph, str(node.target)).detach()
        shape, dtype = list(tensor.shape), DTYPES[tensor.dtype]
        elements = tensor.to(torch.float64) if tensor.is_floating_point() else tensor
        return self.b.constant_of(f"constant{str(node.target).removeprefix('_tensor_constant')}", dtype, shape, elements.tolist())

    def _called(self, node: torch.fx.Node) -> Any:
        if node.target is operator.getitem:
            return self.values[node.args[0]][node.args[1]]  # type: ignore[index]
        name = str(node.target)
        if name.startswith("profiler."):
            return None
        scope, location = node.meta.get(SCOPE, ("", None))
        b = self.b
        b.scope, b.base, b.location = scope, _short(name), location
        args, kwargs = pytree.tree_map(
            lambda x: self.values[x] if isinstance(x, torch.fx.Node) else x, (node.args, node.kwargs)
        )
        call = Call(b, node)
        rule = CUSTOM.get(name) or ROWS.get(name)
        if rule:
            before = len(b.ops)
            try:
                return self._checked(call, rule(call, *args, **kwargs))
            except NotImplementedError:
                del b.ops[before:]
        return self._as_opaque(call, args, kwargs)

    def _as_opaque(self, call: Call, args: Any, kwargs: Any) -> Any:
        results = call.results
        self.opaque[call.op] = self.opaque.get(call.op, 0) + 1
        inputs = [x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, Value)]
        made = iter(self.b.opaque(call.op, inputs, [r for r in results if r is not None]))
        outs = [None if r is None else next(made) for r in results]
        return outs if isinstance(call.out, (tuple, list)) else outs[0]

    def _checked(self, call: Call, made: Any) -> Any:
        """A row gives what PyTorch says that the op gives, or it is wrong."""
        outs = list(made) if isinstance(made, (tuple, list)) else [made]
        for got, wanted in zip(outs, call.results, strict=False):
            if got is not None and wanted is not None and (got.dtype, got.shape) != wanted:
                raise AssertionError(f"{call.op}: its row gives {got.dtype}{list(got.shape)}; expected {wanted[0]}{list(wanted[1])}")
        return made

    def _end(self, results: Any, names: list[str]) -> None:
        updated, rest = results[: len(self.traced.updated)], results[len(self.traced.updated) :]
        for i, node in zip(self.traced.updated, updated, strict=True):
            dtype = DTYPES[self.traced.arguments[i].value.dtype]
            self.b.output(self.b.cast(self.values[node], dtype), f"{names[i]}.new", names[i])
        for name, node in zip(self.traced.results, rest, strict=True):
            self.b.output(self.values[node], name)


def _short(name: str) -> str:
    """aten._softmax_backward_data.default: softmax_backward_data."""
    parts = name.split(".")
    if "scaled_dot_product" in name:
        return "attention"
    return (parts[1] if len(parts) > 1 else parts[0]).strip("_")


def convert(traced: Traced, name: str) -> Model:
    return _Converter(traced, name).run()


def register_rule(op: Any, rule: Callable[..., Any]) -> None:
    """How an op of one's own is said in ops of models: rule(call, *args, **kwargs), with tensors among the arguments as Values,
    returns a Value, or a tuple of them. call.b makes ops (shardwright.torch.model.Builder), call.dtype and call.shape are
    those of the result. The op is what torch.ops has, with or without an overload, or its name, 'mylib.scan.default'."""
    name = op if isinstance(op, str) else str(op.default if not hasattr(op, "overloadpacket") else op)
    CUSTOM[name if name.count(".") > 1 else f"{name}.default"] = rule

