"""Random programs with random shardings, propagated by Shardy and by us, layer by layer: every value gets the same.

Programs that Shardy refuses are not counted. CASES programs (200), from SW_TEST_SEED on; the first that differs is printed
whole, with what each side says.

    check_random_programs.py --tool SHARDWRIGHT --folder WORK [LAYER...]
"""

import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))

import cases
from common import options as command_line, seed as first_seed, share
from shardy import Refused, layer_of, shardy_apart

MESHES = [
    {"a": 2, "b": 2},
    {"a": 2, "b": 4, "c": 2},
    {"x": 8},
    {"x": 4, "y": 3},
    {"a": 1, "b": 2, "c": 4},
]
SIZES = [1, 2, 3, 4, 6, 8, 12, 16]
LAYERS = ["sdy-basic", "sdy-aggressive", "sdy-op-priority", "sdy-user-priority"]
SCALAR, INDEX = (), "i32"


def product(numbers):
    out = 1
    for n in numbers:
        out *= n
    return out


def type_of(dims):
    return "tensor<" + "".join(f"{n}x" for n in dims) + "f32>"


class Program:
    """A function that is written op by op; values[i] = (name, dims)."""

    def __init__(self, rng, priorities):
        self.rng, self.priorities = rng, priorities
        self.mesh = rng.choice(MESHES)
        self.args, self.lines, self.values, self.used = [], [], [], set()
        self.groups = {}

    # --- shardings ---

    def axis(self):
        """A whole axis or a part of it, and its (axis, pre, size)."""
        name = self.rng.choice(list(self.mesh))
        size = self.mesh[name]
        if size == 8 and self.rng.random() < 0.5:
            pre, part = self.rng.choice([(1, 2), (1, 4), (2, 2), (2, 4), (4, 2)])
            return f'"{name}":({pre}){part}', (name, pre, part)
        return f'"{name}"', (name, 1, size)

    def sharding(self, rank):
        taken, dims = [], []

        def pick(few):
            out = []
            while self.rng.random() < few:
                text, (name, pre, size) = self.axis()
                if any(n == name for n, _, _ in taken):
                    break
                taken.append((name, pre, size))
                out.append(text)
            return out

        for _ in range(rank):
            axes = pick(0.5)
            is_open = self.rng.random() < 0.5
            priority = f"p{self.rng.randrange(3)}" if self.priorities and (axes or is_open) and self.rng.random() < 0.4 else ""
            dims.append("{" + ", ".join(axes + ["?"] * is_open) + "}" + priority)
        kept = ""
        if self.rng.random() < 0.1:
            axes = [a for a in self.mesh if all(a != n for n, _, _ in taken)]
            if axes:
                kept = f', {self.rng.choice(["replicated", "unreduced"])}={{"{axes[0]}"}}'
        return f"<@mesh, [{', '.join(dims)}]{kept}>"

    def some(self, share, text):
        return text if self.rng.random() < share else ""

    # --- values ---

    def argument(self, dims):
        name = f"%x{len(self.args)}"
        attribute = self.some(0.5, f" {{sdy.sharding = #sdy.sharding{self.sharding(len(dims))}}}")
        self.args.append(f"{name}: {type_of(dims)}{attribute}")
        self.values.append((name, dims))
        return name

    def operand(self, of=None):
        """A value that is no scalar; one of these dims, made up where there is none."""
        found = [v for v in self.values if (v[1] if of is None else v[1] == of)]
        if not found:
            return self.argument(of), of
        name, dims = self.rng.choice(found)
        self.used.add(name)
        return name, dims

    def add(self, text, dims, types, annotate=True):
        """An op whose text has {} where attributes stand."""
        name = f"%{len(self.lines)}"
        sharding = f"sdy.sharding = #sdy.sharding_per_value<[{self.sharding(len(dims))}]>"
        attributes = self.some(0.12, f" {{{sharding}}}") if annotate else ""
        self.lines.append(f"{name} = {text}{attributes} : {types}")
        self.values.append((name, dims))

    def op(self):
        getattr(self, self.rng.choice([n for n in dir(self) if n.startswith("make_")]))()

    def make_unary(self):
        x, dims = self.operand()
        self.add(f"stablehlo.{self.rng.choice(['negate', 'tanh', 'cosine'])} {x}", dims, type_of(dims))

    def make_binary(self):
        x, dims = self.operand()
        y, _ = self.operand(dims)
        self.add(f"stablehlo.{self.rng.choice(['add', 'multiply', 'maximum'])} {x}, {y}", dims, type_of(dims))

    make_binary_too = make_binary

    def make_transpose(self):
        x, dims = self.operand()
        order = self.rng.sample(range(len(dims)), len(dims))
        out = tuple(dims[i] for i in order)
        self.add(f"stablehlo.transpose {x}, dims = {order}", out, f"({type_of(dims)}) -> {type_of(out)}")

    def make_reshape(self):
        x, dims = self.operand()
        left, out = product(dims), []
        while left > 1 and len(out) < 3:
            n = self.rng.choice([k for k in range(2, left + 1) if left % k == 0])
            out.append(n)
            left //= n
        out = tuple(out[:-1] + [out[-1] * left]) if out else (1,)
        self.add(f"stablehlo.reshape {x}", out, f"({type_of(dims)}) -> {type_of(out)}")

    def make_broadcast(self):
        x, dims = self.operand()
        if len(dims) > 2:
            return
        at = self.rng.randrange(len(dims) + 1)
        out = dims[:at] + (self.rng.choice(SIZES),) + dims[at:]
        kept = [k for k in range(len(out)) if k != at]
        self.add(f"stablehlo.broadcast_in_dim {x}, dims = {kept}", out, f"({type_of(dims)}) -> {type_of(out)}")

    def make_dot(self):
        x, a = self.operand()
        i = self.rng.randrange(len(a))
        b = (a[i], self.rng.choice(SIZES)) if self.rng.random() < 0.6 else (self.rng.choice(SIZES), a[i])
        y, _ = self.operand(b)
        j = b.index(a[i])
        out = a[:i] + a[i + 1:] + b[:j] + b[j + 1:]
        if len(out) > 3:
            return
        self.add(f"stablehlo.dot_general {x}, {y}, contracting_dims = [{i}] x [{j}]", out,
                 f"({type_of(a)}, {type_of(b)}) -> {type_of(out)}")

    def make_reduce(self):
        x, dims = self.operand()
        if len(dims) < 2:
            return
        gone = self.rng.randrange(len(dims))
        out = dims[:gone] + dims[gone + 1:]
        z, _ = self.operand(SCALAR)
        self.add(f"stablehlo.reduce({x} init: {z}) applies stablehlo.add across dimensions = [{gone}]", out,
                 f"({type_of(dims)}, tensor<f32>) -> {type_of(out)}")

    def make_concatenate(self):
        x, a = self.operand()
        k = self.rng.randrange(len(a))
        y, _ = self.operand(a)
        out = a[:k] + (2 * a[k],) + a[k + 1:]
        self.add(f"stablehlo.concatenate {x}, {y}, dim = {k}", out, f"({type_of(a)}, {type_of(a)}) -> {type_of(out)}")

    def make_slice(self):
        x, dims = self.operand()
        k = self.rng.randrange(len(dims))
        end = self.rng.randint(1, dims[k])
        ranges = ", ".join(f"0:{end if i == k else n}" for i, n in enumerate(dims))
        out = dims[:k] + (end,) + dims[k + 1:]
        self.add(f"stablehlo.slice {x} [{ranges}]", out, f"({type_of(dims)}) -> {type_of(out)}")

    def make_dynamic_slice(self):
        x, dims = self.operand()
        k = self.rng.randrange(len(dims))
        out = dims[:k] + (self.rng.randint(1, dims[k]),) + dims[k + 1:]
        at = ", ".join(["%at"] * len(dims))
        types = ", ".join([type_of(dims)] + ["tensor<i32>"] * len(dims))
        self.add(f"stablehlo.dynamic_slice {x}, {at}, sizes = {list(out)}", out, f"({types}) -> {type_of(out)}")

    def make_constraint(self):
        x, dims = self.operand()
        self.add(f"sdy.sharding_constraint {x} {self.sharding(len(dims))}", dims, type_of(dims), False)

    def make_barrier(self):
        x, dims = self.operand()
        way = self.rng.choice(["NONE", "FORWARD", "BACKWARD"])
        self.add(f"sdy.propagation_barrier {x} allowed_direction={way}", dims, type_of(dims))

    def make_edge(self):
        x, dims = self.operand()
        self.add(f"stablehlo.optimization_barrier {x}", dims, type_of(dims), False)
        held, _ = self.values.pop()
        sharding = self.some(0.3, f" sharding={self.sharding(len(dims))}")
        self.add(f"sdy.data_flow_edge {held}{sharding}", dims, type_of(dims), False)

    def make_host(self):
        x, dims = self.operand()
        target = self.rng.choice(["MoveToHost", "MoveToDevice", "unknown"])
        self.add(f"stablehlo.custom_call @{target}({x})", dims, f"({type_of(dims)}) -> {type_of(dims)}")

    # --- the whole ---

    def text(self):
        out = [v for v in self.values if v[1] and v[0] not in self.used and not v[0].startswith("%x")] or self.values[:1]
        results = ", ".join(
            type_of(d) + self.some(0.3, f" {{sdy.sharding = #sdy.sharding{self.sharding(len(d))}}}") for _, d in out)
        axes = ", ".join(f'"{name}"={size}' for name, size in self.mesh.items())
        return (f"sdy.mesh @mesh = <[{axes}]>\n"
                f"func.func @main({', '.join(self.args + ['%at: tensor<i32>'])}) -> ({results}) {{\n"
                + "".join(f"  {line}\n" for line in self.lines)
                + f"  return {', '.join(v for v, _ in out)} : {', '.join(type_of(d) for _, d in out)}\n}}\n")


def random_program(rng, priorities):
    p = Program(rng, priorities)
    for _ in range(rng.randint(1, 3)):
        p.argument(tuple(rng.choice(SIZES) for _ in range(rng.randint(1, 3))))
    for _ in range(rng.randint(1, 10)):
        p.op()
    return p.text()


def compare(tool, text, layer, careful):
    """(counted, difference)"""
    run = ["propagate", "--strategy", layer] + ["--conservative"] * careful
    case = cases.Case(cases.HERE / "random", 1, text.split("\n"), run)
    try:
        theirs = shardy_apart(text, layer_of(run))
    except Refused:
        theirs = None
    if not theirs:
        return False, None
    own = cases.walk(case.source)[0]
    if len(own) != len(cases.walk(theirs)[0]):
        return False, None  # a value that nobody uses is gone
    case.wants = cases.said(cases.walk(theirs, own)[1]) or ["nothing"]
    return True, cases.difference(case, tool)


def main():
    args = command_line()
    first, n = first_seed(), int(os.environ.get("CASES", 200 * share()))
    counted = wrong = 0
    for seed in range(first, first + n):
        rng = random.Random(seed)
        layer = (args.names or LAYERS)[seed % len(args.names or LAYERS)]
        careful = rng.random() < 0.15
        text = random_program(rng, layer == "sdy-user-priority")
        is_one, difference = compare(args.tool, text, layer, careful)
        counted += is_one
        if difference:
            wrong += 1
            if wrong <= int(os.environ.get("SHOW", "1")):
                print(f"seed {seed}, {layer}{' --conservative' * careful}:\n{text}{difference}")
    print(f"{counted} of {n} programs compared, {wrong} differ")
    return 1 if wrong or counted < n / 2 else 0


if __name__ == "__main__":
    sys.exit(main())
