"""Steps under their plans on processes of gloo, beside the same steps in one: a script that a test starts.

    python torch_processes.py FOLDER right|fault MODEL...

FOLDER/MODEL.json is the plan of a model; FOLDER/said gets how far off each is."""

import copy
import json
import os
import pathlib
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.tensor import DTensor, Replicate
from torch.utils import _pytree as pytree
from torch_models import job

import shardwright.torch

WORLD = 4
MESH = {"x": 2, "y": 2}


def whole(model, inputs, options):
    """(model, inputs, options) in f64, where the order of sums does not show."""
    double = {torch.float32: torch.float64}
    inputs = pytree.tree_map(lambda x: x.to(double.get(x.dtype, x.dtype)), inputs)
    return model.double(), inputs, options


def called(step, inputs, options):
    args, kwargs = ((), inputs) if isinstance(inputs, dict) else ((inputs,), {})
    return step(*args, *([options["targets"]] if options else []), **kwargs)


def optimizer_of(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def leave_out(applied):
    """A fault: parts of a sum are taken for the sum, once."""
    to, left = applied._to, [1]

    def faulty(value, wanted):
        partial = isinstance(value, DTensor) and any(p.is_partial() for p in value.placements)
        if left and partial and value.ndim > 1 and wanted is not None and not any(p.is_partial() for p in wanted):
            left.clear()
            placed = [Replicate() if p.is_partial() else p for p in value.placements]
            value = DTensor.from_local(value.to_local(), value.device_mesh, placed, run_check=False)
        return to(value, wanted)

    applied._to = faulty


def off(name, folder, fault):
    """(most that a parameter is off by after two steps, of its change; loss off; borders; ops without a rule)"""
    model, inputs, options = whole(*job(name))
    one, before = copy.deepcopy(model), copy.deepcopy(model.state_dict())
    plan = shardwright.torch.load(folder / f"{name}.json", model, inputs, optimizer=optimizer_of(model), **options)
    step = plan.apply(model)
    if fault:
        leave_out(step)
    optimizer, losses = optimizer_of(one), []
    for _ in range(2):
        got = called(step, inputs, options)
        out = one(**inputs) if isinstance(inputs, dict) else one(inputs)
        loss = out.loss if not options else options["loss"](out, options["targets"])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(abs(float(got.detach()) - float(loss.detach())))
    after = step.full_state_dict()
    shares = [
        float((after[n] - p).abs().max() / (p - before[n]).abs().max().clamp_min(1e-12))
        for n, p in one.state_dict().items()
        if p.is_floating_point()
    ]
    again = copy.deepcopy(model)
    again.load_state_dict(after)  # its keys are the model's own
    step.load_state_dict(after)
    assert all(torch.equal(v, after[n]) for n, v in step.full_state_dict().items())
    return {"off": max(shares), "loss": max(losses), "borders": step.borders, "whole": step.whole}


def work(rank, folder, names, fault, port):
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD))
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    said = {name: off(name, folder, fault) for name in names}
    if rank == 0:
        (folder / "said").write_text(json.dumps(said))
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = (pathlib.Path(sys.argv[1]), sys.argv[3:], sys.argv[2] == "fault", port)
    torch.multiprocessing.spawn(work, arguments, WORLD)
