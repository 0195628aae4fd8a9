"""Collectives that XLA puts between a program's ends and their planned shardings.

A plan may cut 12 rows over 8 devices. XLA has no such arguments and results: Shardy cuts them by fewer axes, as many as
divide (4 of the 8), and the program moves them into the plan's sharding, and back, by collectives that belong to no op:

    %p = f32[3] parameter(0), sharding={devices=[4,2]...}      3 rows on each of 4 devices
    %m = f32[3] collective-permute(%p)                         to 2 rows on each of the first 6
"""

import math
import re

from partials import TENSOR, axes_of

INSTRUCTION = re.compile(r"^\s+(ROOT )?%?([\w.\-]+) = (.*?) ([\w\-]+)\(([^)]*)\)(.*)$")
MOVES = {"all-gather", "all-to-all", "collective-permute"}
FREE = {"constant", "iota", "partition-id"}
STOPS = {"while", "call", "conditional", "custom-call", "all-reduce", "reduce-scatter"}


def is_uneven(sharding, shape, sizes):
    cuts = [math.prod(axes_of(d, sizes)) for d in re.findall(r"\[([^\[\]]*)\]", sharding[1:-1])]
    return any(k % n for k, n in zip(shape, cuts))


def shapes_of_ends(text):
    """Of the arguments and of the results of @main."""
    head = next(line for line in text.splitlines() if re.search(r"func\.func .*@main\(", line))
    shapes = lambda part: [[int(d) for d in dims.split("x") if d] for dims, *_ in TENSOR.findall(part)]
    arguments, _, results = head.partition(") -> ")
    return shapes(arguments), shapes(results)


class Entry:
    """The instructions of a module's entry computation."""

    def __init__(self, hlo):
        body = hlo[hlo.index("\nENTRY ") :].partition("\n}")[0]
        found = [m for m in map(INSTRUCTION.match, body.splitlines()) if m]
        self.line = {m[2]: m[0] for m in found}
        self.op = {m[2]: m[4] for m in found}
        self.operands = {m[2]: re.findall(r"%([\w.\-]+)", m[5]) for m in found}
        self.number = {m[2]: int(m[5]) for m in found if m[4] == "parameter"}
        self.root = next((m[2] for m in found if m[1]), None)
        self.users = {name: [] for name in self.line}
        for name, operands in self.operands.items():
            for o in operands:
                self.users[o].append(name)

    def made_of(self, arguments):
        """Instructions that are made of these arguments, and of nothing else but constants; operands stand before."""
        free, made = set(), set()
        for name, op in self.op.items():
            operands = self.operands[name]
            if op in FREE or (op not in STOPS and operands and free.issuperset(operands)):
                free.add(name)
            elif op == "parameter" and self.number[name] in arguments:
                made.add(name)
            elif op not in STOPS and operands and all(o in free or o in made for o in operands):
                made.add(name)
        return made

    def goes_into(self, results):
        """Instructions that belong to no op of the program and only go into these results."""
        into = set()
        for name in reversed(self.op):
            if name == self.root or self.op[name] in STOPS or self.is_named(name):
                continue
            uses = [(u, i) for u in self.users[name] for i, o in enumerate(self.operands[u]) if o == name]
            if uses and all(i in results if u == self.root else u in into for u, i in uses):
                into.add(name)
        return into

    def is_named(self, name):
        return re.search(r'op_name="[^"]*\bL\d+', self.line[name])


def at_ends(hlo, plan, report, text):
    """The collectives, as lines of HLO, that only bring uneven arguments in or uneven results out."""
    sizes = {n: int(s) for n, s in re.findall(r"(\w+)=(\d+)", report["mesh"])}
    uneven = lambda said, shapes: {i for i, (e, k) in enumerate(zip(said, shapes)) if is_uneven(e["sharding"], k, sizes)}
    shapes = shapes_of_ends(text)
    arguments, results = uneven(plan["arguments"], shapes[0]), uneven(plan["outputs"], shapes[1])
    entry = Entry(hlo)
    found = entry.made_of(arguments) | entry.goes_into(results)
    return [entry.line[name] for name, op in entry.op.items() if op in MOVES and name in found]
