"""The package beside the tool: one library, so the same plans, forms and errors, byte for byte."""

import copy
import inspect
import json
import os
import pickle
import re
import signal
import threading
import time

import pytest

import shardwright
from shardwright import _options

WORK = 200_000_000  # steps of a search: a limit by the clock gives other plans at every run
MODELS = ["docs/examples/mlp.json", "docs/examples/decoder.json", "models/small/gpt2.json", "tests/data/mlp.mlir"]


def planned(model, **options):
    return shardwright.plan(model, hw="dgx-h100", mesh="x=2,y=4", work_limit=WORK, **options)


def by_tool(tool, model, *words):
    return tool("plan", model, "--hw", "dgx-h100", "--mesh", "x=2,y=4", "--work-limit", WORK, *words)


def without_times(text):
    told = json.loads(text)
    for part in (told, told.get("search", {})):
        part.pop("time_s", None)
    return told


@pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")
@pytest.mark.parametrize("model", MODELS)
def test_plans_are_those_of_the_tool(model, tool, tree, tmp_path):
    for even in ("never", "always"):
        status, said, _ = by_tool(tool, tree / model, "--even", even, "--json", "-o", tmp_path / "plan.json")
        assert status == 0
        plan = planned(tree / model, even=even)
        plan.save(tmp_path / "ours.json")
        assert without_times((tmp_path / "ours.json").read_text()) == without_times((tmp_path / "plan.json").read_text())
        assert without_times(json.dumps(plan.report().data)) == without_times(said)
        again = shardwright.load(tmp_path / "plan.json", tree / model)
        assert again.arguments == plan.arguments and again.seconds == pytest.approx(plan.seconds)
        again.save(tmp_path / "again.json")
        assert again.report().data["origin"] == "search"


@pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")
@pytest.mark.parametrize("kind", ["sdy", "sdy-ops", "hlo", "shard", "spmd", "spmd-stablehlo", "spmd-sdy", "jax", "dtensor"])
def test_forms_are_those_of_the_tool(kind, tool, tree, tmp_path):
    model = tree / "tests/data/mlp.mlir"
    form, dialect = ("spmd", kind[5:]) if kind.startswith("spmd-") else (kind, "")
    more = ["--dialect", dialect] if dialect else []
    assert by_tool(tool, model, "--even", "always", f"--emit={form}={tmp_path / 'form'}", *more)[0] == 0
    assert planned(model, even="always").emit(kind) == (tmp_path / "form").read_text()


def test_pins_and_questions(tool, tree):
    model = tree / "models/small/gpt2.json"
    name = next(iter(planned(model).arguments))
    rank = next(a for a in planned(model).report().data["arguments"] if a["name"] == name)["shape"]
    pins = {name: [None] * len(rank)}
    spelled = f"{name}=[{','.join(['[]'] * len(rank))}]"
    plan = planned(model, pins=pins)
    assert set(plan.arguments[name]) <= set("[],")
    _, said, _ = by_tool(tool, model, "--pin", spelled, "--json")
    assert plan.seconds == json.loads(said)["total_s"]
    free = planned(model)
    answer = free.what_if(pins)
    status, said, _ = by_tool(tool, model, "--quiet", "--json", "--what-if", spelled)
    told = json.loads(said.splitlines()[-1])
    assert status == 0 and answer.made and answer.data["total_s"] == told["total_s"]
    assert answer.change == pytest.approx(told["change"])


def test_explain(tool, tree, tmp_path):
    model = tree / "models/small/gpt2.json"
    plan = planned(model)
    plan.save(tmp_path / "plan.json")
    name = next(iter(plan.arguments))

    def told(*words):
        status, out, _ = tool("explain", model, "--plan", tmp_path / "plan.json", "--alone", "--json", *words)
        assert status == 0
        return json.loads(out)

    said = plan.explain(name, alone=True)
    assert said.startswith("gpt2 on dgx-h100, mesh x=2,y=4; compiler inductor, f32\n\n" + name) and plan.arguments[name] in said
    assert said.data == told(name)
    assert plan.explain(top=3, peak=True).data == told("--top", "3", "--peak")
    options = plan.explain(name).data["explained"][0]["options"]
    asked = [o for o in options if "anew" in o]
    assert asked
    for option in asked:
        assert option["anew"]["total_s"] == plan.what_if(f"{name}={option['sharding']}").data["total_s"]


def test_baselines(tool, tree):
    problem = shardwright.Problem(tree / "models/small/gpt2.json", hw="dgx-h100", mesh={"x": 2, "y": 4})
    for rule in ("replicated", "data-parallel", "megatron", "fsdp"):
        _, said, _ = by_tool(tool, tree / "models/small/gpt2.json", "--baseline", rule, "--json")
        assert problem.baseline(rule).seconds == json.loads(said)["total_s"]
    with pytest.raises(ValueError, match="not searched for"):
        problem.baseline("fsdp").what_if("wte=[[],[]]")
    with pytest.raises(ValueError, match="there is no rule 'gpipe'"):
        problem.baseline("gpipe")


WRONG = {
    "bad.json": '{"format": "shardwright-model", "version": 1,\n "values": [{"name": "x", "shape": [2, "a b"]}]}',
    "cut.json": '{"format": "shardwright-model",\n "version": 1, "x"',
    "bad.mlir": "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %a, %b : tensor<4xf32>\n"
    "  %1 = stablehlo.tanh %c : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n",
}


@pytest.mark.parametrize("name", WRONG)
def test_errors_are_those_of_the_tool(name, tool, tmp_path):
    path = tmp_path / name
    path.write_text(WRONG[name])
    status, _, said = by_tool(tool, path)
    assert status == 1
    with pytest.raises(shardwright.InputError) as caught:
        planned(path)
    assert str(caught.value) == said.rstrip("\n")
    assert caught.value.file == str(path) and caught.value.line > 0 and caught.value.column > 0
    assert isinstance(caught.value, ValueError)


def test_other_errors(tree):
    model = tree / "docs/examples/mlp.json"
    with pytest.raises(shardwright.InputError, match="no hardware profile 'nothing'"):
        shardwright.plan(model, hw="nothing")
    with pytest.raises(shardwright.InputError, match="axis 'q' is not in the mesh"):
        planned(model, pins={"w1": "[[],[q]]"})
    with pytest.raises(shardwright.InfeasibleError, match="required sharding of 'w1'"):
        planned(model, pins=["w1=[[],[x]]", "w1=[[x],[]]"])
    with pytest.raises(shardwright.InfeasibleError, match="no plan fits into 100 B"):
        planned(model, memory="100B")
    with pytest.raises(shardwright.UsageError, match="expected a model in MLIR"):
        planned(model).emit("sdy")
    with pytest.raises(shardwright.Error, match="there is no form 'hdf5'"):
        planned(model).emit("hdf5")
    with pytest.raises(ValueError, match="expected 'always', 'arguments' or 'never'"):
        planned(model, even="odd")
    with pytest.raises(FileNotFoundError):
        planned("nowhere.mlir")
    with pytest.raises(KeyError):
        planned(model).explain("nothing")


def test_unknown_options_are_told_with_those_like_them(tree):
    model = tree / "docs/examples/mlp.json"
    with pytest.raises(TypeError, match=r"plan\(\) has no option 'tiem_limit'; did you mean 'time_limit'"):
        shardwright.plan(model, tiem_limit=3)
    with pytest.raises(TypeError, match=r"plan\(\) has no option 'zzz'; expected one of hw, mesh, compiler, "):
        shardwright.plan(model, zzz=3)
    with pytest.raises(TypeError, match=r"load\(\) has no option 'compilers'; did you mean 'compiler'"):
        shardwright.load("plan.json", model, compilers="xla")
    with pytest.raises(TypeError):
        shardwright.load("plan.json", model, gap=1)


def keywords(call):
    return {p.name: p.annotation for p in inspect.signature(call).parameters.values() if p.kind is p.KEYWORD_ONLY}


def test_options_are_listed_where_they_are_handed_on():
    reading, search = keywords(shardwright.Problem), keywords(shardwright.Problem.plan)
    assert {"hw": keywords(shardwright.plan)["hw"], "mesh": "Any", **reading, **search} == keywords(shardwright.plan)
    assert inspect.signature(shardwright.plan).parameters["gap"].default == 0.1
    for options, taken in ((_options.ReadingOptions, reading), (_options.PlanOptions, {**reading, **search})):
        for name, said in options.__annotations__.items():
            assert said.__forward_arg__ == taken[name]


def test_limits_are_in_the_units_of_the_tool(tool, tree, tmp_path):
    model = tree / "models/small/gpt2.json"
    for limits in ({"gap": 20, "simplicity": 15}, {"gap": 0, "simplicity": 0}):
        words = [word for name, value in limits.items() for word in (f"--{name}", value)]
        assert by_tool(tool, model, *words, "--quiet", "-o", tmp_path / "plan.json")[0] == 0
        planned(model, **limits).save(tmp_path / "ours.json")
        assert without_times((tmp_path / "ours.json").read_text()) == without_times((tmp_path / "plan.json").read_text())


def public(module):
    """What a module says is public, and public members of its classes."""
    for name in module.__all__:
        value = getattr(module, name)
        yield name, value
        if isinstance(value, type):
            yield from ((f"{name}.{n}", v) for n, v in vars(value).items() if not n.startswith("_") and callable(v))
            yield from ((f"{name}.{n}", v) for n, v in vars(value).items() if isinstance(v, property))


def test_what_is_public_is_explained():
    told = dict(public(shardwright))
    assert "Plan.what_if" in told and "Plan.memory_bytes" in told
    assert [name for name, value in told.items() if name != "__version__" and not inspect.getdoc(value)] == []


@pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")
@pytest.mark.parametrize("model", ["models/small/gpt2.json", "tests/data/mlp.mlir"])
def test_plans_come_back_from_a_pickle(model, tree):
    plan = planned(tree / model, even="always", roles={"*w*": "parameter"} if model.endswith("mlir") else None)
    again = pickle.loads(pickle.dumps(plan))
    assert again.arguments == plan.arguments and again.report().data == plan.report().data
    assert str(again) == str(plan) and again.report().table(full=True) == plan.report().table(full=True)
    assert again.report().html == plan.report().html and again.emit("shard") == plan.emit("shard")
    assert again.problem.plan(work_limit=WORK, even="always").arguments == plan.arguments
    assert pickle.loads(pickle.dumps(again)).bound_seconds == plan.bound_seconds
    name = next(iter(plan.arguments))
    assert pickle.loads(pickle.dumps(plan.explain(name))).data == plan.explain(name).data
    with pytest.raises(ValueError, match="not searched for"):
        again.what_if({name: plan.arguments[name]})
    for copied in (copy.copy(plan), copy.deepcopy(plan)):
        assert copied.what_if({name: plan.arguments[name]}).made


def test_machines_meshes_and_reports_come_back_from_a_pickle(tree):
    machine = shardwright.Machine("h100", changes=["device.memory.bytes_per_s*=0.5"], devices=64)
    report = planned(tree / "docs/examples/mlp.json").report()
    for value, told in ((machine, vars), (shardwright.Mesh("x=2,y=4"), str), (report, lambda r: (r.data, str(r), r.html))):
        for again in (pickle.loads(pickle.dumps(value)), copy.copy(value), copy.deepcopy(value)):
            assert told(again) == told(value)
    with pytest.raises(shardwright.InputError) as caught:
        shardwright.Mesh("x=2,x=4")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is shardwright.InputError and str(again) == str(caught.value) and again.reason == caught.value.reason


def test_texts_are_models(tree):
    text = (tree / "docs/examples/mlp.json").read_text()
    assert planned(text).arguments == planned(tree / "docs/examples/mlp.json").arguments


def test_machines_and_meshes():
    machine = shardwright.Machine("dgx-h100")
    assert machine.devices == 8 and shardwright.Mesh("x=8") in machine.meshes
    slow = shardwright.Machine(machine, changes=["device.memory.bytes_per_s*=0.5"])
    assert slow.name != machine.name
    mesh = shardwright.Mesh({"x": 2, "y": 4})
    assert str(mesh) == "x=2,y=4" and mesh.size == 8 and mesh == shardwright.Mesh("x=2,y=4")
    assert list(shardwright.Mesh((2, 4)).axes.values()) == [2, 4]
    with pytest.raises(shardwright.InputError, match="twice"):
        shardwright.Mesh("x=2,x=4")
    assert "dgx-h100" in shardwright.profiles()


def test_reports(tree, tmp_path):
    report = planned(tree / "docs/examples/mlp.json").report()
    assert str(report).splitlines()[0].split(maxsplit=1) == ["plan", report.data["in_words"]]
    assert "predicted time" in str(report) and report.data["format"] == "shardwright-report"
    assert report.data["in_words"] in repr(report) and re.search(r"; [\d.]+ [mu]?s, [\d.]+ KiB a device, gap [\d.]+ %>$", repr(report))
    assert report._repr_html_().startswith("<iframe srcdoc=") and "<script" not in report._repr_html_()
    report.save(tmp_path / "page.html")
    report.save(tmp_path / "page.json")
    assert "<script" in (tmp_path / "page.html").read_text()
    assert json.loads((tmp_path / "page.json").read_text()) == report.data


def interrupt_after(seconds):
    threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT)).start()


def test_interrupted_search_gives_its_best_plan(tree):
    model = tree / "models/gpt2-small-train.json"
    interrupt_after(2)
    begun = time.monotonic()
    plan = shardwright.plan(model, hw="dgx-h100", mesh="x=2,y=4", gap=0, time_limit=0)
    assert plan.interrupted and time.monotonic() - begun < 60
    assert plan.seconds < shardwright.Problem(model, hw="dgx-h100", mesh="x=2,y=4").baseline("replicated").seconds


def test_other_threads_run_meanwhile(tree):
    counted, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            counted[0] += 1
            time.sleep(0.001)

    threading.Thread(target=count, daemon=True).start()
    shardwright.Problem(tree / "models/gpt2-small-train.json", hw="dgx-h100", mesh="x=2,y=4").plan(time_limit=2, gap=0)
    stop.set()
    assert counted[0] > 20


def test_several_threads_plan_at_once(tree):
    model, plans = tree / "models/small/gpt2.json", []
    threads = [threading.Thread(target=lambda: plans.append(planned(model))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({json.dumps(p.arguments) for p in plans}) == 1 and len(plans) == 4


LOOP = """func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %n: tensor<i32>) -> tensor<64x64xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %y = %x) : tensor<i32>, tensor<64x64xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %c1 : tensor<i32>
    %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] :
      (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    stablehlo.return %j, %z : tensor<i32>, tensor<64x64xf32>
  }
  return %0#1 : tensor<64x64xf32>
}
"""


@pytest.mark.filterwarnings("ignore:.*guessed from their uses:shardwright.ModelWarning")
def test_trips_of_loops_are_said_or_warned_of(tmp_path):
    said = {"hw": "local", "mesh": "x=2", "compiler": "none"}
    with pytest.warns(shardwright.ModelWarning, match=r"priced as one: 0\.0\.while"):
        once = shardwright.plan(LOOP, **said)
    often = shardwright.plan(LOOP, trips={"0.0.while": 1000}, **said)
    assert often.seconds == pytest.approx(1000 * once.seconds)
    often.save(tmp_path / "plan.json")
    assert shardwright.load(tmp_path / "plan.json", LOOP).seconds == pytest.approx(often.seconds)
    assert shardwright.plan(LOOP, start=tmp_path / "plan.json", **said).seconds == pytest.approx(often.seconds)
    with pytest.raises(shardwright.Error, match=r"expected one of: 0\.0\.while"):
        shardwright.plan(LOOP, trips={"loop": 3}, **said)
