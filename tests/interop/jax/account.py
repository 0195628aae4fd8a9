"""What the collectives that XLA compiled have to do with those of the plan.

Both are counted in bytes that a device receives (an all-reduce as a reduce-scatter and an all-gather) and are told by
the line of the program that they belong to: `with_lines` writes places into the text, XLA keeps them as metadata, and
the plan's report names them. What differs must have one of the reasons in REASONS; the rest is unexplained.
"""

import math
import re
from collections import defaultdict

from ends import at_ends
from partials import Program, axes_of, gatherings, reductions, sharding_before

REASONS = {
    "same": "as planned (at another op: before or behind ops that do not change it)",
    "rewritten": "a reduce_scatter, compiled as an all_reduce and a slice (XLA on CPUs)",
    "padded": "all_gathers of blocks with their padding, or along axes in another order",
    "terms": "a sum that the plan reduces once, reduced in each of its terms (StableHLO has no partial values)",
    "merged": "several reductions in one all_reduce (XLA's combiner)",
    "widened": "bf16 moved as f32, which XLA on CPUs computes it in",
    "inside": "what an op exchanges by itself, along a dim that it slices, pads, joins or has windows on and that is cut",
    "a part": "an all_gather of what is then sliced, compiled as an all_to_all that moves the slices alone",
    "not cut": "an op that XLA does not partition, or not along the dim that it looks up in: it gathers the operand",
    "again": "a reshard that the plan makes once for several uses, compiled once for each",
    "uneven": "arguments and results that do not divide: XLA has them cut by fewer axes, and moves them (ends.py)",
    "nothing": "planned and not compiled: XLA reuses what is there",
}
MOST_PADDING = 2  # of pieces that are sent
NOT_CUT = ("top_k", "custom_call", "stablehlo.fft")
FILE = "program"
COLLECTIVE = re.compile(
    r"= (\(?[a-z0-9]+\[.*?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)(?:-start)?\((.*)$", re.M
)
SHAPE = re.compile(r"([a-z]+\d+|pred)\[([\d,]*)\]")
BYTES = {"pred": 1, "bf16": 2}
ENDS_OP = re.compile(r"^\s*(?:%[\w:#, %]+ = |(?:stablehlo\.)?return |\}\) )[^\n]*[^\s{(,]$|^\s*\}\)[^\n]* : [^\n]*$")


def with_lines(text):
    """The program with a place behind each op: XLA keeps its name, the plan its file and line. An op with regions is named
    after the line that it begins in, as in the plan's report."""
    out, lines, begun = [], text.splitlines(), {}
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if re.match(r'\s*(%|"|[a-z_]+\.)', line):
            begun[indent] = number
        goes_on = number < len(lines) and lines[number].strip().startswith(("cond {", "reducer("))
        first = begun.get(indent, number) if line.lstrip().startswith("}") else number
        ends_loop = line.strip() == "}" and "stablehlo.while(" in lines[first - 1]
        ends = (ENDS_OP.match(line) or ends_loop) and " loc(" not in line and not goes_on
        out.append(f'{line} loc("L{first}"("{FILE}":{first}:1))' if ends else line)
    return "\n".join(out) + "\n"


def with_constraints(text):
    """What `--emit sdy` made of such a program: constraints get the place of the op that they stand by."""
    lines = text.splitlines()
    indent = lambda i: len(lines[i]) - len(lines[i].lstrip())
    place = lambda i: re.search(r' loc\("L\d+".*', lines[i])

    def place_of_op(i):
        """That of the op that begins in line i: behind its regions, if it has some."""
        ends = (k for k in range(i + 1, len(lines)) if lines[k].lstrip().startswith("}") and indent(k) <= indent(i))
        last = next((k for k in ends if place(k) or indent(k) < indent(i)), i)
        return place(i) or (place(last) if indent(last) == indent(i) else None)

    for i, line in enumerate(lines):
        if "sdy.sharding_constraint" in line and not place(i):
            before = re.match(r"\s*%sw\$\.\d+ = sdy.sharding_constraint (?!%sw\$[^.])", line)
            near = range(i + 1, len(lines)) if before else range(i - 1, -1, -1)
            op = next((k for k in near if "sdy.sharding_constraint" not in lines[k]), None)
            found = op is not None and (place_of_op(op) if before else place(op))
            lines[i] += found[0] if found else ""
    return "\n".join(lines) + "\n"


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
    return [item for module in executable.hlo_modules() for item in collectives_in(module.to_string())]


def collectives_in(text):
    found = []
    for shapes, name, rest in COLLECTIVE.findall(text):
        parts = [m[0] for m in SHAPE.finditer(shapes)] if name == "all-reduce" else [shapes]
        for line, part in zip(lines_of(rest, len(parts)), parts, strict=True):
            found.append((line, name, received(name, size_of(part), members_of(rest))))
    return found


def lines_of(rest, n):
    """Of the n collectives that XLA's combiner has made one: "(L3:L7)" are the names of two."""
    one = re.search(r'op_name="[^"]*\bL(\d+)"', rest)
    several = re.search(r'op_name="(?:[^"]*/)?\(([^)"]*)\)"', rest)
    names = [one[0].rstrip('"')] * n if one else several[1].split(":") if several else []
    found = [re.search(r"\bL(\d+)$", name) for name in names]
    return [int(f[1]) if f else None for f in found] if len(found) == n else [None] * n


def planned_by(report):
    """[(line, name, bytes)] of each of the plan's reshards."""
    lines = {op["name"]: int(op["location"].split(":")[-2]) for op in report["ops_in_order"] if op.get("location")}
    found = []
    for r in report["reshards"]:
        at = [lines[o] for o in ([r["made_by"]] if "partial" in r["from"] else r["wanted_by"]) if o in lines]
        steps = [s for s in r["steps"] if s["bytes"] > 0]
        found.append([(at[0] if at else None, s["collective"].split()[0].replace("_", "-"), s["bytes"]) for s in steps])
    return found


def planned(report):
    return [step for steps in planned_by(report) for step in steps]


def axes_in(sharding):
    return set(re.findall(r"[a-zA-Z_]\w*(?::\(\d+\)\d+)?", sharding))


def close(a, b):
    return abs(a - b) <= 0.01 * max(a, b)


def lines_around(program, reshard):
    """Where a reshard may be: at the op that makes the value, those that want it, and calls around these."""
    return set().union(*(program.lines_of(o) for o in [reshard["made_by"], *reshard["wanted_by"]] if o in program.ops))


def scaled(ours, theirs, factor):
    """Does a planned collective of one name, its bytes times a factor, stand for a compiled one of another?"""
    return lambda p, c: p[1] == ours and c[1] == theirs and close(factor * p[2], c[2])


class Account:
    """Compiled bytes by reason; `unexplained` is a list of (line, name, bytes)."""

    def __init__(self, plan, report, executable, text):
        theirs = compiled(executable)
        self.by = defaultdict(float)
        self.total = sum(b for _, _, b in theirs)
        self.lines = text.splitlines()
        ours = planned(report)
        self.pair("same", ours, theirs, lambda p, c: p == c or (p[:2] == c[:2] and close(p[2], c[2])))
        program = Program(text, report)
        self.gather_padded(report, program, ours, theirs)
        self.reduce_terms(report, program, ours, theirs)
        self.gather(report, program, ours, theirs)
        self.pair("same", ours, theirs, lambda p, c: p[1] == c[1] and close(p[2], c[2]))
        self.pair("rewritten", ours, theirs, scaled("reduce-scatter", "all-reduce", 2))
        if "bf16" in text:
            self.pair("widened", ours, theirs, lambda p, c: p[1] == c[1] and close(2 * p[2], c[2]))
            self.pair("widened", ours, theirs, scaled("reduce-scatter", "all-reduce", 4))
        self.merge(ours, theirs)
        self.move_inside(report, program, theirs)
        self.look_up(program, ours, theirs)
        self.repeat(report, program, theirs)
        self.move_ends(plan, report, executable, text, theirs)
        self.unexplained = [c for c in theirs if not self.is_not_cut(c)]
        self.by["not cut"] += sum(b for _, _, b in theirs) - sum(b for _, _, b in self.unexplained)
        self.by["nothing"] += sum(b for _, _, b in ours)

    def take(self, reason, theirs, item):
        theirs.remove(item)
        self.by[reason] += item[2]

    def move_inside(self, report, program, theirs):
        """Exchanges inside ops, in the line of each; XLA pads every piece of one to the largest that a device sends, and
        sends it in two when it goes to two."""
        planned = defaultdict(float)
        for op in report["ops_in_order"]:
            if op.get("inside_bytes") and op["name"] in program.ops:
                planned[program.line_of(op["name"])] += op["inside_bytes"]
        for line, most in planned.items():
            moved = [c for c in theirs if c[0] == line and c[1] in ("collective-permute", "all-to-all", "all-gather")]
            if sum(c[2] for c in moved) <= MOST_PADDING * most:
                for c in moved:
                    self.take("inside", theirs, c)

    def look_up(self, program, ours, theirs):
        """Slices at run-time positions of a dim that is cut: partial in the plan, of a gathered operand in XLA. It may
        gather the operand where that is made."""
        for name, op in program.ops.items():
            if op["op"] != "dynamic_slice" or not program.partial(name):
                continue
            n = math.prod(program.partial(name)[1])
            whole = program.first_operand_bytes(name) * (n - 1) / n
            completed = [p for p in ours if p[0] == program.line_of(name)]
            for c in [c for c in theirs if c[1] == "all-gather" and close(c[2], whole)]:
                self.take("not cut", theirs, c)
                for p in completed:
                    ours.remove(p)
                completed = []

    def repeat(self, report, program, theirs):
        for reshard in report["reshards"]:
            for step in reshard["steps"]:
                name = step["collective"].split()[0].replace("_", "-")
                ways = [[step["bytes"]]]
                if name == "all-gather" and reshard["made_by"] in program.ops and len(reshard["steps"]) == 1:
                    axes = axes_of(re.search(r"axes=\[(.*?)\]", step["collective"])[1], program.sizes)
                    ways += gatherings(program.bytes_of(reshard["made_by"], reshard["from"]) or 0, axes)
                for way in ways:
                    while any(way) and (taken := self.found(name, [way], lines_around(program, reshard), theirs)):
                        self.by["again"] += taken

    def move_ends(self, plan, report, executable, text, theirs):
        for module in executable.hlo_modules():
            hlo = module.to_string()
            for instruction in at_ends(hlo, plan, report, text):
                item = next(iter(collectives_in(instruction)), None)
                if item in theirs:
                    self.take("uneven", theirs, item)

    def is_not_cut(self, item):
        return item[0] and item[1] == "all-gather" and any(op in self.lines[item[0] - 1] for op in NOT_CUT)

    def pair(self, reason, ours, theirs, fits):
        for p in list(ours):
            c = next((c for c in theirs if fits(p, c)), None)
            if c:
                ours.remove(p)
                theirs.remove(c)
                self.by[reason] += c[2]

    def gather(self, report, program, ours, theirs):
        for reshard, steps in zip(report["reshards"], planned_by(report), strict=True):
            made_by = reshard["made_by"]
            gathers = {s[1] for s in steps} == {"all-gather"}
            if not gathers or made_by not in program.ops or not all(s in ours for s in steps):
                continue
            gathered = [s["collective"] for s in reshard["steps"] if s["collective"].startswith("all_gather")]
            axes = [n for g in gathered for n in axes_of(re.search(r"axes=\[(.*?)\]", g)[1], program.sizes)]
            lines = lines_around(program, reshard)
            size = program.bytes_of(made_by, reshard["from"])
            if not size:
                continue
            slices = any(s["collective"].startswith("all_slice") for s in reshard["steps"])
            part = [[size * (n - 1) / n] for n in {math.prod(axes), *axes} if slices]
            moved = self.found("all-to-all", part, lines, theirs)
            taken = moved or self.found("all-gather", gatherings(size, axes), lines, theirs)
            if taken:
                same = close(taken, sum(s[2] for s in steps))
                self.by["a part" if moved else "same" if same else "padded"] += taken
                for step in steps:
                    ours.remove(step)

    def gather_padded(self, report, program, ours, theirs):
        """Gathers among the steps of a reshard, of blocks with their padding."""
        for reshard, steps in zip(report["reshards"], planned_by(report), strict=True):
            steps = list(steps)
            for step, dims in sharding_before(reshard) if reshard["made_by"] in program.ops else []:
                moves = steps.pop(0) if step["bytes"] > 0 else None
                if not moves or moves[1] != "all-gather" or moves not in ours:
                    continue
                n = math.prod(axes_of(re.search(r"axes=\[(.*?)\]", step["collective"])[1], program.sizes))
                way = [(program.bytes_of(reshard["made_by"], dims) or 0) * (n - 1)]
                if any(way) and (taken := self.found("all-gather", [way], lines_around(program, reshard), theirs)):
                    self.by["padded"] += taken
                    ours.remove(moves)

    def reduce_terms(self, report, program, ours, theirs):
        """Planned completions of partial values, against the all_reduces of what their terms hold."""
        done = set()
        for reshard, steps in zip(report["reshards"], planned_by(report), strict=True):
            made_by = reshard["made_by"]
            if "partial" not in reshard["from"] or made_by not in program.ops or not program.partial(made_by):
                continue
            terms, lines = program.terms(made_by)
            found = [self.reduced(program, term, lines, theirs) for term in terms if term not in done]
            done.update(terms)
            if any(found):
                self.by["rewritten" if terms == [made_by] else "terms"] += sum(found)
                self.gather_reduced(program, reshard, theirs)
                for step in steps:
                    if step in ours:
                        ours.remove(step)

    def gather_reduced(self, program, reshard, theirs):
        """What is gathered after a reduction in parts is, after one of the whole, only gathered along the other axes."""
        made_by = reshard["made_by"]
        left = axes_in(reshard["from"].partition(" partial")[0]) - axes_in(reshard["to"])
        size = program.block_bytes(made_by)
        lines = lines_around(program, reshard)
        ways = gatherings(size, axes_of(",".join(left), program.sizes)) if size and left else []
        self.by["rewritten"] += self.found("all-gather", ways, lines, theirs)

    def reduced(self, program, term, lines, theirs):
        """Bytes of the all_reduces that complete one term; they are taken out of `theirs`."""
        size, (_, axes) = program.block_bytes(term), program.partial(term)
        return self.found("all-reduce", reductions(size, axes) if size else [], lines, theirs)

    def found(self, name, ways, lines, theirs):
        """Bytes of the first of the ways whose collectives are all there, in one of the lines; they are taken out."""
        for way in ways:
            for wider in (1, 2) if any("bf16" in self.lines[n - 1] for n in lines) else (1,):
                left, taken = list(theirs), 0.0
                for want in way:
                    fits = [c for c in left if c[1] == name and c[0] in lines and close(c[2], wider * want)]
                    if not fits:
                        break
                    left.remove(fits[0])
                    taken += fits[0][2]
                else:
                    theirs[:] = left
                    return taken
        return 0.0

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
