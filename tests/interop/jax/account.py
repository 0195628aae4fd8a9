"""What the collectives that XLA compiled have to do with those of the plan.

Both are counted in bytes that a device receives (an all-reduce as a reduce-scatter and an all-gather) and are told by
the line of the program that they belong to: `with_lines` writes places into the text, XLA keeps them as metadata, and
the plan's report names them. What differs must have one of the reasons in REASONS; the rest is unexplained.
"""

import re
from collections import defaultdict

REASONS = {
    "same": "as planned (at another op: before or behind ops that do not change it)",
    "rewritten": "a reduce_scatter, compiled as an all_reduce and a slice (XLA on CPUs)",
    "merged": "several reductions in one all_reduce (XLA's combiner)",
    "widened": "bf16 moved as f32, which XLA on CPUs computes it in",
    "a part": "an all_gather of what is then sliced, compiled as an all_to_all that moves the slices alone",
    "not cut": "an op that XLA does not partition: it gathers the operands",
    "nothing": "planned and not compiled: XLA reuses what is there",
}
NOT_CUT = ("top_k", "custom_call")
FILE = "program"
COLLECTIVE = re.compile(
    r"= (\(?[a-z0-9]+\[.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)$", re.M
)
SHAPE = re.compile(r"([a-z]+\d+|pred)\[([\d,]*)\]")
BYTES = {"pred": 1, "bf16": 2}
ENDS_OP = re.compile(r"^\s*(?:%[\w:#, %]+ = |return |\}\) )[^\n]*[^\s{(,]$|^\s*\}\)[^\n]* : [^\n]*$")


def with_lines(text):
    """The program with a place behind each op that ends on its line: XLA keeps its name, the plan its file and line."""
    out, lines = [], text.splitlines()
    for number, line in enumerate(lines, 1):
        goes_on = number < len(lines) and lines[number].strip().startswith(("cond {", "reducer("))
        ends = ENDS_OP.match(line) and " loc(" not in line and not goes_on
        out.append(f'{line} loc("L{number}"("{FILE}":{number}:1))' if ends else line)
    return "\n".join(out) + "\n"


def size_of(shapes):
    total = 0
    for dtype, dims in SHAPE.findall(shapes):
        count = 1
        for d in dims.split(","):
            count *= int(d) if d else 1
        total += count * (BYTES.get(dtype) or int(re.sub(r"\D", "", dtype)) // 8)
    return total


def members_of(rest):
    """Devices of a group."""
    mesh = re.search(r"replica_groups=mesh\[([^\]]*)\].*?\{([^}]*)\}", rest)
    if mesh:
        sizes = dict(re.findall(r"'(\w+)'=(\d+)", mesh[1]))
        n = 1
        for axis in re.findall(r"'(\w+)'(?::\(\d+\)(\d+))?", mesh[2]):
            n *= int(axis[1] or sizes[axis[0]])
        return n
    iota = re.search(r"replica_groups=\[(\d+),(\d+)\]", rest)
    if iota:
        return int(iota[2])
    listed = re.search(r"replica_groups=\{\{([\d,]*)\}", rest)
    return len(listed[1].split(",")) if listed else 1


def received(name, size, n):
    return {
        "all-gather": size * (n - 1) / n,
        "all-reduce": 2 * size * (n - 1) / n,
        "reduce-scatter": size * (n - 1),
        "all-to-all": size * (n - 1) / n,
        "collective-permute": size,
    }[name]


def compiled(executable):
    """[(line, name, bytes)]; line None: XLA lost it."""
    found = []
    for module in executable.hlo_modules():
        text = module.to_string()
        for shapes, name, rest in COLLECTIVE.findall(text):
            line = re.search(r'op_name="[^"]*\bL(\d+)"', rest)
            parts = SHAPE.finditer(shapes) if name == "all-reduce" else [shapes]  # XLA's combiner makes one of several
            for part in parts:
                size = size_of(part if isinstance(part, str) else part[0])
                found.append((int(line[1]) if line else None, name, received(name, size, members_of(rest))))
    return found


def planned(report):
    """[(line, name, bytes)] of the plan's reshards."""
    lines = {op["name"]: int(op["location"].split(":")[-2]) for op in report["ops_in_order"] if op.get("location")}
    found = []
    for r in report["reshards"]:
        at = [lines[o] for o in ([r["made_by"]] if "partial" in r["from"] else r["wanted_by"]) if o in lines]
        for step in r["steps"]:
            if step["bytes"] > 0:
                found.append((at[0] if at else None, step["collective"].split()[0].replace("_", "-"), step["bytes"]))
    return found


def close(a, b):
    return abs(a - b) <= 0.01 * max(a, b)


def scaled(ours, theirs, factor):
    """Does a planned collective of one name, its bytes times a factor, stand for a compiled one of another?"""
    return lambda p, c: p[1] == ours and c[1] == theirs and close(factor * p[2], c[2])


class Account:
    """Compiled bytes by reason; `unexplained` is a list of (line, name, bytes)."""

    def __init__(self, ours, theirs, text, devices):
        self.by = defaultdict(float)
        self.total = sum(b for _, _, b in theirs)
        self.lines = text.splitlines()
        ours, theirs = list(ours), list(theirs)
        self.pair("same", ours, theirs, lambda p, c: p == c or (p[:2] == c[:2] and close(p[2], c[2])))
        self.pair("same", ours, theirs, lambda p, c: p[1] == c[1] and close(p[2], c[2]))
        self.pair("rewritten", ours, theirs, scaled("reduce-scatter", "all-reduce", 2))
        self.pair("a part", ours, theirs, scaled("all-gather", "all-to-all", 1 / devices))
        if "bf16" in text:
            self.pair("widened", ours, theirs, lambda p, c: p[1] == c[1] and close(2 * p[2], c[2]))
            self.pair("widened", ours, theirs, scaled("reduce-scatter", "all-reduce", 4))
        self.merge(ours, theirs)
        self.unexplained = [c for c in theirs if not self.is_not_cut(c)]
        self.by["not cut"] += sum(b for _, _, b in theirs) - sum(b for _, _, b in self.unexplained)
        self.by["nothing"] += sum(b for _, _, b in ours)

    def is_not_cut(self, item):
        return item[0] and item[1] == "all-gather" and any(op in self.lines[item[0] - 1] for op in NOT_CUT)

    def pair(self, reason, ours, theirs, fits):
        for p in list(ours):
            c = next((c for c in theirs if fits(p, c)), None)
            if c:
                ours.remove(p)
                theirs.remove(c)
                self.by[reason] += c[2]

    def merge(self, ours, theirs):
        """All reductions that are left, against all all_reduces."""
        a = [i for i in ours if i[1] in ("reduce-scatter", "all-reduce")]
        b = [i for i in theirs if i[1] == "all-reduce"]
        if a and b and close(sum(i[2] * (2 if i[1] == "reduce-scatter" else 1) for i in a), sum(i[2] for i in b)):
            self.by["merged"] += sum(i[2] for i in b)
            for i in a:
                ours.remove(i)
            for i in b:
                theirs.remove(i)

    @property
    def share(self):
        return sum(b for _, _, b in self.unexplained) / self.total if self.total else 0.0

    def text(self):
        parts = [f"{reason} {self.by[reason]:.0f} B" for reason in REASONS if self.by[reason]]
        parts += [f"unexplained {self.share:.1%}" + "".join(f" ({n} {b:.0f} B in line {l})" for l, n, b in self.unexplained)]
        return ", ".join(parts)
