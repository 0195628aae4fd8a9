"""Steps of small models under their plans on processes of gloo, beside the same steps in one: a script that a test starts.

    python torch_processes.py FILE PROCESSES MODEL...

FILE gets, as JSON by model and case, how far off parameters are after two steps, in parts of what is allowed, how far with each
fault, and what plan.check says; a line of each is printed. One process plans; the others are forks of it."""

import copy
import functools
import itertools
import json
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time
import warnings

import torch
import torch.distributed as dist
from torch.distributed import _functional_collectives as funcol
from torch.distributed import checkpoint
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.utils import _pytree as pytree
from torch_models import MIXTURES, job, random

import shardwright.torch
from shardwright.torch import _convolution as convolution

MESHES = {4: {"x": 2, "y": 2}, 8: {"x": 2, "y": 4}}
EPS = torch.finfo(torch.bfloat16).eps
SGD = functools.partial(torch.optim.SGD, lr=0.5, momentum=0.9)
ADAMW = functools.partial(torch.optim.AdamW, lr=0.01, eps=1e-3)
# dtype, optimizer, and what part of a parameter's update may be another: in bf16 for each term of a sum, as its root
CASES = {"f32": (torch.float32, SGD, 1e-5), "bf16": (torch.bfloat16, ADAMW, EPS), "again": (torch.float32, SGD, 1e-5)}
AGAIN = {"llama": "full", "vit": "full", "qwen3-moe": "search", "mamba": "full", "convnext": "full"}  # what plans of these make again
KINKED = ("resnet",)  # in f64: in f32 some value or other rounds past the kink of a ReLU, and moves gradients by far more than rounding
LEAST = 0.05  # of the largest update, which others count as at least: some gradients are 0 but for rounding


def of_case(name, case):
    """(model, inputs, options, a function that makes an optimizer)"""
    torch.manual_seed(0)
    dtype, optimizer, _ = CASES[case]
    dtype = torch.float64 if case == "f32" and name in KINKED else dtype
    model, inputs, options = job(name)
    inputs = pytree.tree_map(lambda x: x.to(dtype) if x.is_floating_point() else x, inputs)
    return model.to(dtype), inputs, options, optimizer


def terms(model):
    """Of its longest sums: over a batch's tokens, or what a product contracts."""
    return max([8 * 16, *(p[0].numel() for p in model.parameters() if p.ndim > 1)])


def planned(name, case, mesh):
    """(plan, of so little memory that parameters are cut; model, inputs, options; its parameters after steps in one process)"""
    model, inputs, options, optimizer = of_case(name, case)
    right = in_one(model, inputs, options, optimizer, 2)
    search = {"even": "always", "work_limit": 3 * 10**7}
    loose = shardwright.torch.plan(model, inputs, optimizer=optimizer, mesh=mesh, gap=100, **search, **options)
    memory = int(0.6 * loose.problem.baseline("replicated").memory_bytes)
    if case == "again":
        search, memory = search | {"recompute": AGAIN[name]}, int(0.75 * memory)
    try:
        plan = loose.problem.plan(memory=memory, gap=20, **search)
    except shardwright.ResourceError:
        plan = loose.problem.baseline("fsdp")
    return shardwright.torch.Plan(plan, loose._step, loose._traced, loose._model), model, inputs, options, right


def called(step, inputs, options):
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else ((inputs,), {})
    args, kwargs = step.shard(*args, *([options["targets"]] if options else []), **kwargs)
    return step(*args, **kwargs)


def in_one(model, inputs, options, optimizer, steps):
    """Its parameters after each of the steps."""
    one = copy.deepcopy(model)
    optimizer, after = optimizer(one.parameters()), []
    for _ in range(steps):
        out = one(**inputs) if isinstance(inputs, dict) else one(inputs)
        loss = out.loss if not options else options["loss"](out, options["targets"])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        after.append(copy.deepcopy(one.state_dict()))
    return after


def off(before, right, got, bound):
    """The most that a parameter is off by, in parts of what is allowed; all as root mean squares."""

    def size(value):
        return float(value.double().square().mean().sqrt())

    names = [n for n, p in right.items() if p.is_floating_point()]
    update = {n: size(right[n].double() - before[n].double()) for n in names}
    least = LEAST * max(update.values())
    worst = 0.0
    for n in names:
        allowed = bound * max(update[n], least) + torch.finfo(right[n].dtype).eps * size(right[n])
        worst = max(worst, size(got[n].double() - right[n].double()) / allowed)
    return worst if worst == worst else float("inf")


def left_out(step, call):
    """A fault: the parts of one gradient, or of one activation, are taken for their sum."""
    whole, scattered = funcol.all_reduce, funcol.reduce_scatter_single
    left = [1]

    def reduce(value, *rest, **named):
        return value if value.ndim > 1 and left and left.pop() else whole(value, *rest, **named)

    def scatter(value, *rest, **named):
        made = scattered(value, *rest, **named)
        return made / 2 if value.ndim > 1 and left and left.pop() else made

    funcol.all_reduce, funcol.reduce_scatter_single = reduce, scatter
    try:
        call()
    finally:
        funcol.all_reduce, funcol.reduce_scatter_single = whole, scattered
    return not left


def scaled(step, call):
    """A fault: one gradient is twice what it is."""
    arguments = step._plan._traced.arguments
    placeholders = [node for node in step._graph.graph.nodes if node.op == "placeholder"]
    momentum = next(n for n, a in zip(placeholders, arguments, strict=True) if a.kind == "state" and a.value.ndim > 1)
    (decayed,) = momentum.users
    (added,) = decayed.users
    gradient = next(node for node in added.all_input_nodes if node is not decayed)
    made = step._computed
    step._computed = lambda node, args, kwargs: 2 * made(node, args, kwargs) if node is gradient else made(node, args, kwargs)
    call()
    return True


def made_wrong(step, call):
    """A fault: what is made again is twice what it was at first."""
    made = step._computed
    copies = {node for op, node in step._step.model.nodes.items() if op.endswith(".again")}
    wrong = next(n for n in step._graph.graph.nodes if n.name in copies and n not in step._parts and isinstance(n.meta["val"], torch.Tensor))
    step._computed = lambda node, args, kwargs: 2 * made(node, args, kwargs) if node is wrong else made(node, args, kwargs)
    call()
    return True


def kept_as_saved(step, other):
    """What is saved and loaded again is the same, as a checkpoint and whole."""
    with torch.no_grad():
        whole = step.full_state_dict()
        others = other.state_dict()  # loaded in place
        named = [tempfile.mkdtemp()]
        dist.broadcast_object_list(named)
        checkpoint.save(step.state_dict(), checkpoint_id=named[0])
        checkpoint.load(others, checkpoint_id=named[0])
        assert all(torch.equal(v, whole[n]) for n, v in other.full_state_dict().items())
        other.load_state_dict({n: v + 1 for n, v in whole.items()})
        assert all(torch.equal(v, whole[n] + 1) for n, v in other.full_state_dict().items())
        if dist.get_rank() == 0:
            shutil.rmtree(named[0])


FAULTS = {"f32": (left_out, scaled), "again": (made_wrong,)}


def convolutions():
    """However operands are cut, a convolution and its gradient are those of one process."""
    mesh = init_device_mesh("cpu", (2, dist.get_world_size() // 2), mesh_dim_names=("x", "y"))
    for groups in (1, 8):
        x, weight, bias = (random(shape).double() for shape in ((8, 8, 5, 5), (8, 8 // groups, 3, 3), (8,)))
        more = ([1, 1], [1, 1], [1, 1], False, [0, 0], groups)
        out = convolution.FORWARD(x, weight, bias, *more)
        gradients = convolution.BACKWARD(out, x, weight, [8], *more, [True] * 3)
        cuts = list(itertools.product((Replicate(), Shard(0), Shard(1)), repeat=2))
        for of_x, of_weight in list(itertools.product(cuts, cuts if groups == 1 else cuts[:5]))[::3]:
            held = [distribute_tensor(x, mesh, of_x), distribute_tensor(weight, mesh, of_weight)]
            got = convolution.convolved(*held, distribute_tensor(bias, mesh), *more)
            torch.testing.assert_close(got.full_tensor(), out)
            for i, wanted in enumerate(gradients):
                found = convolution.gradient(i, (distribute_tensor(out, mesh, of_x), *held, [8], *more, [True] * 3))
                torch.testing.assert_close(found.full_tensor(), wanted)


def compared(case, plan, model, inputs, options, right):
    bound = CASES[case][2] * (terms(model) ** 0.5 if case == "bf16" else 1)
    start = time.monotonic()
    before = copy.deepcopy(model.state_dict())
    step = plan.apply(model)
    for _ in right:
        called(step, inputs, options)
    check = plan.check()
    if case == "f32":
        kept_as_saved(step, plan.apply(model))
    said = {
        "off": off(before, right[1], step.full_state_dict(), bound),
        "borders": step.borders,
        "whole": step.whole,
        "explained": check.agrees,
        "table": str(check),
        "memory": [check.memory[1].planned, check.memory[1].seen],
        "received": sum(row.seen for row in check.collectives),
        "entries": len(check.entries),
        "as_planned": sum(row.equal for row in check.entries),
        "again": sum(op.endswith(".again") for op in step._step.model.nodes),
    }
    for fault in FAULTS.get(case, ()):
        faulty = plan.apply(model)
        there = fault(faulty, lambda: called(faulty, inputs, options))
        said[fault.__name__] = off(before, right[0], faulty.full_state_dict(), bound) if there else None
    said["seconds"] = time.monotonic() - start
    return said


def told(name, case, said):
    planned, held = said["memory"]
    alike = f"{said['as_planned']} of {said['entries']} as planned"
    again = f"  {said['again']} ops again" if said["again"] else ""
    print(f"{name:10} {case:6} off {said['off']:.3f}  {alike:22}  memory {planned:>9} planned {held:>9} held{again}", flush=True)


def work(rank, file, world, port, jobs):
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(world))
    dist.init_process_group("gloo")
    convolutions()
    said = {}
    for (name, case), job in jobs.items():
        said.setdefault(name, {})[case] = compared(case, *job)
        if rank == 0:
            file.write_text(json.dumps(said))
            told(name, case, said[name][case])
    dist.destroy_process_group()


if __name__ == "__main__":
    file, world, *names = sys.argv[1:]
    torch.set_num_threads(1)
    jobs = {(name, case): planned(name, case, MESHES[int(world)]) for name in names for case in CASES if case != "again" or name in AGAIN}
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (pathlib.Path(file), int(world), port, jobs)
    torch.multiprocessing.start_processes(work, arguments, int(world), start_method="fork")
