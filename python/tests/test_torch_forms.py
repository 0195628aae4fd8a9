"""Plans of PyTorch in forms of others, read by readers of ours; and calls of PyTorch's own, on four processes beside one."""

import json
import pathlib
import subprocess
import sys

import pytest
import torch
from torch.distributed.tensor import Partial, Replicate, Shard
from torch_forms_processes import JOBS

import shardwright
import shardwright.torch

OPTIONS = {"even": "always", "gap": 20, "work_limit": 200_000_000}
BATCH = {"input_ids": "[[x],[]]", "labels": "[[x],[]]", "input_ids@used": "[[x],[]]"}
COLUMNS_AND_ROWS = {"up.weight": "[[x],[]]", "up.bias": "[[x]]", "down.weight": "[[],[x]]", "down.bias": "[[]]"}


def planned(name, pins, mesh, **options):
    model, inputs, given = JOBS[name]()
    return shardwright.torch.plan(model, inputs, mesh=mesh, pins=pins, optimizer=torch.optim.SGD, **{**OPTIONS, **given, **options})


def sharded():
    """All that fully_shard cuts."""
    model = JOBS["llama"]()[0]
    return planned("llama", BATCH | {n: "[[x]" + ",[]" * (p.dim() - 1) + "]" for n, p in model.named_parameters()}, {"x": 4})


def tensor():
    pins = {f"{i}.{n}{use}": cut for i in range(2) for n, cut in COLUMNS_AND_ROWS.items() for use in ("", "@used")}
    return planned("mlp", {**pins, "input": "[[],[]]"}, {"x": 4})


def test_calls_of_pytorch_do_what_the_plan_does(tmp_path):
    """Written for plans that are exactly theirs, they train as one process does."""
    for name, plan, call in (("llama", sharded(), "fully_shard(model"), ("mlp", tensor(), '"1.down": RowwiseParallel()')):
        assert call in plan.emit("parallelize")
        plan.save(tmp_path / f"{name}.json")
    command = [sys.executable, "-B", pathlib.Path(__file__).parent / "torch_forms_processes.py", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-3000:]
    said = json.loads((tmp_path / "said").read_text())
    assert set(said) == {"llama", "mlp"} and all(off < 1e-9 for off in said.values()), said


@pytest.mark.parametrize(
    ("pins", "why"),
    [
        ({"input": "[[],[]]", "0.up.weight": "[[],[x]]", "0.up.weight@used": "[[],[]]"}, "0.up.weight is used otherwise than x cuts it"),
        ({"input": "[[],[]]", "0.up.bias": "[[x]]", "0.up.bias@used": "[[x]]", "0.up.weight": "[[],[]]"}, "0.up is cut by x; parallelize"),
        ({"input": "[[x],[]]", "input@used": "[[x],[]]", "0.up.weight": "[[x],[]]", "0.down.weight": "[[],[]]"}, "by x, as "),
    ],
)
def test_what_no_call_does_is_refused_by_name(pins, why):
    plan = planned("mlp", pins, {"x": 4})
    with pytest.raises(shardwright.InputError, match=why):
        plan.parallelize(JOBS["mlp"]()[0])


@pytest.fixture(scope="module")
def mixed():
    pins = {"input_ids": "[[x],[]]", "model.layers.0.mlp.down_proj.weight": "[[],[x]]", "model.norm.weight": "[[x,y]]"}
    return planned("llama", {**pins, "lm_head.weight": "[[y,x],[]]"}, {"x": 2, "y": 2}, memory="5MB")


def test_placements_as_autoparallel_saves_them(mixed):
    """Read as its load_solution does: texts of placements by node, axes one after the other."""
    saved = json.loads(mixed.emit("autoparallel"))
    assert (saved["version"], saved["mesh_shape"], saved["mesh_dim_names"]) == (1, [2, 2], ["x", "y"])
    nodes = {n.name: n for n in mixed._traced.graph.graph.nodes}
    assert set(saved["placements"]) <= set(nodes)
    given = [n.name for n in nodes.values() if n.op == "placeholder"]
    for node, (name, placed) in zip(given, mixed.placements().items(), strict=True):
        assert saved["placements"][node] == "".join(map(str, placed)), name
    inner = [text for node, text in saved["placements"].items() if node not in given]
    assert any("S(0)" in text for text in inner) and len(inner) > 100


def test_types_as_spmd_types_has_them(mixed):
    """Names of that package, of ours here: R, I, V and P on an axis, S(dim), a spec for dims that several axes cut."""
    names = {**{t: t for t in "RIV"}, "S": lambda dim: ("S", dim), "PartitionSpec": lambda *dims: dims}
    names["SpmdType"] = lambda local, spec=None: (local, spec)
    text = mixed.emit("spmd_types")
    assert text.startswith("from spmd_types import")
    exec(text.split("\n\n", 1)[1], names)
    types = names["TYPES"]
    for name, placed in mixed.placements().items():
        local, spec = types[name]
        assert list(local) == ["x", "y"]
        if spec is None:
            for kind, placement in zip(local.values(), placed, strict=True):
                assert (kind in ("R", "I")) == isinstance(placement, Replicate), name
                assert isinstance(kind, str) or placement == Shard(kind[1]), name
        assert not any(isinstance(p, Partial) for p in placed)
    assert types["model.norm.weight"] == ({"x": "V", "y": "V"}, (("x", "y"),))
    assert types["lm_head.weight"] == ({"x": "V", "y": "V"}, (("y", "x"), None))
    assert types["model.rotary_emb.inv_freq"][0]["x"] == "I"


def test_the_tutorial_runs_as_it_stands(tree, tmp_path):
    """examples/torch_llama.py: a plan, a page, and a step on four processes with the numbers of one."""
    script = tree / "examples/torch_llama.py"
    told = subprocess.run([sys.executable, "-B", script], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert told.returncode == 0, told.stderr[-3000:]
    assert "predicted time" in told.stdout and "Shard(dim=" in told.stdout and "TP + FSDP2 over y" in told.stdout
    assert (tmp_path / "torch_llama.html").read_text().startswith("<!DOCTYPE html>")
    launch = [sys.executable, "-B", "-m", "torch.distributed.run", "--nproc-per-node", "4", script, "--train"]
    trained = subprocess.run(launch, cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert trained.returncode == 0, trained.stderr[-3000:]
    losses = [line.split()[1:6:4] for line in trained.stdout.splitlines() if line.startswith("loss")]
    assert len(losses) == 2 and all(abs(float(a) - float(b)) < 1e-5 for a, b in losses)
    assert float(trained.stdout.split("parameters differ by ")[1].split()[0]) < 1e-4
