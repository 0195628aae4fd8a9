"""What a step did in this process, beside what its plan predicted: bytes of collectives, and memory."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import shardwright
from shardwright._hlo import LOCAL
from shardwright.torch.placements import placements

if TYPE_CHECKING:
    from shardwright.torch._again import Written
    from shardwright.torch._watch import Seen, Where
    from shardwright.torch.plan import Plan

BRACES = re.compile(r"\{([^{}]*)\}")
RANGE = re.compile(r"(\d+)\.\.(\d+)(?:\.\.(\d+))?$")
Key = tuple[str, Any]  # a value, and the placements of a copy of it, or "" for the op that makes it
NAMES = {"all_to_all_dims": "all_to_all", "permute": "exchange", "shift": "exchange"}


@dataclasses.dataclass(frozen=True)
class Row:
    """A figure in bytes: planned and seen in this process, how many calls, and why they differ ('' where nothing says it)."""

    what: str
    planned: float
    seen: float
    reason: str = ""
    planned_calls: int = 0
    seen_calls: int = 0
    tolerance: float = 0.05

    @property
    def equal(self) -> bool:
        """Within the tolerance?"""
        return abs(self.planned - self.seen) <= self.tolerance * max(self.planned, self.seen)

    @property
    def agrees(self) -> bool:
        """So, or is it said why not?"""
        return self.equal or bool(self.reason)


@dataclasses.dataclass(frozen=True)
class Check:
    """What was planned beside what a step did. `collectives` by name; `entries`, the same bytes by the copy of a value, or
    the op, that they are for; `memory`: the most that was held, and of it by what it is for."""

    collectives: tuple[Row, ...]
    entries: tuple[Row, ...]
    memory: tuple[Row, ...]

    @property
    def agrees(self) -> bool:
        """Is all of it as planned, or is it said why not?"""
        return not self.differences

    @property
    def differences(self) -> tuple[Row, ...]:
        """What is not as planned, for no reason that is known."""
        return tuple(row for row in (*self.entries, *self.memory) if not row.agrees)

    def __str__(self) -> str:
        differ = [row for row in self.entries if not row.equal]
        equal = len(self.entries) - len(differ)
        lines = _table("collectives, bytes received", self.collectives, calls=True)
        lines += ["", f"{equal} of {len(self.entries)} copies and ops that communicate do it as planned"]
        if differ:
            lines += _table("the others", differ)
        return "\n".join([*lines, "", *_table("memory, bytes", self.memory)])

    __repr__ = __str__


def _table(title: str, rows: Sequence[Row], calls: bool = False) -> list[str]:
    width = max([len(title), *(len(row.what) for row in rows)])
    head = f"{title:{width}}{'planned':>14}{'seen':>14}" + (f"{'calls':>8}{'seen':>8}" if calls else "")
    lines = [head]
    for row in rows:
        counted = f"{row.planned_calls:>8}{row.seen_calls:>8}" if calls else ""
        told = "" if row.equal else f"  {row.reason}" if row.reason else "" if calls else "  differs"
        lines.append(f"{row.what:{width}}{row.planned:>14.0f}{row.seen:>14.0f}{counted}{told}")
    return lines


def check(plan: Plan, step: Written, seen: Seen, whole: Mapping[str, int], device: str) -> Check:
    """`step`: the plan's, as it ran; `whole`: ops that every process computed as a whole; `device`: the type of those that it ran on."""
    report = plan.report().data
    entries = _Entries(plan, step, report, whole, device)
    for where, kind, received in seen.collectives:
        entries.see(where, kind, received)
    for key, source in seen.sources.items():
        if key in entries.by_key:
            entries.by_key[key].source = source
    return Check(_collectives(report, seen), tuple(entries.rows()), _memory(plan, seen))


def _collectives(report: Mapping[str, Any], seen: Seen) -> tuple[Row, ...]:
    planned: dict[str, tuple[int, float]] = {}
    found: dict[str, tuple[int, float]] = {}
    of_plan = ((NAMES.get(r["op"], r["op"]), r["calls"], r["bytes"]) for r in report["by_collective"] if r["op"] not in LOCAL)
    of_step = ((kind, 1, received) for _, kind, received in seen.collectives)
    for into, rows in ((planned, of_plan), (found, of_step)):
        for kind, calls, received in rows:
            before = into.get(kind, (0, 0.0))
            into[kind] = (before[0] + calls, before[1] + received)
    none = (0, 0.0)
    pairs = {kind: (planned.get(kind, none), found.get(kind, none)) for kind in sorted(planned.keys() | found.keys())}
    return tuple(Row(kind, p[1], s[1], "", p[0], s[0]) for kind, (p, s) in pairs.items())


# --- entry by entry --------------------------------------------------------------------------------------------------


@dataclasses.dataclass
class _Entry:
    planned: float = 0
    seen: float = 0
    planned_kinds: set[str] = dataclasses.field(default_factory=set)
    seen_kinds: set[str] = dataclasses.field(default_factory=set)
    planned_source: Any = None
    source: Any = None
    op: str = ""
    inside: set[str] = dataclasses.field(default_factory=set)  # kinds of ops that communicate at work
    users: set[str] = dataclasses.field(default_factory=set)


class _Entries:
    def __init__(self, plan: Plan, step: Written, report: Mapping[str, Any], whole: Mapping[str, int], device: str) -> None:
        self.mesh, self.whole, self.device = plan.mesh, whole, device
        self.model = step.model
        self.by_key: dict[Key, _Entry] = {}
        self.op_of = {node.name: str(node.target) for node in step.traced.graph.graph.nodes}
        for row in report["reshards"]:
            self._plan(row)
        for op in report["ops_in_order"]:
            if op.get("inside_bytes"):
                entry = self._entry((self._result_of(op["name"]), ""))
                entry.planned += op["inside_bytes"] * op.get("repeats", 1)
                entry.inside.add(op["op"])

    def _entry(self, key: Key) -> _Entry:
        return self.by_key.setdefault(key, _Entry())

    def _result_of(self, op: str) -> str:
        """The first result of the node that the op is of."""
        values = self.model.values.get(self.model.nodes.get(op, ""), [])
        return values[0] if values else op

    def _placed(self, row: Mapping[str, Any], key: str) -> Any:
        try:
            return placements(row["value"], row[key], self.mesh)
        except shardwright.InputError:
            return row[key]

    def _plan(self, row: Mapping[str, Any]) -> None:
        nodes = self.model.nodes
        maker = nodes.get(row["value"])
        inside = maker is not None and all(nodes.get(user) == maker for user in row["wanted_by"])
        to = self._placed(row, "to")
        entry = self._entry((self._result_of(row["value"]), "") if inside else (row["value"], to))
        entry.planned += row["bytes"] * row.get("repeats", 1)
        entry.planned_source = self._placed(row, "from")
        entry.users |= {self.op_of[nodes[user]] for user in row["wanted_by"] if user in nodes}
        for step in row["steps"]:
            kind = step["collective"].split()[0]
            if kind not in LOCAL:
                entry.planned_kinds.add(NAMES.get(kind, kind))

    def see(self, where: Where, kind: str, received: float) -> None:
        entry = self._entry((where.value, where.to) if where.to else (self._result_of(where.value), ""))
        entry.seen += received
        entry.seen_kinds.add(kind)
        entry.source = where.source or entry.source
        entry.op = where.op or entry.op

    def rows(self) -> Iterable[Row]:
        for (value, to), entry in self.by_key.items():
            if entry.planned or entry.seen:
                what = f"{value} as ({', '.join(map(str, to))})" if to and not isinstance(to, str) else f"{value}{to and ' as '}{to}"
                row = Row(what, entry.planned, entry.seen)
                yield row if row.equal else dataclasses.replace(row, reason=self._why(value, to, entry))

    def _why(self, value: str, to: Any, entry: _Entry) -> str:
        op = entry.op or self.op_of.get(self.model.nodes.get(value, ""), "")
        if op in self.whole:
            return f"{op}: every process computes all of it, as DTensor has no rule for it"
        if not to and entry.inside:
            return f"{op}: no placement says what {' and '.join(sorted(entry.inside))} gets of its neighbours; {_by(entry.seen_kinds)}"
        if not to:
            return f"{op}: by DTensor's rule for it {_by(entry.seen_kinds)}; planned: {_by(entry.planned_kinds)}"
        if isinstance(to, str):
            return "no DTensor placement says so"
        if not entry.seen and entry.source is None:
            return f"{' and '.join(sorted(entry.users))}: DTensor's rule for it needs no such copy" if entry.users else ""
        if entry.source is not None and entry.source != entry.planned_source:
            return f"DTensor's rule for {op or 'an argument'} gives it as ({', '.join(map(str, entry.source))})"
        if not entry.seen and any(p.is_partial() for p in to):
            return "DTensor sets zeros around a shard to make it a part of a sum"
        if self.device == "cpu" and "all_to_all" in entry.planned_kinds and "all_gather" in entry.seen_kinds:
            return "gloo has no all_to_all: an all_gather and a slice"
        if entry.seen and len(self.mesh.axes) > 1:
            return f"DTensor goes by {' and '.join(sorted(entry.seen_kinds))}, along one axis after the other"
        return ""


def _by(kinds: Iterable[str]) -> str:
    return " and ".join(sorted(kinds)) or "nothing"


# --- memory ----------------------------------------------------------------------------------------------------------


def spelled_out(name: str) -> list[str]:
    """The names that a group's stands for: h.{0..3}.w{q,k}."""
    parts = BRACES.split(name)
    choices = [[part] if i % 2 == 0 else _choices(part) for i, part in enumerate(parts)]
    return ["".join(words) for words in itertools.product(*choices)]


def _choices(text: str) -> list[str]:
    found: list[str] = []
    for word in text.split(","):
        numbers = RANGE.match(word)
        if numbers:
            first, last, step = (int(n or 1) for n in numbers.groups())
            found += [str(n) for n in range(first, last + 1, step)]
        else:
            found.append(word)
    return found


def classes(report: Mapping[str, Any]) -> dict[str, str]:
    """What each value is for, as the plan's account of memory has it."""
    return {
        name: row["class"]
        for row in report["memory"]["held"]
        if row["class"] != "resharded copies"
        for name in spelled_out(row["name"])
    }


def _memory(plan: Plan, seen: Seen) -> tuple[Row, ...]:
    """The most that is held: as planned, and, by what it is for, of a compiler that runs ops one by one, as they run here."""
    report, alone = plan.report().data, plan._eager
    predicted, peak = report["memory"]["peak_bytes"], alone["memory"]["peak_bytes"]
    of = {row["class"]: row["bytes"] for row in alone["memory"]["classes_at_peak"]}
    rows = [
        Row(f"  {what}", of.get(what, 0), seen.at_peak.get(what, 0), f"at the peak, which is at {seen.peak_at.value}", tolerance=0.1)
        for what in sorted(of.keys() | seen.at_peak.keys(), key=lambda w: -of.get(w, 0))
    ]
    largest = sorted(rows, key=lambda row: -abs(row.planned - row.seen))[:2]
    more = ", ".join(f"{row.what.strip()} {row.seen - row.planned:+.0f}" for row in largest)
    here = Row("ops one by one", peak, seen.peak_bytes, f"{more}, at {seen.peak_at.op} of {seen.peak_at.value}", tolerance=0.1)
    compiled = f"{report['compiler']} fuses ops, which run one by one here" if peak != predicted else here.reason
    return (Row("most at once", predicted, seen.peak_bytes, compiled, tolerance=0.1), here, *rows)
