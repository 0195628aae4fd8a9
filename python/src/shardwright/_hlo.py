"""What XLA compiled, beside what a plan predicted.

Collectives are counted in bytes that a device receives, those of loops once per trip: a device of a group of n receives

    all-gather          (n-1)/n of its result         reduce-scatter      n-1 times its result
    all-reduce          2(n-1)/n of its operand       all-to-all          (n-1)/n of its operand
    collective-permute  its operand
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any, NamedTuple

COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+)[^\n]*\{\n(.*?)^\}", re.M | re.S)
COLLECTIVE = re.compile(
    r"= (\(?[a-z0-9]+\[.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(-start)?\((.*)$"
)
CALLED = re.compile(
    r"(?:to_apply|calls|condition|body|true_computation|false_computation|branch_computations)="
    r"\{?%?([\w.\-]+(?:, %?[\w.\-]+)*)(?![\w.\-]*=)"
)
TRIPS = re.compile(r'known_trip_count"?:\{"?n"?:"?(\d+)')
SHAPE = re.compile(r"([a-z]+\d+\w*|pred)\[([\d,]*)\]")
NAMES = {"permute": "collective-permute", "exchange": "collective-permute", "shift": "collective-permute",
         "all_to_all_dims": "all-to-all"}  # of plans, where they are not those of HLO
NONE = (0, 0.0)
SCATTERED = "all-reduce, reduce-scatter as all-reduce"
ENTRY = re.compile(r"^ENTRY %?([\w.\-]+)", re.M)
INSTRUCTION = re.compile(r"^ +(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$", re.M)
OPERAND = re.compile(r"%([\w.\-]+)")
CALLING = {"while", "call", "conditional"}
IN_PLACE = CALLING | {"parameter", "constant", "bitcast", "tuple", "get-tuple-element"}  # that take no memory of their own
COPYING = {"copy", "transpose", "convert"}
PRODUCT = (
    r"= %s\[[^=]* (?:dot|convolution|custom-call|fusion)\(.*"
    r"(?:contracting_dims|dim_labels|custom_call_target|kind=kCustom)"
)
LOOP = re.compile(r"^[^\n=]*= .* while\(", re.M)
OnHosts = Callable[[], int] | None
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
    entry = ENTRY.search(text)
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
        priced_so = report["compiler"] == "xla-cpu"  # its plans count them so already
        planned, compiled = _scattered_by_all_reduces(planned, 1 if priced_so else 2), _scattered_by_all_reduces(compiled)
    rows = []
    for name in sorted(planned.keys() | compiled.keys()):
        (calls, received), (theirs, got) = planned.get(name, NONE), compiled.get(name, NONE)
        note = ""
        if calls and theirs and calls != theirs:
            note = f"{theirs} calls for {calls}: XLA combines some and repeats others"
        rows.append(Row(name, "bytes received by a device", received, got, _close(received, got, tolerance), note))
    return rows


def _scattered_by_all_reduces(found: dict[str, tuple[int, float]], times: int = 2) -> dict[str, tuple[int, float]]:
    """As XLA on hosts does it, which has no reduce-scatter: an all-reduce, of twice the bytes, and a slice."""
    calls, received = found.get("all-reduce", NONE)
    scatters, brought = found.get("reduce-scatter", NONE)
    others = {name: what for name, what in found.items() if name not in ("all-reduce", "reduce-scatter")}
    return others | {SCATTERED: (calls + scatters, received + times * brought)}


def _arguments_row(report: dict[str, Any], analysis: Any) -> Row:
    predicted = float(sum(argument["bytes"] for argument in report["arguments"]))
    held = float(analysis.argument_size_in_bytes)
    return Row("arguments of a device", "bytes", predicted, held, _close(predicted, held, 0.001))


class _Instruction(NamedTuple):
    name: str
    bytes: int
    code: str
    operands: list[str]
    called: list[str]


class _Held:
    """What the values of a module hold, as its text has them in the order in which they are made."""

    def __init__(self, text: str) -> None:
        self._bodies = {m[1]: m[2] for m in COMPUTATION.finditer(text)}
        self._read: dict[str, list[_Instruction]] = {}

    def _instructions(self, computation: str) -> list[_Instruction]:
        if computation not in self._read:
            self._read[computation] = [
                _Instruction(
                    name,
                    sum(_bytes(shapes)),
                    code,
                    OPERAND.findall(rest.split("), ")[0]),
                    [called.lstrip("%") for listed in CALLED.findall(rest) for called in listed.split(", ")],
                )
                for name, shapes, code, rest in INSTRUCTION.findall(self._bodies.get(computation, ""))
            ]
        return self._read[computation]

    def _codes(self, of: _Instruction) -> set[str]:
        fused = [i.code for i in self._instructions(of.called[0])] if of.code == "fusion" and of.called else [of.code]
        return set(fused) - {"parameter", "constant", "bitcast", "reshape"}

    def peak(self, computation: str) -> tuple[int, int]:
        """The most bytes of what it makes, and those of them that are copies in other layouts or types."""
        owners: dict[str, set[str]] = {}
        last: dict[str, int] = {}
        instructions = self._instructions(computation)
        for at, made in enumerate(instructions):
            within = made.code in IN_PLACE or "dynamic-update-slice" in self._codes(made)
            owners[made.name] = set().union(*(owners.get(o, ()) for o in made.operands)) if within else {made.name}
            for value in made.operands:
                last.update(dict.fromkeys(owners.get(value, ()), at))
        if instructions:
            last.update(dict.fromkeys(owners[instructions[-1].name], len(instructions)))
        held: dict[str, int] = {}
        copies: set[str] = set()
        most = (0, 0)
        for at, made in enumerate(instructions):
            if made.name in owners[made.name]:
                held[made.name] = made.bytes
                copies |= {made.name} if self._codes(made) <= COPYING else set()
            inner = max((self.peak(c) for c in made.called if made.code in CALLING), default=(0, 0))
            most = max(most, (sum(held.values()) + inner[0], sum(held[c] for c in copies & held.keys()) + inner[1]))
            held = {name: size for name, size in held.items() if last.get(name, -1) > at}
        return most


def _why_memory_differs(report: dict[str, Any], analysis: Any, text: str, on_hosts: OnHosts) -> list[str]:
    """What XLA holds that the plan does not: what its fusions leave on hosts, copies of its own, wide values of narrow
    products, and results of which the plan takes arguments to be donated."""
    entry = ENTRY.search(text)
    copies = _Held(text).peak(entry[1])[1] if entry else 0
    held = {argument["name"]: argument["bytes"] for argument in report["arguments"]}
    replaced = sum(held[output["replaces"]] for output in report["outputs"] if "replaces" in output)
    kept = replaced - analysis.alias_size_in_bytes
    narrow, predicted = report["dtype"], report["memory"]["peak_bytes"]
    fused = on_hosts() if on_hosts else predicted
    reasons = {
        f"{fused} predicted as XLA on hosts fuses ops": fused != predicted,
        f"about {copies} of temporaries are copies in other layouts or types": copies > 0,
        f"products in {narrow} are made wider": narrow in ("bf16", "f16") and not re.search(PRODUCT % narrow, text),
        f"{kept} of results would take the place of arguments if these were donated": kept > 0,
    }
    return [reason for reason, holds in reasons.items() if holds]


def _memory_rows(report: dict[str, Any], compiled: Any, text: str, tolerance: float, on_hosts: OnHosts) -> list[Row]:
    """The most that a device holds, results included; those that take the place of arguments are in it once."""
    predicted = float(report["memory"]["peak_bytes"])
    analysis = compiled.memory_analysis()
    if analysis is None:
        return [Row("memory of a device", "bytes", predicted, None, True)]
    fresh = analysis.output_size_in_bytes - analysis.alias_size_in_bytes
    held = analysis.argument_size_in_bytes + fresh + analysis.temp_size_in_bytes
    note = f"as compiled {analysis.argument_size_in_bytes} of arguments, {fresh} of results that are not in their place, "
    note += f"{analysis.temp_size_in_bytes} of temporaries"
    agrees = _close(predicted, held, tolerance)
    if not agrees:
        note = "; ".join([note, *_why_memory_differs(report, analysis, text, on_hosts)])
    most = Row("memory of a device", "bytes", predicted, float(held), agrees, note)
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


def _again_rows(report: dict[str, Any], work: Row) -> list[Row]:
    """What is made again, if XLA's account of all has it, too."""
    again = float(sum(op["flops"] for op in report["ops_in_order"] if "again_of" in op))
    if not again or work.compiled is None:
        return []
    compiled = max(0.0, work.compiled - (work.predicted - again))
    merged = compiled < again / 2
    note = "XLA has merged what is made again with what was made first: it takes no time again, and saves no memory"
    return [Row("of it made again", "flops", again, compiled, not merged, note if merged else "")]


def check(report: dict[str, Any], compiled: Any, tolerance: float, on_hosts: OnHosts = None) -> Check:
    """Of what `jax.jit(f).lower(...).compile()` gives; `on_hosts`: what the plan holds as by XLA on hosts, where it is for
    these."""
    text = compiled.as_text()
    rows = _collective_rows(report, text, tolerance) + _memory_rows(report, compiled, text, tolerance, on_hosts)
    work = _flops_row(report, compiled, text, tolerance)
    return Check((*rows, work, *_again_rows(report, work)))
