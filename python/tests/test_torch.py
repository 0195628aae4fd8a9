"""Steps of PyTorch as models: what they compute beside PyTorch's numbers, and plans of them."""

import functools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import torch
import transformers
from torch import nn
from torch.distributed.tensor import Replicate, Shard
from torch.distributed.tensor.placement_types import _StridedShard
from torch_models import GROUPED, MIXTURES, PICTURES, TEXTS, job
from torch_values import array, differences, execute, of_function

import shardwright
import shardwright.torch
from shardwright.torch.convert import convert
from shardwright.torch.placements import placements
from shardwright.torch.step import step_of
from shardwright.torch.trace import trace
from torch.utils import _pytree as pytree

MESH = {"x": 2, "y": 4}
QUICK = {"mesh": MESH, "memory": "1500kB", "gap": 20, "time_limit": 5}  # so little that parameters must be cut


llama, gpt2 = TEXTS["llama"], TEXTS["gpt2"]


def batch():
    return job("llama")[1]


def held(step):
    """What a plan calls arguments, as the models and optimizers of a step hold them now."""
    values, names = {}, {}
    for prefix, model in step.models.items():
        names |= {id(p): prefix + n for n, p in model.named_parameters()}
        values |= {prefix + n: p.detach().clone() for n, p in [*model.named_parameters(), *model.named_buffers()]}
    for optimizer in step.optimizers:
        for parameter, state in optimizer.state.items():
            named = {k: v for k, v in state.items() if isinstance(v, torch.Tensor)}
            values |= {f"optimizer.{names[id(parameter)]}.{k}": v.clone() for k, v in named.items()}
    return values


def assert_computes(tool_path, step, allowed=1e-4):
    """The model of a step changes parameters as the step does, within a part of the change, and gives its results: in f64, as
    Adam makes a change of one size of gradients that are 0 but for rounding, as those of the biases of keys are. Adam's
    1 - 0.999^2 is in f32 where the step is a tensor, and so off by 3e-5 of itself."""
    model = convert(trace(step.call, step.args, step.kwargs, step.input_names, step.models, step.optimizers), "m")
    step.call(*step.args, **step.kwargs)  # the states of optimizers are made in the first step
    before = held(step)
    inputs = [leaf for leaf in pytree.tree_leaves((step.args, step.kwargs)) if isinstance(leaf, torch.Tensor)]
    before |= dict(zip(step.input_names, inputs, strict=True))
    got = execute(tool_path, model.text, {name: before[name] for name in model.arguments})
    results = [leaf for leaf in pytree.tree_leaves(step.call(*step.args, **step.kwargs)) if isinstance(leaf, torch.Tensor)]
    for name, want in zip((o for o in model.outputs if o.startswith("result")), results, strict=True):
        np.testing.assert_allclose(got[name], array(want), rtol=allowed, atol=allowed / 100)
    after = held(step)
    changed = [name.removesuffix(".new") for name in got if name.endswith(".new")]
    assert {n for n in after if not torch.equal(after[n], before[n])} <= set(changed)
    for name in changed:
        want, change = array(after[name]), np.abs(array(after[name]) - array(before[name])).max(initial=0)
        assert np.abs(got[name + ".new"] - want).max(initial=0) <= allowed * change + 1e-12 + 1e-7 * (want.dtype == np.float32), name
    return model


@pytest.fixture(scope="session")
def tool_path():
    return os.environ.get("SHARDWRIGHT_TOOL") or pytest.skip("SHARDWRIGHT_TOOL is not set")


# --- what a step computes --------------------------------------------------------------------------------------------


def doubled(value):
    return pytree.tree_map(lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x, value)


def adamw(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2)


@pytest.mark.parametrize("name", [*TEXTS, *PICTURES])
def test_a_step_of_training_computes_what_pytorch_does(tool_path, name):
    model, inputs, options = job(name)
    model = model.double()
    step = step_of(model, doubled(inputs), options.get("targets"), options.get("loss"), adamw(model.parameters()), None)
    assert assert_computes(tool_path, step).opaque == {}


@pytest.mark.parametrize("name", ["llama", *MIXTURES])
def test_so_does_one_in_single_precision_by_another_optimizer(tool_path, name):
    model, inputs, _ = job(name)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    assert assert_computes(tool_path, step_of(model, inputs, None, None, optimizer, None), allowed=1e-3).opaque == {}


@pytest.mark.parametrize("name", [*TEXTS, *MIXTURES, *PICTURES])
def test_every_op_of_a_step_in_half_precision_has_a_row(name):
    """Of the dtypes that PyTorch gives what it computes: a row that gives another is an error."""
    model, inputs, options = job(name)
    half = pytree.tree_map(lambda x: x.bfloat16() if x.is_floating_point() else x, inputs)
    step = step_of(model.bfloat16(), half, options.get("targets"), options.get("loss"), adamw, None)
    traced = trace(step.call, step.args, step.kwargs, step.input_names, step.models, step.optimizers)
    assert convert(traced, name).opaque == {}


def test_experts_work_on_the_tokens_they_get():
    """The flops of products in groups are those of the tokens, each of which two of the experts see."""
    model, inputs, _ = job("mixtral")
    ops = json.loads(shardwright.torch.export(model, inputs))["ops"]
    found = [op for op in ops if op["op"] == "generic" and ".experts." in op["outputs"][0]["name"]]
    assert len(found) == 4
    for op in found:
        points = np.prod([loop if isinstance(loop, int) else loop["size"] for loop in op["loops"]])
        tokens, columns = op["outputs"][0]["shape"]
        assert tokens == 2 * 8 * 16
        assert points * op["flops_per_point"] == 2 * tokens * columns * (64 if columns > 64 else 128)


def test_attention_is_one_op_and_its_mask_is_known(tool_path):
    for model, attrs in ((llama(), {"causal": True}), (gpt2(), {"causal": True})):
        ops = json.loads(shardwright.torch.export(model, batch(), optimizer=torch.optim.AdamW))["ops"]
        found = [op for op in ops if op["op"] in ("attention", "attention_grad")]
        assert [op["op"] for op in found] == ["attention"] * 2 + ["attention_grad"] * 2
        assert all(op["attrs"].items() >= attrs.items() and len(op["inputs"]) in (3, 6) for op in found)


def test_names_and_places_are_those_of_the_model():
    ops = json.loads(shardwright.torch.export(llama(), batch(), optimizer=torch.optim.AdamW))["ops"]
    named = {op["outputs"][0]["name"]: op for op in ops}
    there = named["model.layers.1.mlp.up_proj.mm"]
    assert "modeling_llama.py:" in there["location"]
    assert named["model.layers.1.mlp.up_proj.grad.mm"]["location"] == there["location"]
    assert named["model.layers.0.mlp.act_fn.silu"]["function"] == "model.layers.0.mlp.act_fn.silu"
    of_grad = [op for op in ops if op.get("function") == "model.layers.0.mlp.act_fn.silu.grad"]
    assert of_grad and all(".grad." in op["outputs"][0]["name"] for op in of_grad)


def test_a_function_that_trains(tool_path):
    """A step that the user wrote: models and optimizers are those that it uses, and it may use several."""
    torch.manual_seed(0)
    encoder, head = nn.Sequential(nn.Linear(8, 16), nn.Tanh()).double(), nn.Linear(16, 4).double()
    optimizer = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=1e-2)

    def step(x, y):
        loss = nn.functional.cross_entropy(head(encoder(x)), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        return {"loss": loss}

    x, y = torch.randn(8, 8).double(), torch.randint(0, 4, (8,))
    model = assert_computes(tool_path, step_of(step, (x, y), None, None, None, None))
    assert {"encoder.0.weight", "head.bias", "optimizer.head.bias.exp_avg", "x", "y"} <= set(model.arguments)
    assert "result['loss']" in model.outputs


@pytest.mark.parametrize("kind", ["mask", "bias", "cap"])
def test_flex_attention_is_attention(tool_path, monkeypatch, kind):
    """Priced whole where it is a mask or a bias, of which causal ones are known; else written out. It also has a gradient here."""
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    mods = {
        "mask": {"block_mask": flex.create_block_mask(lambda b, h, i, j: i >= j, 2, 4, 128, 128, device="cpu")},
        "bias": {"score_mod": lambda score, b, h, i, j: score + (j - i) * 0.5 ** (h + 1)},
        "cap": {"score_mod": lambda score, b, h, i, j: 5 * torch.tanh(score / 5)},
    }
    q, k, v = (torch.randn(2, 4, 128, 16, generator=torch.Generator().manual_seed(i)) for i in range(3))

    def call(q, k, v):
        return flex.flex_attention(q, k, v, **mods[kind])

    monkeypatch.setattr(flex, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG", True)
    opaque, different = differences(tool_path, call, (q, k, v), rtol=1e-4, atol=1e-5)
    assert not opaque and not different
    given = [x.requires_grad_() for x in (q, k, v)]
    ops = json.loads(of_function(lambda *x: torch.autograd.grad(call(*x).sum(), x), given)[0].text)["ops"]
    found = {op["op"]: op for op in ops if op["op"].startswith("attention")}
    assert set(found) == (set() if kind == "cap" else {"attention", "attention_grad"})
    assert kind != "mask" or found["attention"]["attrs"]["causal"]


def autocast(model, x):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return model(x).float().sum()


def test_regions_of_other_precision_are_as_pytorch_makes_them():
    model = nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.Linear(8, 4))
    ops = json.loads(shardwright.torch.export(lambda x: autocast(model, x), (torch.ones(4, 8),), model=model))["ops"]
    products = [op["outputs"][0]["dtype"] for op in ops if op["op"] == "dot_general"]
    assert products == ["bf16"] * 2


def test_sizes_that_may_change_are_those_of_the_inputs():
    """A dynamic dim is planned as large as it is, and a region of local_map as what it computes."""
    from torch.distributed.tensor.experimental import local_map

    def step(x):
        torch._dynamo.mark_dynamic(x, 0)
        twice = local_map(lambda v: v * 2, out_placements=[Shard(0)], in_placements=([Shard(0)],), device_mesh=None)
        return twice(model(x)).view(x.shape[0] * 2, -1)

    model = nn.Linear(8, 8)
    made = json.loads(shardwright.torch.export(step, (torch.ones(4, 8),), model=model))
    assert made["ops"][-1]["outputs"][0]["shape"] == [8, 4] and not any(op["op"] == "opaque" for op in made["ops"])


def test_a_loop_over_experts_is_refused_with_advice():
    config = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4, "num_local_experts": 4, **GROUPED}
    model = transformers.MixtralForCausalLM(transformers.MixtralConfig(**config, vocab_size=256, experts_implementation="eager"))
    with pytest.raises(shardwright.InputError, match=r"^model\.layers\.0\.mlp\.experts: .* \(experts as a grouped or batched product"):
        shardwright.torch.export(model, batch())


def test_what_is_given_stays_as_it_was():
    model = llama()
    optimizer = torch.optim.AdamW(model.parameters())
    before, groups = {n: (p, p.clone()) for n, p in model.named_parameters()}, optimizer.param_groups
    shardwright.torch.export(model, batch(), optimizer=optimizer)

    def fails(input_ids):
        return model(input_ids).logits.sum().item()

    with pytest.raises(shardwright.InputError):
        shardwright.torch.export(fails, (batch()["input_ids"],), model=model)
    for name, parameter in model.named_parameters():
        assert parameter is before[name][0] and torch.equal(parameter, before[name][1]) and parameter.grad is None
    assert optimizer.param_groups is groups and not optimizer.state and model.config.use_cache
    assert not torch.compiler.is_compiling() and not nn.modules.module._global_forward_hooks


def test_a_model_without_weights_is_planned_as_one_with_them():
    with torch.device("meta"):
        empty = llama()
    texts = [shardwright.torch.export(m, batch(), optimizer=torch.optim.AdamW) for m in (llama(), empty)]
    assert texts[0] == texts[1]


# --- what is refused, and what is unknown ----------------------------------------------------------------------------


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList([Looks()])

    def forward(self, x):
        return self.experts[0](x)


class Looks(nn.Module):
    def forward(self, x):
        return x * 2 if x.sum() > 0 else x


def test_control_flow_by_data_is_refused_with_module_and_op():
    with pytest.raises(shardwright.InputError, match=r"^experts\.0: aten\.\S+ asks what a tensor holds"):
        shardwright.torch.plan(Branches(), torch.ones(4), **QUICK)


def test_an_optimizer_of_another_model_is_refused():
    other = torch.optim.SGD(nn.Linear(3, 3).parameters(), lr=0.1)
    model = nn.Linear(4, 4)
    weight = model.weight
    with pytest.raises(shardwright.InputError, match="no model here has"):
        shardwright.torch.plan(model, torch.ones(2, 4), loss=torch.mean, optimizer=other, **QUICK)
    assert model.weight is weight


def test_an_interrupted_trace_leaves_nothing_behind(monkeypatch):
    model = nn.Linear(4, 4)
    weight, optimizer = model.weight, torch.optim.AdamW(model.parameters())

    def interrupted(*_):
        raise KeyboardInterrupt

    for at in (lambda m: m.setattr(optimizer, "step", interrupted), lambda m: m.setattr(model, "forward", interrupted)):
        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            at(patched)
            shardwright.torch.export(model, torch.ones(2, 4), loss=torch.mean, optimizer=optimizer)
        assert model.weight is weight and not optimizer.state and optimizer.param_groups[0]["params"][0] is weight
        assert not torch.compiler.is_compiling() and not nn.modules.module._global_forward_hooks


def test_an_op_of_ones_own_is_opaque_until_it_has_a_rule(tool_path):
    library = torch.library.Library("shardwright_test", "DEF")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: 2 * x, "CompositeExplicitAutograd")
    library.impl("twice", lambda x: torch.empty_like(x), "Meta")
    op = torch.ops.shardwright_test.twice

    def call(x):
        return op(x) + 1

    x = torch.randn(4, 4)
    traced = trace(call, (x,), {}, ["x"], {})
    assert convert(traced, "m").opaque == {"shardwright_test.twice.default": 1}
    shardwright.torch.register_rule(op, lambda t, v: t.b.binary("add", v, v))
    model = convert(traced, "m")
    assert model.opaque == {}
    np.testing.assert_allclose(execute(tool_path, model.text, {"x": x})["result"], call(x).numpy(), rtol=1e-6)


# --- plans -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["llama", "gpt2"])
def planned(request):
    model = TEXTS[request.param]()
    return model, shardwright.torch.plan(model, batch(), optimizer=torch.optim.AdamW, **QUICK)


def test_placements_are_of_every_argument(planned):
    model, plan = planned
    found = plan.placements()
    assert {n for n, _ in [*model.named_parameters(), *model.named_buffers()]} <= set(found)
    assert {"input_ids", "labels"} <= set(found) and any(n.startswith("optimizer.") for n in found)
    assert any(isinstance(p, Shard) for placed in found.values() for p in placed)
    for name, parameter in model.named_parameters():
        of_states = [found[f"optimizer.{name}.{k}"] for k in ("exp_avg", "exp_avg_sq")]
        assert all(len(p) == len(MESH) for p in (found[name], *of_states)), name
        for placed in found[name]:
            assert not isinstance(placed, Shard) or placed.dim < parameter.dim()


def test_the_plan_is_told_by_modules(planned):
    model, plan = planned
    module = "model.layers.1.mlp" if "model.layers.1.mlp" in dict(model.named_modules()) else "transformer.h.1.mlp"
    assert module in str(plan.explain(module, alone=True))
    assert set(plan.placements(module)) == {n for n, _ in model.named_parameters() if n.startswith(module + ".")}
    with pytest.raises(KeyError, match="no argument or module is named nowhere"):
        plan.placements("nowhere")
    assert type(model).__name__ in repr(plan) and plan.opaque == {} and plan.report().data["total_s"] > 0


def test_a_plan_is_saved_and_loaded(planned, tmp_path):
    model, plan = planned
    plan.save(tmp_path / "plan.json")
    load = functools.partial(shardwright.torch.load, tmp_path / "plan.json", model, batch(), optimizer=torch.optim.AdamW)
    again = load()
    assert again.placements() == plan.placements() and again.seconds == plan.seconds
    assert load(overlap="none").seconds == pytest.approx(again.report().data["sum_s"]) and again.seconds < again.report().data["sum_s"]
    with pytest.raises(shardwright.InputError):
        shardwright.torch.load(tmp_path / "plan.json", nn.Linear(4, 4), torch.ones(2, 4))


def test_the_model_runs_under_its_plan(planned, tool, tmp_path):
    _, plan = planned
    (tmp_path / "m.json").write_text(plan.model)
    plan.save(tmp_path / "plan.json")
    status, said, errors = tool("run", tmp_path / "m.json", "--plan", tmp_path / "plan.json", "--random-floats", "--outputs-only")
    assert status == 0, said + errors


def test_a_plan_is_told_beside_what_one_would_pick(planned):
    """The library's plan is that of its configuration, where there is one, kept in all uses."""
    model, plan = planned
    compared = plan.compare(axis="x", gap=20, time_limit=5)
    of_library = [row for row in compared.rows if row.name.startswith("TP")]
    assert [row.name for row in compared.rows[:3]] == ["this plan", "DDP", "FSDP2"]
    assert len(of_library) == (2 if isinstance(model, transformers.LlamaForCausalLM) else 0)
    assert not [row for row in compared.rows[1:] if row.fits and row.seconds < 0.8 * compared.rows[0].seconds]
    for row in of_library:
        cut = row.plan.arguments
        assert cut["model.layers.0.mlp.down_proj.weight"] == ("[[y],[x]]" if "FSDP2" in row.name else "[[],[x]]")
        assert cut["model.layers.0.self_attn.q_proj.weight"].startswith("[[x") and cut["input_ids"] == "[[y],[]]"
        assert cut["optimizer.model.layers.0.mlp.down_proj.weight.exp_avg"] == cut["model.layers.0.mlp.down_proj.weight"]
    assert compared["FSDP2"].argument_bytes < compared["DDP"].argument_bytes
    assert "FSDP2" in str(compared) and "<td>DDP</td>" in compared._repr_html_()
    with pytest.raises(shardwright.InputError, match="no axis z"):
        plan.compare(axis="z")


def test_updates_do_not_wait_for_the_last_gradient():
    """An update comes behind its gradient, and before the backward part of the layer below."""
    ops = [op["outputs"][0]["name"] for op in json.loads(shardwright.torch.export(llama(), batch(), optimizer=adamw))["ops"]]
    first = next(i for i, name in enumerate(ops) if name.startswith("addcdiv"))
    assert first < ops.index("model.layers.0.mlp.down_proj.grad.mm") < len(ops) - 1


def test_placements_say_what_shardings_do():
    mesh = shardwright.Mesh(MESH)
    assert placements("w", "[[x],[]]", mesh) == (Shard(0), Replicate())
    assert placements("w", "[[x,y],[]]", mesh) == (Shard(0), Shard(0))
    assert placements("w", "[[],[y,x]]", mesh) == (_StridedShard(1, split_factor=4), Shard(1))
    with pytest.raises(shardwright.InputError, match="^w is "):
        placements("w", "[[y:(1)2],[]]", mesh)


def test_the_command_writes_the_model_of_a_script(tmp_path, tool):
    (tmp_path / "job.py").write_text(
        "import torch\n"
        "def job():\n"
        "    return torch.nn.Linear(8, 8), torch.ones(4, 8), {'loss': torch.mean, 'optimizer': torch.optim.AdamW}\n"
    )
    command = [sys.executable, "-m", "shardwright.torch", "export", f"{tmp_path}/job.py:job", "-o", tmp_path / "m.json"]
    subprocess.run(command, check=True, capture_output=True)
    status, said, _ = tool("plan", tmp_path / "m.json", "--mesh", "x=2")
    assert status == 0 and "predicted time" in said


def test_the_lines_of_the_readme_run(tree, capsys):
    block = (tree / "python/README.md").read_text().split("## PyTorch\n")[1].split("\n\nThe step runs")[0]
    names = {}
    exec(compile("\n".join(line.removeprefix("    ") for line in block.splitlines()), "README.md", "exec"), names)
    said = capsys.readouterr().out
    assert "predicted time" in said and "model.layers" in said and str(names["plan"].placements("lm_head")) in said
