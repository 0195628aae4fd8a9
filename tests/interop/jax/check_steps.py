"""Every reshard that a plan has, as XLA carries it out: random pairs of shardings, and those that a compiler would not find.

A program of two ops whose shardings are required is planned as XLA compiles on GPUs (`--compiler xla`, whose routes have
direct exchanges and all_to_alls of several dims), emitted (`--emit sdy`), compiled for eight devices of this host and run.
Its numbers must be exact, and each device must receive the bytes that were planned; twice as many where a device has to
send more than any receives, which is seldom: of 20 pairs at most one.

    check_steps.py --tool SHARDWRIGHT --folder WORK [--pairs 60] [--seed 1] [MESH...]
"""

import json
import random
import sys

import check  # sets up eight devices, before JAX is there

import numpy as np

from common import must, options as command_line, seed, share
from figures import HLO, total

MESHES = ("x=8", "x=2,y=4", "x=2,y=2,z=2")
# Swaps, moves of several dims, another order, parts of axes.
FIXED = {
    "x=8": [("[{\"x\":(1)2}, {\"x\":(2)4}]", "[{\"x\":(2)4}, {\"x\":(1)2}]", (16, 32))],
    "x=2,y=4": [
        ('[{"x"}, {"y"}]', '[{"y"}, {"x"}]', (16, 16)),
        ('[{"x"}, {"y"}, {}]', '[{}, {}, {"y", "x"}]', (8, 8, 16)),
        ('[{"x", "y"}]', '[{"y", "x"}]', (64,)),
        ('[{"x"}, {}]', '[{"y"}, {}]', (8, 8)),
    ],
    "x=2,y=2,z=2": [('[{"x", "y"}, {"z"}]', '[{"z"}, {"y", "x"}]', (16, 32))],
}

PROGRAM = """module {{
  sdy.mesh @mesh = <[{axes}]>
  func.func @main(%arg0: tensor<{type}> {{sdy.sharding = #sdy.sharding<@mesh, {a}>}}) -> (tensor<{type}> {{sdy.sharding = #sdy.sharding<@mesh, {b}>}}) {{
    %0 = stablehlo.multiply %arg0, %arg0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {a}>]>}} : tensor<{type}>
    %1 = stablehlo.negate %0 {{sdy.sharding = #sdy.sharding_per_value<[<@mesh, {b}>]>}} : tensor<{type}>
    return %1 : tensor<{type}>
  }}
}}
"""


def axes_of(mesh):
    return [(name, int(size)) for name, size in (part.split("=") for part in mesh.split(","))]


def random_sharding(draw, axes, rank):
    """Some of the axes, each on a dim, in any order."""
    dims = [[] for _ in range(rank)]
    for name, _ in draw.sample(axes, draw.randint(0, len(axes))):
        dims[draw.randrange(rank)].append(f'"{name}"')
    return "[" + ", ".join("{" + ", ".join(d) + "}" for d in dims) + "]"


def random_pair(draw, axes):
    rank = draw.randint(1, 3)
    shape = tuple(8 * draw.randint(1, 3) for _ in range(rank))
    return random_sharding(draw, axes, rank), random_sharding(draw, axes, rank), shape


class Pair:
    """One reshard: what is wrong with it, and what its route is made of."""

    def __init__(self, options, mesh, a, b, shape):
        self.said = f"{mesh}: {a} to {b} of {'x'.join(map(str, shape))}"
        kind = "x".join(map(str, shape)) + "xi32"
        program, emitted, report = (options.folder / f for f in ("step.mlir", "step.sdy.mlir", "step.json"))
        axes = ", ".join(f'"{name}"={size}' for name, size in axes_of(mesh))
        program.write_text(PROGRAM.format(axes=axes, type=kind, a=a, b=b))
        must(options.tool, "plan", program, "--hw", "dgx-h100", "--mesh", mesh, "--compiler", "xla", f"--emit=sdy={emitted}",
             "--report", report)
        planned = json.loads(report.read_text())
        self.kinds = {step["op"] for step in planned["by_collective"] if step["calls"]}
        executable = check.compile_text(emitted.read_text())
        text = "\n".join(module.to_string() for module in executable.hlo_modules())
        self.bytes = total(HLO.planned_collectives(planned)), total(HLO.compiled_collectives(text))
        value = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        (got,) = check.run_compiled(executable, [value], [value])
        self.exact = np.array_equal(got, -(value * value))

    def problems(self):
        found = [] if self.exact else ["other numbers"]
        if self.bytes[1] > 2 * self.bytes[0] or self.bytes[1] < self.bytes[0]:
            found.append(f"{self.bytes[0]} B planned, {self.bytes[1]} B received")
        return found


def main():
    options = command_line(pairs=int(60 * share()), seed=seed())
    options.folder = options.folder / "steps"
    options.folder.mkdir(parents=True, exist_ok=True)
    draw, failed, more, seen, n = random.Random(int(options.seed)), 0, 0, set(), 0
    for mesh in options.names or MESHES:
        pairs = FIXED.get(mesh, []) + [random_pair(draw, axes_of(mesh)) for _ in range(int(options.pairs))]
        for a, b, shape in pairs:
            pair = Pair(options, mesh, a, b, shape)
            seen |= pair.kinds
            n += 1
            found = pair.problems()
            failed += bool(found)
            more += pair.bytes[1] > pair.bytes[0]
            if found:
                print(f"FAIL {pair.said} by {', '.join(sorted(pair.kinds)) or 'nothing'}: " + "; ".join(found), flush=True)
    print(f"seed {options.seed}: {n} reshards, {failed} failed, {more} take more bytes, by {', '.join(sorted(seen))}")
    missing = {"exchange", "all_to_all_dims", "permute"} - seen
    if missing:
        print(f"FAIL no route has {', '.join(sorted(missing))}")
    sys.exit(1 if failed or missing or 20 * more > n else 0)


if __name__ == "__main__":
    main()
