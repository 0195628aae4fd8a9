"""JAX and shardwright on the same programs.

For each model of models.py: export its StableHLO, let `shardwright plan` write shardings into it, compile that text with
XLA and Shardy for eight devices of this host, run it, and compare the numbers with JAX's unsharded run and with what
`shardwright run` makes of the same arrays; once with all the memory there is, once with little, so that weights are cut,
too. The collectives that XLA compiled are printed beside those of the plan, with the reasons for what differs (account.py);
less than 5 % of the bytes may be without one.

    check.py --tool SHARDWRIGHT --folder WORK [--mesh x=2,y=4] [NAME...]

Without --mesh it does all that on 2x4, and with all memory on 8.
"""

import json
import os
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
# The collectives do not depend on how LLVM optimizes, which takes most of the time.
os.environ["XLA_FLAGS"] = (
    "--xla_force_host_platform_device_count=8 --xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)

import jax
import numpy as np
from jax._src.lib import xla_client
from jax._src.sharding_impls import GSPMDSharding

import account
from common import must, options as command_line
from models import MODELS

DEVICES = 8
WORK = 4_000_000_000  # steps of the search, some seconds: limits by the clock give other plans at every run
MOST_UNEXPLAINED = 0.05
MEMORIES = {"x=2,y=4": ("all memory", "little memory"), "x=8": ("all memory",)}

def compile_text(text):
    options = xla_client.CompileOptions()
    options.num_replicas, options.num_partitions = 1, DEVICES
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, DEVICES
    build.use_spmd_partitioning = build.use_shardy_partitioner = True
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(DEVICES).reshape(1, DEVICES))
    devices = jax.devices()
    return devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options)


def run_compiled(executable, arguments, results):
    """Global results, as numpy arrays; `results` has their shapes."""
    devices = tuple(jax.devices())
    place = [GSPMDSharding(devices, s) for s in executable.get_parameter_shardings()]
    placed = [jax.device_put(a, s) for a, s in zip(arguments, place)]
    parts = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
    shardings = [GSPMDSharding(devices, s) for s in executable.get_output_shardings()]
    return [
        np.asarray(jax.make_array_from_single_device_arrays(r.shape, s, p)) for r, s, p in zip(results, shardings, parts)
    ]


def distance(got, want):
    """The largest difference, as a part of the largest element."""
    got, want = np.asarray(got, np.float64), np.asarray(want, np.float64)
    assert got.shape == want.shape, f"shape {got.shape}, expected {want.shape}"
    return float(np.max(np.abs(got - want), initial=0) / max(np.max(np.abs(want), initial=0), 1e-30))


def tolerance(leaves):
    return 0.05 if any(np.asarray(a).dtype == jax.numpy.bfloat16 for a in leaves) else 2e-4


class Case:
    """A model's program, arguments and expected results, and the folder for what is made of them."""

    def __init__(self, name, options):
        self.tool = options.tool
        self.folder = options.folder / name
        (self.folder / "in").mkdir(parents=True, exist_ok=True)
        (self.folder / "out").mkdir(exist_ok=True)
        function, arguments = MODELS[name]()
        self.leaves = jax.tree.leaves(arguments)
        self.program = self.folder / "program.mlir"
        text = jax.jit(function, keep_unused=True).lower(*arguments).as_text()
        self.program.write_text(account.with_lines(text))
        self.want = [np.asarray(x) for x in jax.tree.leaves(jax.jit(function)(*arguments))]
        narrow = any(np.asarray(a).dtype == jax.numpy.bfloat16 for a in self.leaves)
        self.allowed = 0.05 if narrow else 2e-4

    def plan(self, mesh, memory):
        """The plan and its report; None when nothing fits into `memory` bytes."""
        files = [self.folder / f for f in ("plan.json", "report.json", "sdy-ops.mlir")]
        limit = ["--memory", memory] if memory else []
        try:
            must(self.tool, "plan", self.program, "--hw", "local", "--mesh", mesh, "--cut-heavy-ops", "--work-limit", WORK,
                  "--quiet", "-o", files[0], "--report", files[1], f"--emit=sdy-ops={files[2]}",
                  f"--emit=sdy={self.folder / 'sdy.mlir'}", *limit)
        except RuntimeError as problem:
            if "exit 3" in str(problem) or "exit 5" in str(problem):
                return None
            raise
        return [json.loads(f.read_text()) for f in files[:2]]

    def run_by_xla(self, file):
        executable = compile_text(account.with_constraints((self.folder / file).read_text()))
        results = run_compiled(executable, self.leaves, self.want)
        return self.worst(results), executable

    def run_by_us(self, plan):
        assert len(plan["arguments"]) == len(self.leaves)
        for argument, leaf in zip(plan["arguments"], self.leaves):
            np.save(self.folder / "in" / f"{argument['name']}.npy", np.asarray(leaf))
        must(self.tool, "run", self.program, "--plan", self.folder / "plan.json", "--inputs", self.folder / "in",
              "--outputs", self.folder / "out")
        return self.worst([np.load(self.folder / "out" / f"{o['name']}.npy") for o in plan["outputs"]])

    def worst(self, results):
        return max(distance(got, want) for got, want in zip(results, self.want, strict=True))


def check(name, options):
    case = Case(name, options)
    meshes = [options.mesh] if options.mesh else MEMORIES
    return all([check_on(case, name, mesh, MEMORIES.get(mesh, MEMORIES["x=2,y=4"])) for mesh in meshes])


def check_on(case, name, mesh, memories):
    good, memory = True, None
    for label in memories:
        made = case.plan(mesh, memory)
        if not made:
            print(f"     {name} on {mesh}, {label}: no plan within {memory} B")
            break
        plan, report = made
        annotated, _ = case.run_by_xla("sdy-ops.mlir")
        constrained, compiled = case.run_by_xla("sdy.mlir")
        by_xla = max(annotated, constrained)
        by_us = case.run_by_us(plan)
        found = account.Account(plan, report, compiled, case.program.read_text())
        fine = by_xla <= case.allowed and by_us <= case.allowed and found.share < MOST_UNEXPLAINED
        print(f"{'ok  ' if fine else 'FAIL'} {name} on {mesh}, {label}: XLA with our shardings off by {by_xla:.1e}, "
              f"shardwright run by {by_us:.1e}; {case.allowed:.0e} allowed")
        print(f"     compiled: {describe(account.compiled(compiled))}")
        print(f"     planned:  {describe(account.planned(report))}")
        print(f"     accounts: {found.text()}")
        good = good and fine
        memory = int(report["memory"]["peak_bytes"] * 0.75)
    return good


def describe(collectives):
    sums = {}
    for _, name, size in collectives:
        n, total = sums.get(name, (0, 0))
        sums[name] = (n + 1, total + size)
    return ", ".join(f"{c} {n} x, {b:.0f} B" for c, (n, b) in sorted(sums.items())) or "no collectives"


def main():
    options = command_line(mesh="")
    failed = 0
    for name in options.names or MODELS:
        try:
            failed += not check(name, options)
        except Exception as problem:  # the other models still have their say
            print(f"FAIL {name}: {problem}")
            failed += 1
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
