"""A plan beside what one would pick without it: DDP, FSDP2, and the tensor-parallel plan that a library has for its model."""

from __future__ import annotations

import dataclasses
import fnmatch
import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

import shardwright
from shardwright._plan import _in_units, _spelled

if TYPE_CHECKING:
    from shardwright.torch.plan import Plan

BY_RULE = {"DDP": "data-parallel", "FSDP2": "fsdp"}
# Styles of transformers: the dim of weights, from the last one on, that they cut; None: whole. Others (packed columns, which are
# cut in parts that no sharding says) are left to the search.
STYLES = {
    "colwise": -2, "colwise_rep": -2, "colwise_gather_output": -2, "rowwise": -1, "rowwise_rep": -1, "rowwise_split_input": -1,
    "embedding_rowwise": -2, "embedding_colwise": -1, "local_colwise": -2, "local_rowwise": -1,
    "replicated_with_grad_allreduce": None, "sequence_parallel": None, "replicate": None,
}  # fmt: skip
TIME = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6))
BYTES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


@dataclasses.dataclass
class Row:
    """Of one plan: what it does in words; predicted seconds, and those of them that wait for others; bytes of one device at
    the peak, of arguments (parameters, states, inputs), and received by kind of collective. `plan` is None where there is
    none, and `words` say why."""

    name: str
    plan: shardwright.Plan | None
    words: str
    seconds: float = float("inf")
    waiting: float = 0.0
    memory_bytes: int = 0
    fits: bool = False
    argument_bytes: int = 0
    received: Mapping[str, float] = dataclasses.field(default_factory=dict)


class Comparison:
    """`rows`, the plan's own first; a table as text and in notebooks."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)

    def __getitem__(self, name: str) -> Row:
        return next(row for row in self.rows if row.name == name)

    @property
    def cheaper(self) -> list[str]:
        """Those that fit and are cheaper than the plan."""
        return [row.name for row in self.rows[1:] if row.fits and row.seconds < self.rows[0].seconds]

    def _cells(self) -> Iterator[list[str]]:
        kinds = [k for k in dict.fromkeys(k for row in self.rows for k in row.received) if any(r.received.get(k) for r in self.rows)]
        yield ["", "time", "", "waiting", "memory", "arguments", *kinds, ""]
        for row in self.rows:
            if row.plan is None:
                yield [row.name, "-", "", "", "", "", *("" for _ in kinds), row.words]
                continue
            times = "" if row is self.rows[0] else f"{row.seconds / self.rows[0].seconds:.2f} x"
            received = [_in_units(row.received[k], BYTES) if row.received.get(k) else "" for k in kinds]
            yield [
                row.name, _in_units(row.seconds, TIME), times, _in_units(row.waiting, TIME) if row.waiting else "",
                _in_units(row.memory_bytes, BYTES), _in_units(row.argument_bytes, BYTES), *received,
                row.words if row.fits else f"does not fit: {row.words}",
            ]  # fmt: skip

    def __str__(self) -> str:
        cells = list(self._cells())
        wide = [max(len(line[i]) for line in cells) for i in range(len(cells[0]))]
        last = len(wide) - 1
        lines = (
            "  ".join(c.ljust(w) if i in (0, last) else c.rjust(w) for i, (c, w) in enumerate(zip(line, wide, strict=True)))
            for line in cells
        )
        return "\n".join(line.rstrip() for line in lines)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(row.name for row in self.rows)}>"

    def _repr_html_(self) -> str:
        rows = ("".join(f"<td>{html.escape(cell)}</td>" for cell in line) for line in self._cells())
        return "<table>" + "".join(f"<tr>{row}</tr>" for row in rows) + "</table>"


def row_of(name: str, plan: shardwright.Plan) -> Row:
    data = plan.report().data
    memory = data["memory"]
    return Row(
        name, plan, data["in_words"], data["total_s"], data["reshard_s"] + data["inside_ops_s"], memory["peak_bytes"],
        memory["peak_bytes"] <= memory["capacity_bytes"], sum(a["bytes"] for a in data["arguments"]),
        {c["op"]: c["bytes"] for c in data["by_collective"]},
    )  # fmt: skip


def compare(plan: Plan, axis: str | None, search: Mapping[str, Any]) -> Comparison:
    """Of the axes of the mesh, the library's plan takes `axis`, and data parallelism the others."""
    rows = [row_of("this plan", plan)]
    memory = search.get("memory")
    for name, rule in BY_RULE.items():
        rows.append(_made(name, lambda rule=rule: plan.problem.baseline(rule, memory=memory)))
    axis = axis or list(plan.mesh.axes)[-1]
    if axis not in plan.mesh.axes:
        raise shardwright.InputError(f"the mesh has no axis {axis}; it has {', '.join(plan.mesh.axes)}")
    of_library = styles(plan._step.models)
    for name, at_rest in (("TP", False), ("TP + FSDP2", True)) if of_library else ():
        pins = library_pins(plan, of_library, axis, at_rest)
        rows.append(_made(f"{name} over {axis}", lambda pins=pins: plan.problem.plan(pins=pins, **search)))
    return Comparison(rows)


def _made(name: str, make: Any) -> Row:
    try:
        return row_of(name, make())
    except shardwright.Error as error:
        return Row(name, None, str(error).split("; ")[0])


# --- what a library has for its model --------------------------------------------------------------------------------


def styles(models: Mapping[str, torch.nn.Module]) -> dict[str, str]:
    """Patterns of modules and parameters, and what transformers does with them: its base_model_tp_plan, and that of the head."""
    found: dict[str, str] = {}
    for prefix, model in models.items():
        found |= {prefix + pattern: style for pattern, style in (getattr(model, "tp_plan", None) or {}).items()}
    return found


def library_pins(plan: Plan, of_library: Mapping[str, str], axis: str, at_rest: bool) -> dict[str, str]:
    """Shardings of arguments: parameters by their styles, states as their parameters, and inputs along the batch by the other
    axes; `at_rest`: these cut parameters and states, too, along their first dim, as fully_shard does after parallelize_module.
    Parameters are used as their styles have them, inputs as they arrive. What does not divide stays whole."""
    sizes = plan.mesh.axes
    others = [a for a in sizes if a != axis]
    parameters = {a.name: a.value for a in plan._traced.arguments if a.kind == "parameter"}
    pins: dict[str, str] = {}
    for name, argument in zip(plan._model.arguments, plan._traced.arguments, strict=True):
        if argument.kind == "buffer":
            continue
        shape = list(argument.value.shape)
        axes: list[list[str]] = [[] for _ in shape]
        if argument.kind == "input":
            _cut(axes, shape, 0, others, sizes)
            pins[f"{name}@used"] = _spelled(axes)
        elif shape:
            of = name if argument.kind == "parameter" else _parameter_of(name, parameters)
            style = _style_of(of, of_library) if of in parameters and list(parameters[of].shape) == shape else None
            if style is not None and style not in STYLES:
                continue
            dim = None if style is None or len(shape) == 1 and not style.startswith("colwise") else STYLES[style]
            if dim is not None:
                _cut(axes, shape, max(len(shape) + dim, 0), [axis], sizes)
            if any(axes) and argument.kind == "parameter":
                pins[f"{name}@used"] = _spelled([[*a, "?"] if at_rest and not i else a for i, a in enumerate(axes)])
            if at_rest:
                _cut(axes, shape, 0, others, sizes)
        pins[name] = _spelled(axes)
    return pins


def _cut(axes: list[list[str]], shape: Sequence[int], dim: int, by: Sequence[str], sizes: Mapping[str, int]) -> None:
    """By all of these axes, or not at all."""
    parts = 1
    for a in [*axes[dim], *by] if shape else ():
        parts *= sizes[a]
    if shape and shape[dim] % parts == 0:
        axes[dim] += by


def _parameter_of(state: str, parameters: Mapping[str, Any]) -> str:
    """optimizer.h.0.weight.exp_avg: h.0.weight."""
    name = state.rpartition(".")[0]
    while name and name not in parameters:
        name = name.partition(".")[2]
    return name


def _style_of(parameter: str, of_library: Mapping[str, str]) -> str | None:
    """Of a parameter by its own name, or by its module's."""
    for name in (parameter, parameter.rpartition(".")[0]):
        for pattern, style in of_library.items():
            if fnmatch.fnmatchcase(name, pattern) and name.count(".") == pattern.count("."):
                return style
    return None
