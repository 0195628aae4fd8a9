"""Where the partial values of a plan come from.

A plan may add partial values and reduce their sum; a program in StableHLO cannot say that a value is partial, so XLA
reduces each term where it is made: at the dot, convolution or reduction that gave it, in the shape that it has there.

    %1 = dot ...               partial over y      XLA: all_reduce of %1 (at line 1)
    %2 = dot ...               partial over y      XLA: all_reduce of %2 (at line 2)
    %3 = broadcast %2          partial over y
    %4 = add %1, %3            partial over y      plan: reduce_scatter or all_reduce of %4
"""

import itertools
import math
import re

PARTIAL = re.compile(r"(\[.*\]) partial \w+\[(.*)\]")
NAME = re.compile(r"%([\w$.]+)(?:#(\d+))?")
CALL = re.compile(r"= (?:func\.)?call @([\w.$-]+)\(")
MOST_LINES = 200  # of an op with regions
TENSOR = re.compile(r"tensor<((?:\d+x)*)(\w+)(?:<(\w+)>)?")
BITS = {"i1": 8, "bf16": 16}


def bits_of(dtype, part):
    """Of an element; `part`: what a complex one is made of."""
    return 2 * bits_of(part, "") if part else BITS.get(dtype) or int(re.sub(r"\D", "", dtype))


def axes_of(text, sizes):
    """Sizes of the axes in "x,y:(1)2": whole ones by name."""
    found = [re.match(r"(\w+)(?::\(\d+\)(\d+))?$", a.strip()) for a in text.split(",") if a.strip()]
    return [int(f[2]) if f[2] else sizes[f[1]] for f in found]


class Program:
    """The text, and the plan's report on it."""

    def __init__(self, text, report):
        self.lines = text.splitlines()
        self.sizes = {n: int(s) for n, s in re.findall(r"(\w+)=(\d+)", report["mesh"])}
        self.ops = {op["name"]: op for op in report["ops_in_order"] if op.get("location")}
        whole = [r for r in report["reshards"] if "partial" in r["from"] and "partial" not in r["to"]]
        self.completed = {(r["made_by"], by) for r in whole for by in r["wanted_by"]}  # before that op
        self.functions, self.function_of, self.named = {}, [], {}
        current = None
        for i, line in enumerate(self.lines):
            head = re.match(r"\s*func\.func .*?@([\w.$-]+)\((.*)", line)
            if head:
                current = head[1]
                arguments = re.findall(r"%([\w$]+): ", head[2].partition(") -> ")[0])
                self.functions[current] = {"made": {}, "returns": [], "arguments": arguments}
            self.function_of.append(current)
            made = re.match(r"\s*%([\w$]+)(?::\d+)? = ", line)
            if made and current:
                self.functions[current]["made"][made[1]] = i
                self.named.setdefault(made[1], []).append(i)  # in one region or several
            if current and re.match(r"\s*(func\.)?return ", line):
                self.functions[current]["returns"] = NAME.findall(line)

    def line_of(self, name):
        return int(self.ops[name]["location"].split(":")[-2])

    def calls_of(self, name):
        """The calls that an op stands in, outermost first: (prefix of their names, lines in the text from 0)."""
        found, function, prefix = [], "main", ""
        for ssa in name.split("/")[:-1]:
            line = self.functions.get(function, {"made": {}})["made"].get(ssa)
            call = CALL.search(self.lines[line]) if line is not None else None
            if not call:
                break
            found.append((prefix, line))
            function, prefix = call[1], f"{prefix}{ssa}/"
        return found

    def lines_to(self, calls, function):
        """Of the calls, by name and outermost first, that lead from @main to a function; of all that may be meant."""
        found = set()
        for line in self.named.get(calls[-1], []) if calls else []:
            call, around = CALL.search(self.lines[line]), self.lines_to(calls[:-1], self.function_of[line])
            if call and call[1] == function and (around if calls[1:] else self.function_of[line] == "main"):
                found |= {line + 1, *around}
        return found

    def lines_of(self, name):
        """Of the op, of the calls that it stands in, as what a callee reads may be brought in there, and of the end of a
        loop's body when the op gives back what the loop carries."""
        first = self.line_of(name)
        indent = re.match(" *", self.lines[first - 1])[0]
        closed = (i for i in range(first, len(self.lines)) if re.match(indent + r"\}(?! do)", self.lines[i]))
        ends = {next(closed, first)} if name.endswith(".next") else set()
        return {first, *ends, *self.lines_to(name.split("/")[:-1], self.function_of[first - 1])}

    def partial(self, name):
        """(dims, sizes of the axes that it is partial over), or None."""
        found = PARTIAL.match(self.ops[name].get("result", ""))
        return (found[1], axes_of(found[2], self.sizes)) if found else None

    def block_bytes(self, name):
        """Of a device's part of the result, before it is reduced; None when the text does not say its type."""
        return self.bytes_of(name, self.partial(name)[0])

    def bytes_of(self, name, dims):
        """Of a device's block of an op's result that is cut as `dims` says."""
        at = self.line_of(name) - 1
        ending = r"(?:\.(\d+))?$" if self.ops[name]["op"] == "join" else r"(?:\.(\d+))?\.enter$"
        carried = re.search(ending, name)
        for line in self.lines[at : at + MOST_LINES]:
            types = TENSOR.findall(line)
            if types and carried and " = " in line:
                types = TENSOR.findall(line.rpartition(" : ")[2])[int(carried[1] or 0) :][:1]
                break
            if types and " loc(" in line and (line == self.lines[at] or line.lstrip().startswith("})")):
                break
        else:
            return None
        if not types:
            return None
        shape = [int(d) for d in types[-1][0].split("x") if d]
        cuts = [math.prod(axes_of(d, self.sizes)) for d in re.findall(r"\[([^\[\]]*)\]", dims[1:-1])] or [1] * len(shape)
        if len(cuts) != len(shape):
            return None  # of another result
        return math.prod(-(-k // n) for k, n in zip(shape, cuts)) * bits_of(*types[-1][1:]) // 8

    def first_operand_bytes(self, name):
        """Of the whole first operand, when the op's line says its type."""
        found = TENSOR.search(self.lines[self.line_of(name) - 1].rpartition(" : ")[2])
        return math.prod(int(d) for d in found[1].split("x") if d) * bits_of(*found.groups()[1:]) // 8 if found else 0

    def operands(self, name):
        """The ops of the plan that make the operands of one; those that are found."""
        prefix, line = name.rpartition("/")[0], self.line_of(name) - 1
        prefix = prefix + "/" if prefix else ""
        body = self.lines[line].split(" : ")[0].partition(" = ")[2]
        found = [self.resolve(prefix, self.function_of[line], ssa, int(i or 0)) for ssa, i in NAME.findall(body)]
        return [f for f in found if f]

    def resolve(self, prefix, function, ssa, index):
        """The op that makes value %ssa#index of a function: in a callee, when it is a call, and around it, when it is an
        argument."""
        while True:
            line = self.functions[function]["made"].get(ssa)
            if line is None:
                calls = self.calls_of(prefix + ssa)
                called = CALL.search(self.lines[calls[-1][1]]) if calls else None
                if not called or called[1] != function or ssa not in self.functions[function]["arguments"]:
                    return None
                given = NAME.findall(self.lines[calls[-1][1]][called.end() :].partition(")")[0])
                at = self.functions[function]["arguments"].index(ssa)
                prefix, function = calls[-1][0], self.function_of[calls[-1][1]]
                ssa, index = given[at][0], int(given[at][1] or 0)
                continue
            call = CALL.search(self.lines[line])
            if not call:
                name = f"{prefix}{ssa}.{index}" if index else prefix + ssa
                return name if name in self.ops and self.line_of(name) == line + 1 else None
            prefix, function = f"{prefix}{ssa}/", call[1]
            returned = self.functions[function]["returns"]
            if index >= len(returned):
                return None
            ssa, index = returned[index][0], int(returned[index][1] or 0)

    def terms(self, name):
        """The ops at which what `name` sums becomes partial, and all lines between them."""
        todo, seen, terms = [name], {name}, []
        while todo:
            op = todo.pop()
            inner = [o for o in self.operands(op) if self.partial(o) and (o, op) not in self.completed]
            terms += [op] if not inner else []
            todo += [o for o in inner if o not in seen]
            seen.update(inner)
        return terms, {self.line_of(o) for o in seen}


def groups_of(axes):
    """Axes together or one after the other, in any order: lists of sizes of groups."""
    for order in itertools.permutations(axes):
        for ends in itertools.product([False, True], repeat=len(order) - 1):
            groups = [order[0]]
            for new, n in zip(ends, order[1:]):
                groups[len(groups) - (not new) :] = [n] if new else [groups[-1] * n]
            yield groups


def reductions(size, axes):
    """The ways to reduce a block of `size` bytes over axes of these sizes: lists of all_reduces, in bytes received. What
    is cut afterwards may be sliced between."""
    for groups in groups_of(axes):
        for sliced in itertools.product([False, True], repeat=len(groups) - 1):
            way, block = [], size
            for n, cut in zip(groups, (*sliced, False)):
                way.append(2 * block * (n - 1) / n)
                block = block / n if cut else block
            yield way


STEP = re.compile(r"(all_gather|all_slice|reduce_scatter) axes=\[(.*?)\](?: reduction=\w+)? dim=(\d+)$")


def sharding_before(reshard):
    """(step, dims as text before it) for the steps of a reshard, as far as they can be followed."""
    dims = [d.split(",") if d else [] for d in re.findall(r"\[([^\[\]]*)\]", reshard["from"].partition(" partial")[0][1:-1])]
    for step in reshard["steps"]:
        yield step, "[" + ",".join(f"[{','.join(d)}]" for d in dims) + "]"
        said = STEP.match(step["collective"])
        if not said:
            return
        axes, dim = said[2].split(","), int(said[3])
        if said[1] != "all_gather":
            dims[dim] = dims[dim] + axes
        elif dims[dim][-len(axes) :] == axes:
            dims[dim] = dims[dim][: -len(axes)]
        else:
            return


def gatherings(size, axes):
    """The ways to gather blocks of `size` bytes (with their padding) over axes: lists of all_gathers."""
    for groups in groups_of(axes):
        way, block = [], size
        for n in groups:
            way.append(block * (n - 1))
            block *= n
        yield way
