"""Values that a function of JAX names (jax.ad_checkpoint.checkpoint_name), and what a plan does with them.

Names are gone from the program that JAX lowers to. So the op that makes a named value is found by its primitive and line, and
by which of those it is, in the order that both have them in.
"""

from __future__ import annotations

import collections
import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from jax.extend.core import jaxprs_in_params
from jax.extend.source_info_util import summarize

PLACE = re.compile(r"^(.*?:\d+)(:\d+)?( |$)")
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True)
class Named:
    """A value with a name: the how-manieth equation of its primitive and line makes it."""

    name: str
    key: Key
    nth: int


def _place(text: str) -> str:
    found = PLACE.match(text)
    return found[1] if found else text


class _Equations:
    """Those that ops come from, calls seen through, in order."""

    def __init__(self) -> None:
        self.seen: collections.Counter[Key] = collections.Counter()
        self.named: list[Named] = []

    def walk(self, jaxpr: Any, given: Sequence[tuple[Key, int] | None]) -> list[tuple[Key, int] | None]:
        """Of each result the equation that makes it."""
        made = dict(zip(map(id, jaxpr.invars), given, strict=True))
        for eqn in jaxpr.eqns:
            inner = list(jaxprs_in_params(eqn.params))
            reads = [made.get(id(v)) for v in eqn.invars]
            if eqn.primitive.name == "name":
                outs = reads
                if reads[0]:
                    self.named.append(Named(eqn.params["name"], *reads[0]))
            elif len(inner) == 1 and (len(inner[0].invars), len(inner[0].outvars)) == (len(eqn.invars), len(eqn.outvars)):
                outs = self.walk(inner[0], reads)
            else:
                for body in inner:
                    self.walk(body, [None] * len(body.invars))
                key = (eqn.primitive.name, _place(summarize(eqn.source_info)))
                outs = [(key, self.seen[key])] * len(eqn.outvars)
                self.seen[key] += 1
            made.update(zip(map(id, eqn.outvars), outs, strict=True))
        return [made.get(id(v)) for v in jaxpr.outvars]


class Decided(NamedTuple):
    """Of the values of one name, how many the plan keeps, makes again and offloads."""

    kept: int
    again: int
    offloaded: int = 0


def decisions(jaxpr: Any, report: Mapping[str, Any]) -> dict[str, Decided]:
    """By name, what the plan does with its values."""
    equations = _Equations()
    equations.walk(jaxpr, [None] * len(jaxpr.invars))
    again = {op["again_of"] for op in report["ops_in_order"] if "again_of" in op}
    away = {op["made_by"] for op in report["ops_in_order"] if "offloads" in op}
    ops: dict[Key, list[str]] = collections.defaultdict(list)
    for op in report["ops_in_order"]:
        if "scope" in op and "source" in op and "again_of" not in op:
            ops[op["scope"].rsplit("/", 1)[-1], _place(op["source"])].append(op["name"])
    found: dict[str, Decided] = {}
    for value in equations.named:
        made, each = ops[value.key], equations.seen[value.key]
        was = found.get(value.name, Decided(0, 0))
        per = len(made) // each  # ops that one equation becomes: the last of them makes the value
        by = made[(value.nth + 1) * per - 1] if per and len(made) % each == 0 else ""
        is_away, is_again = by in away, by in again and by not in away
        kept = not is_away and not is_again
        found[value.name] = Decided(was.kept + kept, was.again + is_again, was.offloaded + is_away)
    return found
