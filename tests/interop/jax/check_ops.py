"""The ops of lax, one small program each (ops.py): JAX's numbers beside those of `shardwright run` on four devices.

Arguments are pinned to be cut, each along other dims, so that the ops run partitioned; `run` compares what the devices
make with one device, and here their outputs meet JAX's. Integers, bools and random bits must be equal, other numbers
within a tolerance of their type.

Then the program of one device, in StableHLO with its collectives (`--emit spmd --dialect stablehlo`), is compiled by XLA
for four devices of this host and run on the blocks of the same arguments: the blocks of the results, put together, must
be JAX's numbers, too. One with calls of a GPU's libraries is read back and run by `shardwright run`.

    check_ops.py --tool SHARDWRIGHT --folder WORK [NAME...]
"""

import concurrent.futures
import json
import os
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"
# Of each program most of the time is LLVM's, on code that runs once.
FAST_COMPILER = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count=4 {FAST_COMPILER}")

import jax
import ml_dtypes
import numpy as np
from jax._src import config
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib.mlir import ir

from common import call, must, options as command_line
import small_programs  # noqa: F401 (adds its cases)
from manual_programs import IN_TILES, MANUAL
from ops import CASES, LOWERED

AXES = ("x", "y")
DEVICES = 4
NATIVE = {np.dtype(t).name for t in np.typecodes["All"] if t not in "SUVOMm"}
TOLERANCE = {"float64": 1e-12, "float32": 3e-5, "complex64": 5e-5, "bfloat16": 2e-2, "float16": 3e-3, "float8_e4m3fn": 0, "float8_e5m2": 0}
ON_GPUS = re.compile(r'call_target_name = "(cu|hip)(solver|sparse|hybrid)_')
ARGUMENT = re.compile(r"%arg(\d+): (tensor<(?:[^<>]|<[^<>]*>)*>)( \{[^}]*\})?")


def pinned(text):
    """The program with shardings at the arguments of @main: axis x at the first dim that divides, y at the next."""

    def with_sharding(match):
        number, tensor = int(match[1]), match[2]
        dims = [int(d) for d in re.findall(r"(\d+)x", tensor)]
        cut = [set() for _ in dims]
        for turn, axis in enumerate(AXES):
            fits = [i for i in range(len(dims)) if dims[i] % 2 == 0 and not cut[i]]
            if fits:
                cut[fits[(number + turn) % len(fits)]].add(axis)
        sharding = ", ".join("{" + ", ".join(f'"{a}"' for a in c) + "}" for c in cut)
        return f"%arg{number}: {tensor} {{sdy.sharding = #sdy.sharding<@mesh, [{sharding}]>}}"

    head, rest = text.split("@main(", 1)
    arguments, behind = rest.split(") -> ", 1)
    head = re.sub(r"(module [^\n]*\{\n)", r'\1  sdy.mesh @mesh = <["x"=2, "y"=2]>' + "\n", head, count=1)
    return head + "@main(" + ARGUMENT.sub(with_sharding, arguments) + ") -> " + behind


def verify_sdy(tool, folder, program):
    """The plan in folder with Shardy's collectives on whole tensors: its own verifier knows which sharding follows."""
    text = folder / "sdy.mlir"
    rc, said = call(tool, "partition", program, "--plan", folder / "plan.json", f"--emit=spmd={text}", "--dialect", "sdy")
    assert rc == 0, said
    with mlir.make_ir_context():
        assert ir.Module.parse(text.read_text()).operation.verify()


def difference(got, want):
    """What is wrong, or None."""
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    allowed = TOLERANCE.get(want.dtype.name, 0)
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    exact = want.dtype.kind in "iub"
    if exact:
        return None if np.array_equal(got.astype(want.dtype), want) else f"{np.sum(got != want)} of {want.size} elements differ"
    a, b = got.astype(wide), want.astype(wide)
    scale = np.abs(b[np.isfinite(b)]).max(initial=0) if np.isfinite(b).any() else 0
    fine = np.isclose(a, b, rtol=allowed, atol=allowed * min(scale, 1), equal_nan=True)
    if fine.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~fine)[0])
    return f"{np.sum(~fine)} of {want.size} elements differ: at {at} {got[at]}, expected {want[at]}"


# --- the program of one device, by XLA ---------------------------------------------------------------------------------


class Layout:
    """Where the blocks of a tensor are: its sharding, "[[x],[],[x,y]]", on the mesh x=2,y=2."""

    def __init__(self, text, shape):
        dims = re.findall(r"\[([^\[\]]*)\]", text.split("] partial")[0])
        self.axes = [[a.strip() for a in d.split(",") if a.strip()] for d in dims][: len(shape)]
        self.shape = shape
        self.block = tuple(-(-n // 2 ** len(a)) for n, a in zip(shape, self.axes))

    def index(self, device):
        """The part of the tensor that the device has, as slices."""
        at = dict(zip(AXES, (device // 2, device % 2)))
        parts = []
        for n, block, axes in zip(self.shape, self.block, self.axes):
            shard = 0
            for axis in axes:
                shard = shard * 2 + at[axis]
            parts.append(slice(min(n, shard * block), min(n, (shard + 1) * block)))
        return tuple(parts)

    def cut(self, value, device):
        part = value[self.index(device)]
        if not self.shape:
            return part
        return np.pad(part, [(0, b - p) for b, p in zip(self.block, part.shape)])

    def join(self, blocks, dtype):
        whole = np.zeros(self.shape, dtype)
        for device, block in enumerate(blocks):
            index = self.index(device)
            whole[index] = block[tuple(slice(0, i.stop - i.start) for i in index)]
        return whole


def put(blocks):
    """One block per device, as JAX wants them: a tensor that is cut along its first dim."""
    devices = jax.devices()
    parts = [jax.device_put(b, d) for b, d in zip(blocks, devices)]
    if not blocks[0].ndim:
        return jax.make_array_from_single_device_arrays((), jax.NamedSharding(jax.make_mesh((DEVICES,), "d"), jax.P()), parts)
    shape = (DEVICES * blocks[0].shape[0], *blocks[0].shape[1:])
    return jax.make_array_from_single_device_arrays(shape, jax.NamedSharding(jax.make_mesh((DEVICES,), "d"), jax.P("d")), parts)


def compile_partitioned(text, replicas=DEVICES):
    """PJRT takes several partitions only where it may partition itself; as replicas the same program runs as it is."""
    text = text.replace("stablehlo.partition_id", "stablehlo.replica_id").replace(", use_global_device_ids = unit", "")
    text = re.sub(r"channel_handle = #stablehlo.channel_handle<[^>]*>, ", "", text)
    text = re.sub(r"mhlo.num_partitions = \d+ : i32, mhlo.num_replicas = 1 : i32, ", "", text)
    options = xla_client.CompileOptions()
    build = options.executable_build_options
    options.num_replicas, options.num_partitions = replicas, 1
    build.num_replicas, build.num_partitions = replicas, 1
    build.device_assignment = xla_client.DeviceAssignment.create(np.arange(replicas).reshape(replicas, 1))
    devices = jax.devices()[:replicas]
    return devices[0].client.compile_and_load(text, xla_client.DeviceList(tuple(devices)), options)


def check_partitioned(made, text, arguments, want):
    executable = compile_partitioned(text)
    layouts = [Layout(a["sharding"], np.shape(v)) for a, v in zip(made["arguments"], arguments)]
    placed = [put([l.cut(np.asarray(v), d) for d in range(DEVICES)]) for l, v in zip(layouts, arguments)]
    parts = executable.execute_sharded(placed).disassemble_into_single_device_arrays()
    for i, (output, value, blocks) in enumerate(zip(made["outputs"], want, parts, strict=True)):
        value = np.asarray(value)
        whole = Layout(output["sharding"], value.shape).join([np.asarray(b) for b in blocks], value.dtype)
        wrong = difference(whole, value)
        if wrong:
            return f"compiled by XLA, output {i}: {wrong}"
    return None


def read_back(tool, folder, made, want):
    """The program of one device by our own run, where it has calls that XLA knows on GPUs alone."""
    (folder / "back").mkdir(exist_ok=True)
    rc, said = call(tool, "run", folder / "spmd.mlir", "--inputs", folder / "in", "--outputs", folder / "back")
    if rc:
        return f"run of the program of one device: exit {rc}: {said.strip()[-600:]}"
    for i, (output, value) in enumerate(zip(made["outputs"], want, strict=True)):
        wrong = difference(np.load(folder / "back" / f"{output['name']}.npy"), value)
        if wrong:
            return f"read back, output {i}: {wrong}"
    return None


def save(path, value):
    value = np.asarray(value)
    np.save(path, value if value.dtype.name in NATIVE else value.view(f"V{value.dtype.itemsize}"))


def check(name, tool, folder):
    function, arguments = CASES[name]
    folder = folder / re.sub(r"\W+", "_", name)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / "out").mkdir(exist_ok=True)
    jitted = jax.jit(function, keep_unused=True)
    want = jax.tree.leaves(jitted(*arguments))
    program, plan, spmd = folder / "program.mlir", folder / "plan.json", folder / "spmd.mlir"
    with config.use_shardy_partitioner(name not in IN_TILES):
        lowered = jitted.trace(*arguments).lower(lowering_platforms=(LOWERED[name],) if name in LOWERED else None)
    program.write_text(lowered.as_text() if name in MANUAL else pinned(lowered.as_text()))
    rc, said = call(tool, "plan", program, "--hw", "local", "--mesh", "x=2,y=2", "--quiet", "--work-limit", 1_000_000_000, "-o", plan,
                     f"--emit=spmd={spmd}", "--dialect", "stablehlo")
    if rc:
        return f"plan: exit {rc}: {said.strip()[-300:]}"
    made = json.loads(plan.read_text())
    for argument, value in zip(made["arguments"], arguments, strict=True):
        save(folder / "in" / f"{argument['name']}.npy", value)
    rc, said = call(tool, "run", program, "--plan", plan, "--inputs", folder / "in", "--outputs", folder / "out")
    if rc:
        return f"run: exit {rc}: {said.strip()[-600:]}"
    verify_sdy(tool, folder, program)
    for i, (output, value) in enumerate(zip(made["outputs"], want, strict=True)):
        wrong = difference(np.load(folder / "out" / f"{output['name']}.npy"), value)
        if wrong:
            return f"output {i}: {wrong}"
    text = spmd.read_text()
    return read_back(tool, folder, made, want) if ON_GPUS.search(text) else check_partitioned(made, text, arguments, want)


# Models of `gen`: what one device makes of them here is what XLA's four give.
GENERATED = {
    "gen mlp in eight bits": ["mlp", "--mode", "train", "--layers", 1, "--batch", 8, "--hidden", 12, "--matmul-dtype", "f8-mixed"],
    "gen decoder in eight bits": ["llama3", "--mode", "decode", "--layers", 1, "--hidden", 16, "--heads", 4, "--kv-heads", 2, "--ffn", 24,
                                  "--vocab", 29, "--seq", 6, "--batch", 4, "--dtype", "f32", "--matmul-dtype", "f8", "--param-dtype", "f8"],
}


def drawn(argument, rng):
    dtype, dims = argument["form"].rstrip("]").split("[")
    kind = {"f8e4m3fn": ml_dtypes.float8_e4m3fn, "i32": np.int32, "f32": np.float32}[dtype]
    least = 0 if dtype == "i32" else -3
    return np.asarray(rng.integers(least, 4, [int(n) for n in dims.split(",") if n])).astype(kind)


def check_generated(name, tool, folder):
    folder = folder / re.sub(r"\W+", "_", name)
    (folder / "in").mkdir(parents=True, exist_ok=True)
    (folder / "out").mkdir(exist_ok=True)
    model, plan, spmd = folder / "model.json", folder / "plan.json", folder / "spmd.mlir"
    must(tool, "gen", *GENERATED[name], "-o", model)
    must(tool, "plan", model, "--hw", "local", "--mesh", "x=2,y=2", "--quiet", "--work-limit", 1_000_000_000, "--cut-heavy-ops", "-o", plan,
         f"--emit=spmd={spmd}", "--dialect", "stablehlo")
    made, rng = json.loads(plan.read_text()), np.random.default_rng(3)
    arguments = [drawn(a, rng) for a in made["arguments"]]
    for argument, value in zip(made["arguments"], arguments, strict=True):
        save(folder / "in" / f"{argument['name']}.npy", value)
    must(tool, "run", model, "--inputs", folder / "in", "--outputs", folder / "out")
    want = [np.load(folder / "out" / f"{o['name']}.npy") for o in made["outputs"]]
    return check_partitioned(made, spmd.read_text(), arguments, want)


def main():
    options = command_line()
    names = options.names or [*CASES, *GENERATED]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        done = {n: pool.submit(check_generated if n in GENERATED else check, n, options.tool, options.folder / "ops") for n in names}
    failed = 0
    for name, future in done.items():
        problem = future.exception()
        wrong = f"{type(problem).__name__}: {problem}" if problem else future.result()
        failed += wrong is not None
        if wrong:
            print(f"FAIL {name}: {wrong}")
    print(f"{len(names) - failed} of {len(names)} programs give JAX's numbers on four devices and on one")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
