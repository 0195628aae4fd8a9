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
                calls, received = found.get(kind, (0, 0.0))
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
        calls, received = found.get(name, (0, 0.0))
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
        lines = [f"{'':44}{'predicted':>14}{'compiled':>14}"]
        for row in self.rows:
            told = "-" if row.compiled is None else f"{row.compiled:.6g}"
            mark = "" if row.agrees else "  differs" + (f": {row.note}" if row.note else "")
            lines.append(f"{f'{row.what}, {row.unit}':44}{row.predicted:>14.6g}{told:>14}{mark}")
        return "\n".join(lines)

    __repr__ = __str__


def _close(a: float, b: float, tolerance: float) -> bool:
    return abs(a - b) <= tolerance * max(abs(a), abs(b))


def _collective_rows(report: dict[str, Any], text: str, tolerance: float) -> list[Row]:
    planned, compiled = planned_collectives(report), compiled_collectives(text)
    rows = []
    for name in sorted(planned.keys() | compiled.keys()):
        (calls, received), (theirs, got) = planned.get(name, (0, 0.0)), compiled.get(name, (0, 0.0))
        note = ""
        if name == "reduce-scatter" and not theirs and "all-reduce" in compiled:
            note = "compiled as an all-reduce and a slice, at twice the bytes"
        elif calls and theirs and calls != theirs:
            note = f"{theirs} calls for {calls}: XLA combines some and repeats others"
        rows.append(Row(name, "bytes received by a device", received, got, _close(received, got, tolerance), note))
    return rows


def _memory_row(report: dict[str, Any], compiled: Any, tolerance: float) -> Row:
    predicted = float(report["memory"]["peak_bytes"])
    analysis = compiled.memory_analysis()
    if analysis is None:
        return Row("memory of a device", "bytes", predicted, None, True)
    held = analysis.argument_size_in_bytes + analysis.output_size_in_bytes + analysis.temp_size_in_bytes
    held -= analysis.alias_size_in_bytes
    note = f"arguments {analysis.argument_size_in_bytes}, results {analysis.output_size_in_bytes} "
    note += f"({analysis.alias_size_in_bytes} in their place), temporaries {analysis.temp_size_in_bytes}"
    return Row("memory of a device", "bytes", predicted, float(held), _close(predicted, held, tolerance), note)


def _flops_row(report: dict[str, Any], compiled: Any, tolerance: float) -> Row:
    analysis = compiled.cost_analysis()
    if isinstance(analysis, list):  # one per program, in older versions
        analysis = analysis[0] if analysis else None
    flops = (analysis or {}).get("flops")
    predicted = float(report["flops"])
    agrees = flops is None or _close(predicted, flops, tolerance)
    return Row("work of a device", "flops", predicted, flops, agrees, "XLA counts the body of a loop once")


def check(report: dict[str, Any], compiled: Any, tolerance: float) -> Check:
    """Of what `jax.jit(f).lower(...).compile()` gives."""
    rows = _collective_rows(report, compiled.as_text(), tolerance)
    rows += [_memory_row(report, compiled, tolerance), _flops_row(report, compiled, tolerance)]
    return Check(tuple(rows))
