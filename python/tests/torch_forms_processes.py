"""Models under calls of PyTorch's own, as plans write them, on processes of gloo: a script that a test starts.

    python torch_forms_processes.py FOLDER

FOLDER/NAME.json is a plan; FOLDER/said gets how far off parameters are from those of one process."""

import copy
import json
import os
import pathlib
import socket
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.tensor import DTensor
from torch_models import job

import shardwright.torch

WORLD = 4
CUT = {"llama": True, "mlp": False}  # the batch


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(64, 256), nn.Linear(256, 64)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


def mlp():
    torch.manual_seed(0)
    return nn.Sequential(Block(), Block()).double(), torch.randn(32, 64).double(), {"loss": torch.mean}


def llama():
    """In f64, where the order of sums does not show."""
    model, inputs, options = job("llama")
    return model.double(), inputs, options


JOBS = {"llama": llama, "mlp": mlp}


def step(model, inputs, optimizer):
    loss = model(**inputs).loss if isinstance(inputs, dict) else model(inputs).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def off(name, folder, rank):
    model, inputs, given = JOBS[name]()
    one, before = copy.deepcopy(model), copy.deepcopy(model.state_dict())
    plan = shardwright.torch.load(folder / f"{name}.json", model, inputs, optimizer=torch.optim.SGD, **given)
    model = plan.parallelize(model)
    part = {k: v.chunk(WORLD)[rank] for k, v in inputs.items()} if CUT[name] else inputs
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1) for m in (one, model)]
    for _ in range(2):
        step(one, inputs, optimizers[0])
        step(model, part, optimizers[1])
    after = {n: p.full_tensor() if isinstance(p, DTensor) else p for n, p in model.state_dict().items()}
    cut = sum(isinstance(p, DTensor) for p in model.parameters())
    assert cut, "nothing is cut"
    shares = [(after[n] - p).abs().max() / (p - before[n]).abs().max().clamp_min(1e-12) for n, p in one.named_parameters()]
    return float(max(shares))


def work(rank, folder, port):
    warnings.simplefilter("ignore")
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), RANK=str(rank), WORLD_SIZE=str(WORLD))
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    said = {path.stem: off(path.stem, folder, rank) for path in sorted(folder.glob("*.json"))}
    if rank == 0:
        (folder / "said").write_text(json.dumps(said))
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    torch.multiprocessing.spawn(work, (pathlib.Path(sys.argv[1]), port), WORLD)
