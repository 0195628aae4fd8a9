"""Plans carried out: steps on four processes beside the same steps in one."""

import json
import pathlib
import subprocess
import sys

import pytest
import torch
from torch_models import job
from torch_processes import MESH, optimizer_of, whole

import shardwright
import shardwright.torch

HERE = pathlib.Path(__file__).parent
MODELS = ["llama", "gpt2", "bert", "vit"]
MEMORY = {"llama": "2500kB", "gpt2": "3MB", "bert": "3MB", "vit": "1MB"}  # so little that parameters must be cut


def planned(name, path):
    model, inputs, options = whole(*job(name))
    options |= {"mesh": MESH, "memory": MEMORY[name], "even": "always", "gap": 20, "time_limit": 10}
    plan = shardwright.torch.plan(model, inputs, optimizer=optimizer_of(model), **options)
    plan.save(path / f"{name}.json")
    return plan


def run(folder, how, names):
    command = [sys.executable, "-B", HERE / "torch_processes.py", folder, how, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads((folder / "said").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("plans")
    for name in MODELS:
        plan = planned(name, path)
        assert any(axis in sharding for sharding in plan.arguments.values() for axis in MESH), name
    return path


def test_steps_on_four_processes_are_those_of_one(folder):
    said = run(folder, "right", MODELS)
    for name, found in said.items():
        assert found["off"] < 1e-5 and found["loss"] < 1e-6 and found["borders"] == "values", (name, found)


def test_a_sum_that_is_left_out_shows(folder):
    assert run(folder, "fault", ["llama"])["llama"]["off"] > 1e-3


def test_what_does_not_fit_is_refused():
    model, inputs, options = whole(*job("llama"))
    plan = shardwright.torch.plan(model, inputs, optimizer=optimizer_of(model), mesh="x=2", gap=100)

    class Mesh:
        mesh_dim_names, shape = ("x", "y"), (2, 2)

    with pytest.raises(shardwright.InputError, match="the mesh has .*; the plan is for"):
        plan.apply(model, Mesh())
    Mesh.mesh_dim_names, Mesh.shape = ("x",), (2,)
    with pytest.raises(shardwright.InputError, match="the model has no model.embed_tokens.weight"):
        plan.apply(torch.nn.Linear(4, 4), Mesh())
    with torch.device("meta"):
        empty = job("llama")[0].double()
    with pytest.raises(shardwright.InputError, match="model.embed_tokens.weight has no data"):
        plan.apply(empty, Mesh())
