"""What XLA compiled, beside what a plan predicted.

Collectives are counted in bytes that a device receives, those of loops once per trip: a device of a group of n receives

    all-gather          (n-1)/n of its result         reduce-scatter      n-1 times its result
    all-reduce          2(n-1)/n of its operand       all-to-all          (n-1)/n of its operand
    collective-permute  its operand
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+)[^\n]*\{\n(.*?)^\}", re.M | re.S)
COLLECTIVE = re.compile(
    r"= (\(?[a-z0-9]+\[.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(-start)?\((.*)$"
)
CALLED = re.compile(r"(?:to_apply|calls|body|true_computation|false_computation|branch_computations)=\{?%?([\w.\-]+(?:, %?[\w.\-]+)*)")
TRIPS = re.compile(r'known_trip_count"?:\{"?n"?:"?(\d+)')
SHAPE = re.compile(r"([a-z]+\d+\w*|pred)\[([\d,]*)\]")
NAMES = {"permute": "collective-permute", "exchange": "collective-permute", "shift": "collective-permute",
         "all_to_all_dims": "all-to-all"}  # of plans, where they are not those of HLO
NONE = (0, 0.0)
SCATTERED = "all-reduce, reduce-scatter as all-reduce"
LOOP = re.compile(r"^[^\n=]*= .* while\(", re.M)
LOCAL = {"all_slice", "to_partial", "shard_to_partial"}  # that move nothing, or what others have brought


def _bytes(shapes: str) -> list[int]:
    sizes = []
    for dtype, dims in SHAPE.findall(shapes):
        count = 1
        for d in dims.split(","):
            count *= int(d) if d else 1
        bits = re.search(r"\d+", dtype)
        sizes.append(max(count * int(bits[0]) // 8, 1) if bits else count)
    return sizes


def _members(rest: str) -> int:
    """Devices of a group."""
    mesh = re.search(r"replica_groups=mesh\[([^\]]*)\].*?\{([^}]*)\}", rest)
    if mesh:
        sizes, n = dict(re.findall(r"'(\w+)'=(\d+)", mesh[1])), 1
        for axis, part in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", mesh[2]):
            n *= int(part or sizes[axis])
        return n
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    return int(iota[2]) if iota else len(listed[1].split(",")) if listed else 1


def _received(name: str, size: float, n: int) -> float:
    share = (n - 1) / n
    return {"all-gather": size * share, "all-reduce": 2 * size * share, "reduce-scatter": size * (n - 1),
            "all-to-all": size * share, "collective-permute": size}[name]


def compiled_collectives(text: str) -> dict[str, tuple[int, float]]:
    """Of a module's text: calls, and bytes that a device receives, by name."""
    bodies = {m[1]: m[2] for m in COMPUTATION.finditer(text)}
    entry = re.search(r"^ENTRY %?([\w.\-]+)", text, re.M)
    found: dict[str, tuple[int, float]] = {}

    def count(name: str, times: int) -> None:
        for line in bodies.get(name, "").splitlines():
            match = COLLECTIVE.search(line)
            if match:
                shapes, kind, started, rest = match.groups()
                sizes = _bytes(shapes)
                size = sizes[-1] if started and len(sizes) > 1 else sum(sizes)  # of one that is started: the result's
                calls, received = found.get(kind, NONE)
                n = _members(rest)
                if kind == "collective-permute" or n > 1:
                    found[kind] = (calls + times, received + times * _received(kind, size, n))
                continue
            trips = TRIPS.search(line)
            for called in CALLED.findall(line):
                for one in called.split(", "):
                    count(one.lstrip("%"), times * (int(trips[1]) if trips else 1))

    if entry:
        count(entry[1], 1)
    return found


def planned_collectives(report: dict[str, Any]) -> dict[str, tuple[int, float]]:
    """Of a report: the same."""
    found: dict[str, tuple[int, float]] = {}
    for row in report["by_collective"]:
        if row["op"] in LOCAL:
            continue
        name = NAMES.get(row["op"], row["op"].replace("_", "-"))
        calls, received = found.get(name, NONE)
        found[name] = (calls + row["calls"], received + row["bytes"])
    return found


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure: predicted, as compiled (None: XLA does not say), and whether they agree."""

    what: str
    unit: str
    predicted: float
    compiled: float | None
    agrees: bool
    note: str = ""


@dataclasses.dataclass(frozen=True)
class Check:
    """What was predicted beside what was compiled."""

    rows: tuple[Row, ...]

    @property
    def differences(self) -> tuple[Row, ...]:
        """What does not agree."""
        return tuple(row for row in self.rows if not row.agrees)

    @property
    def agrees(self) -> bool:
        """Is nothing different?"""
        return not self.differences

    def row(self, what: str) -> Row:
        """The row of this name."""
        return next(row for row in self.rows if row.what == what)

    def __str__(self) -> str:
        width = max(len(f"{row.what}, {row.unit}") for row in self.rows)
        lines = [f"{'':{width}}{'predicted':>14}{'compiled':>14}"]
        for row in self.rows:
            told = "-" if row.compiled is None else f"{row.compiled:.6g}"
            mark = "" if row.agrees else "  differs" + (f": {row.note}" if row.note else "")
            lines.append(f"{f'{row.what}, {row.unit}':{width}}{row.predicted:>14.6g}{told:>14}{mark}")
        return "\n".join(lines)

    __repr__ = __str__


def _close(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _collective_rows(report: dict[str, Any], text: str, tolerance: float) -> list[Row]:
    planned, compiled = planned_collectives(report), compiled_collectives(text)
    if compiled.get("reduce-scatter", NONE) < planned.get("reduce-scatter", NONE):
        planned, compiled = _scattered_by_all_reduces(planned), _scattered_by_all_reduces(compiled)
    rows = []
    for name in sorted(planned.keys() | compiled.keys()):
        (calls, received), (theirs, got) = planned.get(name, NONE), compiled.get(name, NONE)
        note = ""
        if calls and theirs and calls != theirs:
            note = f"{theirs} calls for {calls}: XLA combines some and repeats others"
        rows.append(Row(name, "bytes received by a device", received, got, _close(received, got, tolerance), note))
    return rows


def _scattered_by_all_reduces(found: dict[str, tuple[int, float]]) -> dict[str, tuple[int, float]]:
    """As XLA on hosts does it, which has no reduce-scatter: an all-reduce, of twice the bytes, and a slice."""
    calls, received = found.get("all-reduce", NONE)
    scatters, brought = found.get("reduce-scatter", NONE)
    others = {name: what for name, what in found.items() if name not in ("all-reduce", "reduce-scatter")}
    return others | {SCATTERED: (calls + scatters, received + 2 * brought)}


def _arguments_row(report: dict[str, Any], analysis: Any) -> Row:
    predicted = float(sum(argument["bytes"] for argument in report["arguments"]))
    held = float(analysis.argument_size_in_bytes)
    return Row("arguments of a device", "bytes", predicted, held, _close(predicted, held, 0.001))


def _memory_rows(report: dict[str, Any], compiled: Any, tolerance: float) -> list[Row]:
    """The most that a device holds, results included; those that take the place of arguments are in it once."""
    predicted = float(report["memory"]["peak_bytes"])
    analysis = compiled.memory_analysis()
    if analysis is None:
        return [Row("memory of a device", "bytes", predicted, None, True)]
    fresh = analysis.output_size_in_bytes - analysis.alias_size_in_bytes
    held = analysis.argument_size_in_bytes + fresh + analysis.temp_size_in_bytes
    note = f"as compiled {analysis.argument_size_in_bytes} of arguments, {fresh} of results that are not in their place, "
    note += f"{analysis.temp_size_in_bytes} of temporaries"
    most = Row("memory of a device", "bytes", predicted, float(held), _close(predicted, held, tolerance), note)
    return [_arguments_row(report, analysis), most]


def _flops_row(report: dict[str, Any], compiled: Any, text: str, tolerance: float) -> Row:
    """XLA counts what is in a loop once; so do we beside it."""
    analysis = compiled.cost_analysis()
    if isinstance(analysis, list):  # one per program, in older versions
        analysis = analysis[0] if analysis else None
    flops = (analysis or {}).get("flops")
    what, predicted = "work of a device", float(report["flops"])
    if LOOP.search(text):
        what, predicted = "work of a device, loops once", float(sum(op["flops"] for op in report["ops_in_order"]))
    return Row(what, "flops", predicted, flops, flops is None or _close(predicted, flops, tolerance))


def check(report: dict[str, Any], compiled: Any, tolerance: float) -> Check:
    """Of what `jax.jit(f).lower(...).compile()` gives."""
    text = compiled.as_text()
    rows = _collective_rows(report, text, tolerance) + _memory_rows(report, compiled, tolerance)
    return Check((*rows, _flops_row(report, compiled, text, tolerance)))
