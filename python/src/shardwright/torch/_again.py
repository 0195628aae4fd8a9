"""A step as its plan runs it: with what the plan makes again written out, as copies of nodes and values kept for late readers, each
just before the first of them."""

from __future__ import annotations

import dataclasses
import json
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.fx

import shardwright
from shardwright.torch._parts import Op, ops_of

if TYPE_CHECKING:
    from shardwright.torch.convert import Model
    from shardwright.torch.plan import Plan
    from shardwright.torch.trace import Traced


def kept(value: Any) -> Any:
    """As the plan holds it for late readers."""
    return value


def draws(node: torch.fx.Node) -> bool:
    """Random numbers; attention does so only with dropout."""
    if torch.Tag.nondeterministic_seeded not in getattr(node.target, "tags", ()):
        return False
    arguments = node.target._schema.arguments  # type: ignore[union-attr]
    given = {a.name: a.default_value for a in arguments} | dict(zip((a.name for a in arguments), node.args, strict=False))
    return (given | node.kwargs).get("dropout_p") != 0


class Written(NamedTuple):
    """`model` is of the nodes of `traced`, as the plan's program has them; `ops` are those of each node, by its name."""

    traced: Traced
    model: Model
    ops: dict[str, list[Op]]

    def value_of(self, node: torch.fx.Node) -> str:
        """What the plan calls what the node gives."""
        i, of = 0, node
        if node.target is operator.getitem:
            of, i = node.args  # type: ignore[assignment]
        values = self.model.values.get(of.name, [])
        return (values[i] if i < len(values) else "") or node.name


class _Instance(NamedTuple):
    """An op of the plan's program. `of`: the op of the model that it is, or makes again, or the value that it keeps."""

    kind: str  # "op", "again" or "keeps"
    of: str
    suffix: str  # behind the names that its results have in the model
    inputs: list[str]


def written(plan: Plan) -> Written:
    """The plan's step. What draws random numbers is not made again, as it would draw others."""
    ops = ops_of(plan.model)
    of_node: dict[str, list[Op]] = {}
    for name, op in ops.items():
        of_node.setdefault(plan._model.nodes[name], []).append(op)
    step = Written(plan._traced, plan._model, of_node)
    instances = _instances(plan, ops)
    return _Writer(step, instances).run() if instances else step


def _results(op: Op) -> list[str]:
    return [out["name"] for out in op.attrs["outputs"]]


def _instances(plan: Plan, ops: Mapping[str, Op]) -> dict[str, _Instance]:
    """By name, with the instance of each value that they read; none of a plan that makes nothing again. What the plan
    offloads is kept on the device."""
    said = json.loads(plan._core.json())
    entries = said.get("schedule", {}).get("entries", ())
    if not any("keeps" in entry or "fetches" in entry or entry.get("instance") for entry in entries):
        return {}
    if len(entries) != len(said["ops"]):
        raise shardwright.InputError("the plan has micro-batches or stages; expected one of the whole step at once")
    drawn = {node.name for node in plan._traced.graph.graph.nodes if draws(node)}
    found: dict[str, _Instance] = {}
    now: dict[str, str] = {}  # what readers of a value read
    for entry, op in zip(entries, said["ops"], strict=True):
        if "offloads" in entry:
            continue
        of = entry.get("keeps") or entry.get("fetches") or entry["op"]
        suffix = op["name"].removeprefix(of)
        if "op" not in entry:
            found[op["name"]] = _Instance("keeps", of, suffix, [of])
            now[of] = op["name"]
        elif not (entry.get("instance") and plan._model.nodes[of] in drawn):
            again = bool(entry.get("instance"))
            found[op["name"]] = _Instance("again" if again else "op", of, suffix, [now.get(x, x) for x in ops[of].inputs])
            now |= {name: name + suffix for name in _results(ops[of])} if again else {}
    return found


class _Writer:
    def __init__(self, step: Written, instances: Mapping[str, _Instance]) -> None:
        self.step, self.instances = step, instances
        self.graph = torch.fx.Graph()
        self.model = dataclasses.replace(step.model, values={}, reads={}, nodes={}, sources=dict(step.model.sources))
        self.ops: dict[str, list[Op]] = {}
        self.new: dict[torch.fx.Node, torch.fx.Node] = {}
        self.again: dict[tuple[torch.fx.Node, str], torch.fx.Node] = {}  # copies, by their suffix
        self.views: dict[tuple[torch.fx.Node, str], torch.fx.Node] = {}  # of what is kept or made again, by its name
        self.makers: dict[str, torch.fx.Node] = {}
        for node in step.traced.graph.graph.nodes:
            if not isinstance(node.meta.get("val"), (tuple, list)):
                self.makers.setdefault(step.value_of(node), node)
        by_name = {op.name: op for of in step.ops.values() for op in of}
        self.values: dict[str, tuple[str, _Instance]] = {}  # that are kept or made again: of what, and how
        for name, one in instances.items():
            if one.kind != "op":
                of = [one.of] if one.kind == "keeps" else _results(by_name[one.of])
                self.values |= {value + one.suffix: (value, one) for value in of}

    def run(self) -> Written:
        traced = self.step.traced
        for node in traced.graph.graph.nodes:
            self.new[node] = self._put(node, "")
        self.graph.eliminate_dead_code()
        graph = torch.fx.GraphModule(traced.graph, self.graph)
        return Written(dataclasses.replace(traced, graph=graph), self.model, self.ops)

    def _put(self, node: torch.fx.Node, suffix: str) -> torch.fx.Node:
        """The node, or its copy, which reads what its ops read in the plan's program."""
        model, named = self.step.model, {}
        for op in self.step.ops.get(node.name, ()):
            one = self.instances.get(op.name + suffix)
            name = op.name + suffix if one and one.of == op.name else op.name
            named[op.name] = op._replace(name=name, inputs=self.instances[name].inputs if name in self.instances else op.inputs)
        known = {key: value for key, value in model.reads.get(node.name, {}).items() if key[0] in named}  # others nobody reads
        reads = {(named[op].name, i): named[op].inputs[i] for op, i in known}
        wanted = {value: named[op].inputs[i] for (op, i), value in known.items()}

        def read(x: torch.fx.Node) -> torch.fx.Node:
            value = self.step.value_of(x)
            source = model.sources.get(value, ("",))[0]
            return self._as(x, wanted.get(value) or wanted.get(source) or value)

        new = self.graph.node_copy(node, read)
        if node.name in model.values:
            self.model.values[new.name] = [self._named(value, suffix) for value in model.values[node.name]]
        if reads:
            self.model.reads[new.name] = reads
        self.model.nodes |= {op.name: new.name for op in named.values() if op.name not in self.model.nodes}
        self.ops[new.name] = list(named.values())
        return new

    def _named(self, value: str, suffix: str) -> str:
        """What the copy of a node gives; '' where that is not made again."""
        source, permutation = self.step.model.sources.get(value, (value, None))
        if suffix and source + suffix not in self.values:
            return ""
        if suffix and permutation is not None:
            self.model.sources[value + suffix] = (source + suffix, permutation)
        return value + suffix

    def _as(self, x: torch.fx.Node, name: str) -> torch.fx.Node:
        """What a node gives, where the plan reads the value of that name for it."""
        if name not in self.values:
            return self.new[x]
        of, one = self.values[name]
        if one.kind == "again" and self.step.model.nodes[one.of] == x.name:
            if (x, one.suffix) not in self.again:
                self.again[x, one.suffix] = self._put(x, one.suffix)
            return self.again[x, one.suffix]
        if (x, name) not in self.views:
            self.views[x, name] = self._view(x, name, of, one)
        return self.views[x, name]

    def _view(self, x: torch.fx.Node, name: str, of: str, one: _Instance) -> torch.fx.Node:
        if one.kind == "keeps" and self.makers.get(of) is x:
            new = self.graph.call_function(kept, (self.new[x],))
            new.meta = dict(x.meta)
            self.model.values[new.name], self.model.nodes[name] = [name], new.name
            self.model.reads[new.name] = {(name, 0): of}
            return new
        value = self.step.value_of(x)
        source, permutation = self.step.model.sources.get(value, (value, None))
        if x.op != "call_function" or source != of:
            return self.new[x]
        new = self.graph.node_copy(x, lambda read: self._as(read, name))
        if x.target is not operator.getitem:
            self.model.values[new.name] = [name if permutation is None else value + one.suffix]
            if permutation is not None:
                self.model.sources[value + one.suffix] = (name, permutation)
        return new
