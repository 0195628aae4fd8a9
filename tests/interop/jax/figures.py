"""What XLA makes of plans of real steps, beside what was planned, in one table.

For each step of zoo.py: planned for eight devices as XLA on hosts compiles (`--even always --compiler xla-cpu`), emitted
(`--emit sdy`), compiled; and three shardings that people write by hand, given to jax.jit. Columns:

    arguments     a device's bytes of them: planned; XLA has to hold as many
    collectives   bytes that a device receives in one run: planned, compiled (loops count as often as they go round)
    memory        a device's most bytes: planned, compiled
    lines         of the table of arguments; 40 at most
    dearer        the plan's predicted time beside the cheapest plan's; 0.5 % at most
    dp, fsdp, tp  by hand (data parallel; weights and state cut over all devices, too; Megatron over 4 of them): collectives
                  and memory of each as XLA compiles it. The plan must not be worse in both, unless it takes less time
                  than the plan by that rule (`plan --baseline`), as is predicted.
    rule          collectives of the plan by rule for data parallel, which are those by hand

Collectives may differ by 5 %, memory by 10 %. What differs by more stands in KNOWN with what it is and why; there, too, it
may not be off by more than that again.

    figures.py --tool SHARDWRIGHT --folder WORK [--hand no] [NAME...]

With --hand no, nothing by hand is compiled, which takes most of the time.
"""

import importlib.util
import json
import pathlib
import sys
import traceback

import check  # sets up eight devices, before JAX is there

import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

import zoo
from common import must, options as command_line

WORK = 1_000_000_000  # steps of the search
MOST_LINES, MOST_DEARER = 40, 0.005
ALLOWED = {"collectives": 0.05, "memory": 0.10}
RULE_OFF = 0.03

# (step, figure): compiled over planned, and why.
LAYOUTS = "XLA on CPUs copies caches and weights into the layout that its products want"
KEPT = "XLA orders ops in its own way: activations are still held when the gradients of all tables are made"
KNOWN = {
    ("decode", "memory"): (1.16, LAYOUTS),
    ("lstm", "memory"): (1.13, "XLA on CPUs copies weights that loops carry"),
    ("llama3", "memory"): (1.11, "XLA on CPUs computes bf16 in f32, and holds f32 copies of activations"),
    ("mamba", "memory"): (1.46, "XLA stores levels of the associative scan that the rules of fusion let its readers make"),
    ("mamba", "collectives"): (0.84, "a sum that two ops want cut in two ways is planned for each, and XLA completes it once"),
    ("moe_top2", "collectives"): (1.10, "a reshard that is planned once for a use in a function and one behind its call is "
                                        "compiled for each"),
    ("ranking", "memory"): (1.14, KEPT),
    ("ranking_segments", "memory"): (1.20, KEPT),
    ("t5", "memory"): (0.89, "one buffer of logits less: XLA writes what is made of them over them"),
}


RULES = {"dp": "data-parallel", "fsdp": "fsdp", "tp": "megatron"}

# The same of bytes of data parallel by rule beside those by hand.
LESS = {"ranking_segments": "tables' gradients are added up where their rows are, by rule, and by XLA on all devices"}

# The same of lines.
LONG = {"resnet50": (44, "layers of one role are cut in several ways where the search ends at its limit of steps")}


def counting():
    """How the Python package counts XLA's collectives (_hlo.py needs nothing else of it)."""
    path = pathlib.Path(__file__).parents[3] / "python/src/shardwright/_hlo.py"
    spec = importlib.util.spec_from_file_location("shardwright_hlo", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


HLO = counting()


def total(collectives):
    return sum(received for _, received in collectives.values())


def held(stats):
    together = stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
    return together - stats.alias_size_in_bytes


# --- by hand ----------------------------------------------------------------------------------------------------------


def by_hand(step, kind):
    """Collectives and memory of the step under shardings that people write: of arguments, and of activations between
    layers."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    batch_axes = ("x",) if kind == "tp" else ("x", "y")
    cut_batch = lambda leaf: named(("x", "y")[: len(batch_axes)], leaf, 0)

    def named(axes, leaf, dim):
        n = int(np.prod([mesh.shape[a] for a in axes]))
        fits = dim is not None and dim < len(leaf.shape) and leaf.shape[dim] % n == 0 and leaf.shape[dim] >= n
        return NamedSharding(mesh, PartitionSpec(*[None] * dim, axes) if fits else PartitionSpec())

    def cut_weight(path, leaf):
        if kind == "dp":
            return named((), leaf, None)
        if kind == "fsdp":
            fits = [d for d, size in enumerate(leaf.shape) if size % 8 == 0]
            return named(("x", "y"), leaf, max(fits, key=lambda d: leaf.shape[d], default=None))
        name = jax.tree_util.keystr(path)
        return named(("y",), leaf, next((dim for part, dim in step.tensor.items() if part in name), None))

    def of(tree):
        if tree is step.weights:
            return jax.tree_util.tree_map_with_path(cut_weight, tree)
        return jax.tree.map(cut_batch, tree)

    state, data = of(step.state), tuple(of(tree) for tree in step.batch)
    zoo.BETWEEN_LAYERS[0] = lambda x: jax.lax.with_sharding_constraint(x, cut_batch(x))
    try:
        jitted = jax.jit(step.run, donate_argnums=0, in_shardings=(state, *data), out_shardings=(state, None), keep_unused=True)
        compiled = jitted.lower(step.state, *step.batch).compile()
    finally:
        zoo.BETWEEN_LAYERS[0] = lambda x: x
    return total(HLO.compiled_collectives(compiled.as_text())), held(compiled.memory_analysis())


# --- one step ---------------------------------------------------------------------------------------------------------


def lines_of_arguments(printed):
    """Of the table of arguments in what `plan` prints."""
    lines = printed.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("argument"))
    return next((i for i in range(first, len(lines)) if not lines[i].strip()), len(lines)) - first


class Figures:
    """Of one step."""

    def __init__(self, name, options):
        self.name = name
        folder = options.folder / "figures" / name
        folder.mkdir(parents=True, exist_ok=True)
        step = zoo.ZOO[name]()
        program, emitted, report = (folder / f for f in ("program.mlir", "sdy.mlir", "report.json"))
        program.write_text(jax.jit(step.run, donate_argnums=0, keep_unused=True).lower(step.state, *step.batch).as_text())
        plan = [options.tool, "plan", program, "--hw", "dgx-h100", "--mesh", "x=2,y=4", "--even", "always", "--compiler", "xla-cpu"]
        printed = must(*plan, "--work-limit", WORK, f"--emit=sdy={emitted}", "--report", report)
        planned = json.loads(report.read_text())
        executable = check.compile_text(emitted.read_text())
        stats = executable.get_compiled_memory_stats()
        self.arguments = sum(a["bytes"] for a in planned["arguments"]), stats.argument_size_in_bytes
        text = "\n".join(module.to_string() for module in executable.hlo_modules())
        self.collectives = total(HLO.planned_collectives(planned)), total(HLO.compiled_collectives(text))
        self.memory = planned["memory"]["peak_bytes"], held(stats)
        self.lines = lines_of_arguments(printed)
        self.dearer = planned.get("dearer_than_found", 0.0)
        kinds = ("dp", "fsdp", "tp") if options.hand == "yes" else ()
        self.hand = {kind: by_hand(step, kind) for kind in kinds if kind != "tp" or step.tensor}
        self.seconds = planned["total_s"]
        self.rules = {c["plan"]: c["total_s"] for c in planned["comparisons"] if "total_s" in c}
        self.rule = None
        if "dp" in self.hand:
            by_rule = folder / "by_rule.json"
            must(*plan, "--baseline", RULES["dp"], "--report", by_rule)
            self.rule = total(HLO.planned_collectives(json.loads(by_rule.read_text())))

    def ratio(self, figure):
        planned, compiled = getattr(self, figure)
        return compiled / planned if planned else 1.0 + bool(compiled)

    def problems(self):
        found = []
        if self.arguments[0] != self.arguments[1]:
            found.append(f"arguments of {self.arguments[0]} B planned, {self.arguments[1]} B held")
        for figure, allowed in ALLOWED.items():
            expected, _ = KNOWN.get((self.name, figure), (1.0, ""))
            if abs(self.ratio(figure) / expected - 1) > allowed:
                found.append(f"{figure}: {self.ratio(figure):.3f} times what was planned, {expected:.2f} expected")
        if self.lines > LONG.get(self.name, (MOST_LINES, ""))[0]:
            found.append(f"{self.lines} lines of arguments")
        if self.dearer > MOST_DEARER:
            found.append(f"{self.dearer:.2%} dearer than the cheapest plan")
        for kind, (collectives, memory) in self.hand.items():
            worse = self.collectives[1] > 1.001 * collectives and self.memory[1] > 1.001 * memory
            if worse and self.seconds > self.rules[RULES[kind]]:
                found.append(f"worse than {kind} in collectives, memory and time")
        if self.rule is not None and self.name not in LESS and abs(self.rule - self.hand["dp"][0]) > RULE_OFF * self.hand["dp"][0] + 1024:
            found.append(f"data-parallel by rule moves {self.rule} B, by hand {self.hand['dp'][0]}")
        return found

    def row(self):
        mib = lambda n: f"{n / 2**20:.1f}"
        pair = lambda p: [mib(p[0]), mib(p[1])]
        cells = [self.name, mib(self.arguments[0])]
        for figure in ALLOWED:
            cells += [*pair(getattr(self, figure)), f"{self.ratio(figure) - 1:+.1%}"]
        cells += [str(self.lines), f"{self.dearer:.2%}"]
        for kind in ("dp", "fsdp", "tp"):
            cells += pair(self.hand[kind]) if kind in self.hand else ["-", "-"]
            if kind == "dp":
                cells.append("-" if self.rule is None else mib(self.rule))
        return cells


HEADS = (
    ["", "arguments", "collectives", "", "", "memory", "", "", "lines", "dearer", "dp", "", "", "fsdp", "", "tp", ""],
    ["step", "MiB", "planned", "XLA MiB", "", "planned", "XLA MiB", "", "", "", "moved", "held MiB", "rule", *["moved", "held MiB"] * 2],
)


def table(rows):
    widths = [max(len(row[i]) for row in [*HEADS, *rows]) for i in range(len(HEADS[0]))]
    line = lambda row: "  ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]).rstrip()
    return "\n".join(line(row) for row in [*HEADS, *rows])


def main():
    options = command_line(hand="yes")
    rows, failed, reasons = [], 0, []
    for name in options.names or zoo.ZOO:
        try:
            figures = Figures(name, options)
        except Exception:  # the others still have their say
            print(f"FAIL {name}:\n{traceback.format_exc()}", flush=True)
            failed += 1
            continue
        rows.append(figures.row())
        found = figures.problems()
        failed += bool(found)
        print(f"FAIL {name}: " + "; ".join(found) if found else f"ok   {name}")
        print("     " + "  ".join(rows[-1][1:]), flush=True)
        reasons += [f"{name}, {figure}: {why}" for (of, figure), (_, why) in KNOWN.items() if of == name]
        reasons += [f"{name}, lines: {LONG[name][1]}"] if name in LONG else []
        reasons += [f"{name}, rule: {LESS[name]}"] if name in LESS and figures.rule is not None else []
    print("\n" + table(rows))
    if reasons:
        print("\n" + "\n".join(reasons))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
