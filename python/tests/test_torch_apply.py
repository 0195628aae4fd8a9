"""Plans carried out: steps on four processes beside the same steps in one."""

import copy
import json
import os
import pathlib
import subprocess
import sys

import pytest
import torch
import torch.distributed
from torch_models import MIXTURES, PICTURES, TEXTS, job

import shardwright
import shardwright.torch
from shardwright.torch.check import spelled_out

HERE = pathlib.Path(__file__).parent
MODELS = [*TEXTS, *MIXTURES, *PICTURES]


@pytest.fixture(scope="module")
def said(tmp_path_factory):
    file = tmp_path_factory.mktemp("run") / "said"
    command = [sys.executable, "-B", HERE / "torch_processes.py", file, "4", *MODELS]
    env = os.environ | {"OMP_NUM_THREADS": "1"}  # its processes are forks
    done = subprocess.run(command, capture_output=True, text=True, timeout=1500, env=env)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(file.read_text())


@pytest.mark.parametrize("name", MODELS)
def test_steps_on_four_processes_are_those_of_one(said, name):
    for case, found in said[name].items():
        assert found["off"] < 1 and found["borders"] == "values" and not found["whole"], (case, found)


@pytest.mark.parametrize("name", MODELS)
def test_what_a_step_did_is_as_planned_or_explained(said, name):
    for case, found in said[name].items():
        assert found["explained"], (case, found["table"])
        assert found["received"] > 0, case


@pytest.mark.parametrize("name", MODELS)
def test_faults_show(said, name):
    assert said[name]["f32"]["left_out"] > 10 and said[name]["f32"]["scaled"] > 10
    again = said[name].get("again")
    assert again is None or (again["again"] > 0 and again["made_wrong"] > 10)


def test_most_bytes_and_most_memory_are_as_planned(said):
    """Over all models: what is explained is the exception."""
    found = [case for of in said.values() for case in of.values()]
    close = [case for case in found if abs(case["memory"][1] / case["memory"][0] - 1) < 0.1]
    assert len(close) >= 0.8 * len(found)
    assert sum(case["as_planned"] for case in found) >= 0.95 * sum(case["entries"] for case in found)


class Mesh:
    mesh_dim_names, shape = ("x",), (2,)


@pytest.fixture(scope="module")
def plan():
    model, inputs, options = job("llama")
    return shardwright.torch.plan(model, inputs, optimizer=torch.optim.SGD, mesh="x=2", gap=100, **options)


def test_what_does_not_fit_is_refused(plan):
    class Other:
        mesh_dim_names, shape = ("x", "y"), (2, 2)

    with pytest.raises(shardwright.InputError, match="the mesh has .*; the plan is for"):
        plan.apply(job("llama")[0], Other())
    with pytest.raises(shardwright.InputError, match="the model has no model.embed_tokens.weight"):
        plan.apply(torch.nn.Module(), Mesh())
    with pytest.raises(shardwright.InputError, match="the model has weight, of which the plan knows nothing|has bias"):
        plan.apply(torch.nn.Linear(4, 4), Mesh())
    with torch.device("meta"):
        empty = job("llama")[0]
    with pytest.raises(shardwright.InputError, match="model.embed_tokens.weight has no data"):
        plan.apply(empty, Mesh())
    with pytest.raises(shardwright.InputError, match="no step was made under this plan"):
        plan.check()


@pytest.fixture
def alone(tmp_path):
    """A group of this process."""
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_calls_that_are_not_the_planned_one_change_nothing(alone):
    model, inputs, _ = job("bert")
    other = {"labels": inputs["labels"], "input_ids": inputs["input_ids"].flip(0)}
    plan = shardwright.torch.plan(model, inputs, optimizer=torch.optim.SGD, mesh="x=1", gap=100)
    step = plan.apply(model)
    before = step.full_state_dict()
    with pytest.raises(shardwright.InputError, match=r"labels is torch.int64\[4, 16\]; the plan is for torch.int64\[8, 16\]"):
        step(input_ids=inputs["input_ids"], labels=inputs["labels"][:4])
    with pytest.raises(TypeError, match="the plan is for a call with 0 arguments by position and"):
        step(inputs["input_ids"], inputs["labels"])
    with pytest.raises(shardwright.InputError, match="are in one of the two state_dicts alone"):
        step.load_state_dict({"odd": torch.ones(1)})
    assert all(torch.equal(v, before[n]) for n, v in step.full_state_dict().items())
    with torch.no_grad():
        wanted = model(**other).loss
    torch.testing.assert_close(step(**other), wanted)  # by name, in whatever order
    assert plan.check().agrees and not plan.check().collectives


def test_dropout_draws_numbers_of_its_own(alone):
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5))
    options = {"loss": lambda out: out.sum(), "optimizer": torch.optim.SGD, "mesh": "x=1", "gap": 100}
    plan = shardwright.torch.plan(model, torch.ones(4, 8), **options)
    with pytest.warns(shardwright.ModelWarning, match="draws random numbers .*: they are not those that one process draws"):
        step = plan.apply(model)
    step(torch.ones(4, 8))
    assert any(not torch.equal(v, model.state_dict()[n]) for n, v in step.full_state_dict().items())


def test_names_of_groups_are_spelled_out():
    assert spelled_out("h.{0..2}.w{q,k}") == [f"h.{i}.w{w}" for i in range(3) for w in "qk"]
    assert spelled_out("a.{0..4..2}") == ["a.0", "a.2", "a.4"] and spelled_out("plain") == ["plain"]


class Layered(torch.nn.Module):
    """Three layers with products that are read late."""

    def __init__(self, dropout=0.0):
        super().__init__()
        last = (torch.nn.Dropout(dropout),) if dropout else ()
        self.layers = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), *last, torch.nn.Linear(64, 16)) for _ in range(3)
        )

    def forward(self, x):
        for layer in self.layers:
            x = x + layer(x)
        return (x**2).mean()


def saved_by(model, x):
    """(elements that are kept for the backward pass, gradients)"""
    kept = []

    def pack(tensor):
        kept.append(tensor.numel())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = model(x)
    loss.backward()
    return sum(kept), [p.grad for p in model.parameters()]


@pytest.mark.filterwarnings("ignore:A saved_tensors_hooks context")
def test_layers_are_checkpointed_as_the_plan_has_it():
    model, x = Layered().double(), torch.randn(256, 16, dtype=torch.float64)
    options = {"loss": lambda loss: loss, "optimizer": lambda p: torch.optim.SGD(p, lr=0.1), "mesh": "x=1", "work_limit": 1_000_000}
    for how in ("full", "as-written"):
        plan = shardwright.torch.plan(model, x, recompute=how, **options)
        checkpointed = copy.deepcopy(model)
        layers = plan.checkpoint(checkpointed)
        assert layers == ([f"layers.{i}" for i in range(3)] if how == "full" else [])
        (kept, gradients), (all_kept, wanted) = saved_by(checkpointed, x), saved_by(copy.deepcopy(model), x)
        assert kept < all_kept / 2 if layers else kept == all_kept
        assert all(torch.equal(a, b) for a, b in zip(gradients, wanted, strict=True))


def test_what_draws_random_numbers_is_not_made_again(alone):
    model, x = Layered(dropout=0.5), torch.randn(256, 16)
    options = {"loss": lambda loss: loss, "optimizer": lambda p: torch.optim.SGD(p, lr=0.1), "mesh": "x=1", "work_limit": 1_000_000}
    after = []
    for how in ("full", "as-written"):
        plan = shardwright.torch.plan(model, x, recompute=how, **options)
        with pytest.warns(shardwright.ModelWarning, match="draws random numbers"):
            step = plan.apply(model)
        torch.manual_seed(0)
        step(*step.shard(x)[0])
        again = sum(op.endswith(".again") for op in step._step.model.nodes)
        assert (again > 0) == (how == "full") and plan.check().agrees
        after.append(step.full_state_dict())
    assert all(torch.equal(value, after[1][name]) for name, value in after[0].items())
    assert any(not torch.equal(value, after[1][name]) for name, value in model.state_dict().items())
