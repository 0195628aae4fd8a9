"""Functions of JAX under their plans, on eight devices of this host, beside the same functions on one."""

import functools
import importlib
import inspect
import json
import pathlib
import pickle
import re
import subprocess
import sys

import equinox as eqx
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.ad_checkpoint import checkpoint_name, print_saved_residuals
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import shardwright
import shardwright.jax
from shardwright import _hlo
from shardwright._hlo import compiled_collectives

pytestmark = pytest.mark.filterwarnings("ignore::shardwright.ModelWarning", "ignore:Some donated buffers")
MESH = {"x": 2, "y": 4}


def planned(step, *args, mesh=MESH, **options):
    """Cut as far as possible: otherwise such small steps are best repeated on all devices."""
    options = {"hw": "local", "compiler": "xla-cpu", "cut_heavy_ops": True, "work_limit": 300_000_000, **options}
    return shardwright.jax.plan(step, *args, mesh=mesh, **options)


def numbers(leaf):
    return np.asarray(jax.random.key_data(leaf) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf)


def assert_same(got, want, allowed=1e-4):
    """Within a part of the largest element."""
    got, want = jax.tree.leaves(got), jax.tree.leaves(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        if not hasattr(b, "dtype"):
            assert a == b or callable(b)
            continue
        a, b = numbers(a), numbers(b)
        assert a.shape == b.shape and a.dtype == b.dtype
        a, b = a.astype(np.float64), b.astype(np.float64)
        assert np.max(np.abs(a - b), initial=0) <= allowed * max(np.max(np.abs(b), initial=0), 1e-30)


def is_cut(specs):
    return any(axis for spec in jax.tree.leaves(specs, is_leaf=lambda s: isinstance(s, P)) for axis in spec)


def random(*shape, seed=0, dtype=jnp.float32):
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape) / 8, dtype)


def mlp():
    return {"w1": random(64, 256, seed=1), "w2": random(256, 64, seed=2)}, random(32, 64, seed=3)


def mlp_step(params, x):
    def loss(p):
        return jnp.mean((jnp.tanh(x @ p["w1"]) @ p["w2"] - x) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def test_a_training_step():
    params, x = mlp()
    want = jax.jit(mlp_step)(params, x)
    plan = planned(mlp_step, params, x, donate_argnums=0)
    assert is_cut(plan.in_specs) and jax.tree.structure(plan.in_shardings) == jax.tree.structure((params, x))
    assert list(plan.arguments) == ["params['w1']", "params['w2']", "x"]
    kinds = {a["name"]: a["kind"] for a in plan.report().data["arguments"]}
    assert kinds["params['w1']"] == kinds["params['w2']"] == "state"  # as they are donated
    placed = plan.shard((params, x))
    fast = plan.jit()
    got = fast(*placed)
    assert_same(got, want)
    assert all(leaf.is_deleted() for leaf in jax.tree.leaves(placed[0])) and not placed[1].is_deleted()
    for leaf, spec in zip(jax.tree.leaves(got), jax.tree.leaves(plan.out_specs, is_leaf=lambda s: isinstance(s, P))):
        assert leaf.sharding.is_equivalent_to(NamedSharding(plan.jax_mesh, spec), leaf.ndim)
    assert_same(fast(*plan.shard((got[0], x))), jax.jit(mlp_step)(*want[:1], x))


def test_every_sharding_is_in_force():
    """Constraints on values in between, which specs of arguments and results do not say, are in what XLA is given."""
    params, x = mlp()
    plan = planned(mlp_step, params, x)
    lowered = plan.jit().lower(*plan.shard((params, x))).as_text()
    said = plan.program.count("sdy.sharding_constraint")
    assert said > 5 and lowered.count("sdy.sharding_constraint") >= said


def test_shapes_will_do():
    params, x = jax.eval_shape(lambda: mlp())
    plan = planned(mlp_step, params, x, mesh={"x": 4, "y": 64}, hw="h100", devices=256)
    assert plan.mesh.size == 256
    with pytest.raises(ValueError, match="the plan is for 256 devices; this process has 8"):
        plan.jit()


def test_pins_by_name():
    params, x = mlp()
    plan = planned(mlp_step, params, x, pins={"params['w1']": P(None, "y"), "x": [None, None]})
    assert plan.in_specs == ({"w1": P(None, "y"), "w2": plan.in_specs[0]["w2"]}, P(None, None))
    assert_same(plan.jit()(*plan.shard((params, x))), jax.jit(mlp_step)(params, x))
    with pytest.raises(shardwright.InputError, match="axis 'z' is not in the mesh"):
        planned(mlp_step, params, x, pins={"x": P("z")})
    with pytest.raises(shardwright.UsageError, match="params"):
        planned(mlp_step, params, x, pins={"params['w3']": P()})


def test_a_shape_that_says_a_sharding_requires_it():
    params, x = mlp()
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(mesh, P("x", None)))
    plan = planned(mlp_step, params, shape, mesh=mesh)
    assert plan.in_specs[1] == P("x", None)
    assert_same(plan.jit()(*plan.shard((params, x))), jax.jit(mlp_step)(params, x))
    placed = jax.device_put(x, NamedSharding(mesh, P("y", None)))  # that of an array is by chance
    assert planned(mlp_step, params, placed, mesh=mesh).arguments == planned(mlp_step, params, x, mesh=mesh).arguments


def without_places(text):
    return re.sub(r"^#loc.*\n| loc\(.*?\)(?=$|,|\)| [{:])", "", text, flags=re.M)


def test_saved_and_loaded(tmp_path):
    params, x = mlp()
    plan = planned(mlp_step, params, x, donate_argnums=0)
    plan.save(tmp_path / "plan.json")
    again = shardwright.jax.load(tmp_path / "plan.json", mlp_step, params, x, donate_argnums=0)
    assert again.in_specs == plan.in_specs and again.out_specs == plan.out_specs
    assert without_places(again.program) == without_places(plan.program)
    with pytest.raises(shardwright.InputError, match="hash"):
        shardwright.jax.load(tmp_path / "plan.json", lambda p, x: mlp_step(p, x * 2), params, x, donate_argnums=0)


def keyed_step(rate, params, key, x):
    keep = jax.random.bernoulli(key, 1 - rate, x.shape)
    return mlp_step(params, x * keep)


def test_comes_back_from_a_pickle(tmp_path):
    params, x = mlp()
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4)[::-1], ("x", "y"))
    shape = jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=NamedSharding(mesh, P("x", None)))
    args = 0.25, params, jax.random.key(3), x
    plan = planned(keyed_step, *args[:3], shape, mesh=mesh, static_argnums=0, donate_argnums=1)
    again = pickle.loads(pickle.dumps(plan))
    assert again.in_shardings == plan.in_shardings and again.out_specs == plan.out_specs
    assert again.report().data == plan.report().data and again.in_specs[2] == P("x", None)
    assert without_places(again.program) == without_places(plan.program)
    assert_same(again.jit()(*again.shard(args)), keyed_step(*args))
    (tmp_path / "plan").write_bytes(pickle.dumps(planned(mlp_step, params, x)))
    code = "import sys, pickle; p = pickle.load(open(sys.argv[1], 'rb')); print(p.mesh, p.jax_mesh.size)"
    command = [sys.executable, "-B", "-c", f"import conftest; {code}", tmp_path / "plan"]
    done = subprocess.run(command, cwd=pathlib.Path(__file__).parent, capture_output=True, text=True)
    assert done.stdout == "x=2,y=4 8\n", done.stderr


scaled = functools.partial(keyed_step, 0.25)


@jax.jit
def compiled_step(params, x):
    return mlp_step(params, x)


def test_partial_and_compiled_functions_come_back_too():
    params, x = mlp()
    for step, args in ((scaled, (params, jax.random.key(3), x)), (compiled_step, (params, x))):
        again = pickle.loads(pickle.dumps(planned(step, *args)))
        assert_same(again.jit()(*again.shard(args)), step(*args))


def test_what_cannot_be_pickled_is_told(monkeypatch):
    params, x = mlp()
    with pytest.raises(TypeError, match="what was planned cannot be pickled .*expected a function of a module"):
        pickle.dumps(planned(lambda p, x: mlp_step(p, x), params, x))
    kept = pickle.dumps(planned(mlp_step, params, x))
    monkeypatch.setattr(sys.modules[__name__], "mlp_step", lambda p, x: (p, jnp.sum(x)))
    with pytest.raises(shardwright.InputError, match="hash"):
        pickle.loads(kept)


def test_unknown_options_are_told(tmp_path):
    params, x = mlp()
    with pytest.raises(TypeError, match=r"plan\(\) has no option 'donate_argnum'; did you mean 'donate_argnums'"):
        shardwright.jax.plan(mlp_step, params, x, donate_argnum=0)
    with pytest.raises(TypeError, match=r"plan\(\) has no option 'even'"):  # XLA's cuts are
        shardwright.jax.plan(mlp_step, params, x, even="never")
    with pytest.raises(TypeError, match=r"load\(\) has no option 'trip'; did you mean 'trips'"):
        shardwright.jax.load(tmp_path / "plan.json", mlp_step, params, x, trip={})
    assert "time_limit" in inspect.signature(shardwright.jax.plan).parameters


def test_what_is_public_is_explained():
    for value in (shardwright.jax.plan, shardwright.jax.load, *vars(shardwright.jax.Plan).items(), *vars(_hlo.Check).items()):
        name, value = value if isinstance(value, tuple) else (value.__name__, value)
        if not name.startswith("_") and (callable(value) or isinstance(value, (property, functools.cached_property))):
            assert inspect.getdoc(value), name


def test_every_door_prices_as_the_same_compiler(tool, tmp_path):
    params, x = mlp()
    lowered = jax.jit(mlp_step, donate_argnums=0).lower(params, x)
    text, saved = tmp_path / "step.mlir", tmp_path / "plan.json"
    text.write_text(lowered.as_text(debug_info=True))
    of_step = functools.partial(shardwright.jax.plan, mlp_step, params, x, mesh=MESH, donate_argnums=0)
    of_text = functools.partial(shardwright.plan, lowered, mesh=MESH, even="always")
    words = ["plan", text, "--mesh", "x=2,y=4", "--even", "always", "--json"]
    for hw, compiler in (("dgx-h100", "xla"), ("local", "none")):
        told = [of_step(hw=hw).report().data, of_text(hw=hw).report().data, json.loads(tool(*words, "--hw", hw)[1])]
        assert [t["compiler"] for t in told] == [compiler] * 3
        assert len({t["total_s"] for t in told}) == 1
        assert ["timeline" in t for t in told] == [hw != "local"] * 3
    assert of_step(compiler="eager").report().data["compiler"] == "eager"
    for made, overlap in (("eager", None), ("eager", "none"), ("none", None)):  # as what is read was priced
        of_step(compiler=made, overlap=overlap).save(saved)
        loaded = shardwright.jax.load(saved, mlp_step, params, x, donate_argnums=0)
        for plan in (loaded, of_step(start=saved), of_text(start=saved), shardwright.load(saved, lowered)):
            assert plan.report().data["compiler"] == made
            assert ("timeline" in plan.report().data) == (made == "eager" and overlap is None)


def layer(x, w):
    a = jax.nn.softmax((x @ w["q"]) @ jnp.swapaxes(x @ w["k"], -1, -2) / 4, -1) @ (x @ w["v"])
    return x + jax.nn.gelu((x + a) @ w["up"]) @ w["down"], None


def test_scan_remat_bf16_and_adam():
    width, hidden, layers = 32, 128, 4
    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "up": (width, hidden), "down": (hidden, width)}
    params = {k: random(layers, *s, seed=i) for i, (k, s) in enumerate(shapes.items())}
    x = random(8, 16, width, seed=9)
    optimizer = optax.adamw(1e-3)

    def step(params, state, x):
        def loss(p):
            p = jax.tree.map(lambda w: w.astype(jnp.bfloat16), p)
            y, _ = jax.lax.scan(jax.checkpoint(layer), x.astype(jnp.bfloat16), p)
            return jnp.mean((y.astype(jnp.float32) - x) ** 2)

        value, grads = jax.value_and_grad(loss)(params)
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state, value

    state = optimizer.init(params)
    want = jax.jit(step)(params, state, x)
    plan = planned(step, params, state, x, donate_argnums=(0, 1))
    assert is_cut(plan.in_specs)
    got = plan.jit()(*plan.shard((params, state, x)))
    assert_same(got[2], want[2], 0.05)
    assert_same(got[0], want[0], 0.05)
    assert jax.tree.structure(got) == jax.tree.structure(want)


def test_flax():
    model = nn.Sequential([nn.Dense(128), nn.relu, nn.LayerNorm(), nn.Dense(16)])
    x = random(32, 64)
    variables = model.init(jax.random.key(0), x)

    def loss(variables, x):
        return jnp.mean(model.apply(variables, x) ** 2)

    plan = planned(jax.value_and_grad(loss), variables, x)
    assert_same(plan.jit()(*plan.shard((variables, x))), jax.value_and_grad(loss)(variables, x))


def test_equinox_modules_have_leaves_that_are_no_arrays():
    model = eqx.nn.MLP(64, 64, 128, 2, key=jax.random.key(0))
    x = random(32, 64)

    def step(model, x):
        value, grads = eqx.filter_value_and_grad(lambda m: jnp.mean(jax.vmap(m)(x) ** 2))(model)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), value

    want = eqx.filter_jit(step)(model, x)
    plan = planned(step, model, x, donate_argnums=0)
    assert "model.layers[0].weight" in plan.arguments
    got = plan.jit()(*plan.shard((model, x)))
    assert_same(got, want)
    assert jax.tree.structure(got) == jax.tree.structure(want)
    assert plan.check().rows


def test_keys_custom_gradients_and_static_arguments():
    @jax.custom_vjp
    def clipped(x):
        return x * 2

    clipped.defvjp(lambda x: (x * 2, x), lambda x, g: (jnp.clip(g, -1e-3, 1e-3),))

    def step(rate, w, key, x, scale=1.0):
        key, use = jax.random.split(key)
        keep = jax.random.bernoulli(use, 1 - rate, x.shape)
        grad = jax.grad(lambda w: jnp.sum(clipped((x * keep) @ w)))(w)
        return key, w - scale * grad

    w, key, x = random(64, 128), jax.random.key(7), random(32, 64, seed=1)
    plan = planned(step, 0.5, w, key, x, 3.0, static_argnums=0)
    assert list(plan.arguments) == ["w", "key", "x", "scale"]
    fast = plan.jit()
    assert_same(fast(*plan.shard((0.5, w, key, x, 3.0))), jax.jit(step, static_argnums=0)(0.5, w, key, x, 3.0))
    with pytest.raises(ValueError, match="static argument 0 is 0.25; the plan is for 0.5"):
        fast(0.25, w, key, x, 3.0)
    with pytest.raises(TypeError, match="the plan is for 5 arguments; got 4"):
        fast(0.5, w, key, x)


def test_gradients_through_a_plan():
    def loss(params, key, n, x):
        keep = jax.random.bernoulli(key, 0.5, x.shape)
        y = jnp.tanh((x * keep) @ params["w1"]) @ params["w2"]
        return (y * y).sum() * n, y

    params, x = mlp()
    rest = jax.random.key(1), jnp.int32(3), x
    pins = {"params['w1']": P(None, "y"), "params['w2']": P("y", None), "x": P("x", None)}
    fast = planned(loss, params, *rest, pins=pins).jit()
    by_plan = jax.jit(jax.value_and_grad(fast, has_aux=True))
    with pytest.warns(shardwright.ModelWarning, match="right but not planned"):
        got = by_plan(params, *rest)
    assert_same(got, jax.value_and_grad(loss, has_aux=True)(params, *rest))
    gathered = compiled_collectives(by_plan.lower(params, *rest).compile().as_text()).get("all-gather", (0, 0))[1]
    assert gathered < params["w1"].nbytes / 4  # results and inputs, and no parameter
    out, back = jax.vjp(fast, params, *rest)
    assert_same(back(out)[0], jax.vjp(loss, params, *rest)[1](out)[0])
    with pytest.raises(TypeError, match="jvp"):
        jax.jvp(fast, (params, *rest), (params, *rest))
    with pytest.raises(NotImplementedError):
        jax.vmap(fast, (None, None, None, 0))(params, *rest[:2], x[None])


def test_callbacks_do_not_run_under_a_plan():
    def step(w):
        jax.debug.print("sum {}", w.sum())
        return (w * w).sum()

    with pytest.raises(NotImplementedError, match="calls back into Python"):
        planned(step, random(64, 64)).jit()


def test_shard_map_inside():
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    shard_map = getattr(jax, "shard_map", None)
    if shard_map is None:
        pytest.skip("no jax.shard_map here")

    @functools.partial(shard_map, mesh=mesh, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))
    def product(x, w):
        return jax.lax.psum(x @ w, "y")

    def step(x, w1, w2):
        return jnp.tanh(product(x, w1)) @ w2

    args = random(32, 64), random(64, 128, seed=1), random(128, 64, seed=2)
    plan = planned(step, *args, mesh=mesh)
    assert plan.in_specs[0] == P("x", "y") and plan.in_specs[1][0] == "y"
    assert_same(plan.jit()(*plan.shard(args)), jax.jit(step)(*args))


def test_loops_and_choices():
    def step(x, w, n):
        y = jax.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ w), x)
        return jax.lax.cond(n > 0, lambda y: y * 2, lambda y: y + 1, y)

    args = random(32, 64), random(64, 64, seed=1), jnp.int32(1)
    plan = planned(step, *args)
    assert_same(plan.jit()(*plan.shard(args)), jax.jit(step)(*args))


def dropout_step(params, key, x):
    """What is kept is drawn anew in each step, from a key of the state."""
    key, use = jax.random.split(key)

    def loss(p):
        h = jax.nn.gelu(x @ p["w1"])
        h = jnp.where(jax.random.bernoulli(use, 0.9, h.shape), h / 0.9, 0).astype(h.dtype)
        return jnp.mean((h @ p["w2"] - x).astype(jnp.float32) ** 2)

    return jax.value_and_grad(loss)(params), key


def ranking_step(params, ids, owners, clicked):
    """Rows of a table, added up by who owns them."""

    def loss(p):
        users = jax.ops.segment_sum(p["table"][ids], owners, num_segments=clicked.size)
        return jnp.mean(jax.nn.softplus(jax.nn.relu(users @ p["w1"]) @ p["w2"][:, 0] * clicked))

    return jax.value_and_grad(loss)(params)


def sample_step(params, words, key):
    """A while loop writes one word after another for each of a batch, and each looks at those before."""

    def one(state):
        at, words, states, key, out = state
        states = jax.lax.dynamic_update_slice(states, (params["table"][words] @ params["w1"])[:, None], (0, at, 0))
        near = jnp.where(jnp.arange(states.shape[1]) <= at, jnp.einsum("btd,bd->bt", states, states[:, at]), -1e9)
        x = jnp.einsum("bt,btd->bd", jax.nn.softmax(near), states)
        key, use = jax.random.split(key)
        words = jax.random.categorical(use, 8 * x @ params["w2"])
        return at + 1, words, states, key, jax.lax.dynamic_update_slice(out, words[:, None], (0, at))

    batch, most = words.size, 8
    states, out = jnp.zeros((batch, most, params["w1"].shape[1])), jnp.zeros((batch, most), jnp.int32)
    go_on = lambda s: (s[0] < most) & ~jnp.all(s[1] == 0)
    return jax.lax.while_loop(go_on, one, (0, words, states, key, out))[3:]


def ranking_arguments():
    params = {"table": random(1024, 32), "w1": random(32, 64, seed=1), "w2": random(64, 1, seed=2)}
    draw = np.random.default_rng(3)
    return params, draw.integers(0, 1024, 512), np.repeat(np.arange(64), 8), draw.choice([-1.0, 1.0], 64).astype("f4")


def sample_arguments():
    params = {"table": 8 * random(256, 32), "w1": random(32, 64, seed=1), "w2": random(64, 256, seed=2)}
    return params, np.arange(16) + 1, jax.random.key(5)


def dropout_arguments():
    w1, w2, x = (random(*s, seed=i, dtype=jnp.bfloat16) for i, s in enumerate([(64, 256), (256, 64), (128, 64)]))
    return {"w1": w1, "w2": w2}, jax.random.key(7), x


@pytest.mark.parametrize(
    "step, arguments, allowed",
    [(dropout_step, dropout_arguments, 0.02), (ranking_step, ranking_arguments, 1e-4), (sample_step, sample_arguments, 0)],
)
def test_what_is_drawn_and_looked_up(step, arguments, allowed):
    args = arguments()
    plan = planned(step, *args)
    assert is_cut(plan.in_specs)
    assert_same(plan.jit()(*plan.shard(args)), jax.jit(step)(*args), allowed)


def test_lines_of_the_source_come_along():
    params, x = mlp()
    sources = [op.get("source", "") for op in planned(mlp_step, params, x).report().data["ops_in_order"]]
    lines = pathlib.Path(__file__).read_text().splitlines()
    line = next(i for i, text in enumerate(lines, 1) if "jnp.tanh(x @ p" in text)
    assert any(f"test_jax.py:{line}:" in source for source in sources)


# --- what XLA compiled --------------------------------------------------------------------------------------------------

HLO = """
HloModule m

%body (p: (s32[], f32[8,16])) -> (s32[], f32[8,16]) {
  %g = f32[8,16]{1,0} all-gather(f32[2,16]{1,0} %s), channel_id=1, replica_groups={{0,1,2,3},{4,5,6,7}}, dimensions={0}
  ROOT %t = (s32[], f32[8,16]) tuple(%i, %g)
}

ENTRY %main (a: f32[8,16]) -> f32[8,16] {
  %r = (f32[4]{0}, bf16[8]{0}) all-reduce(%a, %b), replica_groups=[4,2]<=[8], to_apply=%add
  %w = (s32[], f32[8,16]) while(%init), condition=%cond, body=%body, backend_config={"known_trip_count":{"n":"5"}}
  %c = f32[10]{0} collective-permute(%z), source_target_pairs={{0,1},{1,0}}
  ROOT %x = f32[2]{0} reduce-scatter(%y), replica_groups={{0,1,2,3,4,5,6,7}}, dimensions={0}
}
"""


def test_collectives_of_a_text():
    assert compiled_collectives(HLO) == {
        "all-gather": (5, 5 * 8 * 16 * 4 * 3 / 4),
        "all-reduce": (1, 2 * (4 * 4 + 8 * 2) / 2),
        "collective-permute": (1, 40.0),
        "reduce-scatter": (1, 2 * 4 * 7.0),
    }


def test_what_was_compiled_is_what_was_planned():
    x, w1, w2 = random(64, 64), random(64, 256, seed=1), random(256, 64, seed=2)
    pins = {"x": P("x", None), "w1": P(None, "y"), "w2": P("y", None)}
    plan = planned(lambda x, w1, w2: jnp.tanh(x @ w1) @ w2, x, w1, w2, pins=pins)
    check = plan.check()
    assert all(row.agrees for row in check.rows if row.unit.startswith("bytes received"))
    assert check.row("work of a device").agrees
    assert check.row("memory of a device").compiled > 0
    assert "predicted" in str(check)


def cnn_step(state, x, y):
    """Convolutions with batch norm, whose averages are state."""
    def normed(h, p, seen):
        mean, var = h.mean((0, 1, 2)), h.var((0, 1, 2))
        seen = {"mean": 0.9 * seen["mean"] + 0.1 * mean, "var": 0.9 * seen["var"] + 0.1 * var}
        return (h - mean) * jax.lax.rsqrt(var + 1e-5) * p["scale"] + p["shift"], seen

    def loss(params):
        h, stats = x, []
        for p, seen in zip(params["layers"], state[1]):
            h = jax.lax.conv_general_dilated(
                h, p["w"], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), precision="highest"
            )
            h, seen = normed(h, p, seen)
            h, stats = jax.nn.relu(h), [*stats, seen]
        logits = h.mean((1, 2)) @ params["out"]
        return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), stats

    (value, stats), grads = jax.value_and_grad(loss, has_aux=True)(state[0])
    return (jax.tree.map(lambda p, g: p - 0.1 * g, state[0], grads), stats), value


def cnn():
    channels = [3, 32, 64]
    layers = [
        {"w": random(3, 3, i, o, seed=o), "scale": jnp.ones(o), "shift": jnp.zeros(o)}
        for i, o in zip(channels, channels[1:])
    ]
    stats = [{"mean": jnp.zeros(o), "var": jnp.ones(o)} for o in channels[1:]]
    images = random(32, 16, 16, 3), jnp.arange(32) % 10
    return ({"layers": layers, "out": random(64, 10)}, stats), *images


def decoder_step(params, x):
    def loss(p):
        y, _ = jax.lax.scan(jax.checkpoint(layer), x, p)
        return jnp.mean((y - x) ** 2)

    value, grads = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value


def decoder(width=64, hidden=128, layers=3):
    shapes = {"q": (width, width), "k": (width, width), "v": (width, width), "up": (width, hidden), "down": (hidden, width)}
    return {k: random(layers, *s, seed=i) for i, (k, s) in enumerate(shapes.items())}, random(16, 16, width, seed=9)


@pytest.mark.parametrize(
    "step, args, pins, work, off",
    [
        (cnn_step, cnn, {"state[0]['layers'][1]['w']": P(None, None, None, ("x", "y")), "x": P(("x", "y"))},
         "work of a device", {"memory of a device", "work of a device"}),
        (decoder_step, decoder, {"params['up']": P(None, None, ("x", "y")), "x": P(("x", "y"))},
         "work of a device, loops once", {"memory of a device"}),
    ],
)
def test_a_check_says_what_is_true(step, args, pins, work, off):
    """XLA on CPUs has no reduce-scatter, and tells the work of a loop's body once: neither is a difference."""
    args = args()
    plan = planned(step, *args, donate_argnums=0, pins=pins, hw="dgx-h100", compiler="xla")
    check = plan.check()
    told = [row.what for row in check.rows]
    assert _hlo.SCATTERED in told and "reduce-scatter" not in told and "all-reduce" not in told
    assert plan.report().data["by_collective"] and work in told and len(set(told)) == len(told)
    assert {row.what for row in check.differences} <= off, check
    assert "loop" not in str(check) or work.endswith("loops once")
    assert check.row("arguments of a device").compiled == check.row("arguments of a device").predicted


def test_results_are_memory_once():
    """Beside arguments where these stay, in their place where they are donated."""
    x = random(1024, 512)
    held = [planned(lambda x: jnp.sin(x) + 1, x, donate_argnums=d).check().row("memory of a device") for d in ((), 0)]
    a_device = x.nbytes / 8
    assert held[0].agrees and held[0].predicted == 2 * a_device and held[1].agrees and held[1].predicted == a_device


def test_a_check_says_why_memory_differs():
    """XLA on hosts copies weights into the layout of its products, multiplies narrow floats as wide ones, and holds what is
    not donated beside its next version."""
    arrays = random(8, 16, 128), random(128, 8, 512, seed=1), random(512, 8, 128, seed=2)

    def row(*arrays):
        def products(x, w, v):
            return jnp.einsum("beth,hew->btw", jnp.tanh(jnp.einsum("btw,weh->beth", x, w)), v)

        pins = {"x": P(("x", "y")), "w": P(), "v": P()}
        return planned(products, *arrays, hw="dgx-h100", pins=pins).check().row("memory of a device")

    moved, wide = row(*arrays), row(*(a.astype(jnp.bfloat16) for a in arrays))
    copies = re.search(r"about (\d+) of temporaries are copies in other layouts or types", moved.note)
    assert not moved.agrees and int(copies[1]) >= arrays[1].nbytes + arrays[2].nbytes
    assert "products in bf16 are made wider" in wide.note and "wider" not in moved.note and "donated" not in moved.note
    params, x = mlp()
    kept = sum(leaf.nbytes for leaf in jax.tree.leaves(params))
    row = planned(mlp_step, params, x, mesh={"x": 1}).check(tolerance=0).row("memory of a device")
    assert f"{kept} of results would take the place of arguments if these were donated" in row.note
    assert "if these were" not in planned(mlp_step, params, x, mesh={"x": 1}, donate_argnums=0).check(tolerance=0).row("memory of a device").note


def test_what_a_condition_moves_is_counted():
    def halved(x):
        return jax.lax.while_loop(lambda s: jnp.any(s > 1), lambda s: s * 0.5, x)

    with pytest.warns(UserWarning, match="trips"):
        plan = planned(halved, random(64, 64), pins={"x": P("y")}, hw="dgx-h100")
    moved = [row for row in plan.check().rows if row.unit.startswith("bytes received")]
    assert moved and all(row.agrees and row.compiled for row in moved)


def test_an_exchange_is_sent_as_planned():
    """Two axes change places, for which XLA by itself gathers."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))

    def swapped(x):
        return jnp.cos(jax.lax.with_sharding_constraint(jnp.sin(x), NamedSharding(mesh, P("y", "x"))))

    x = random(512, 256)
    plan = planned(swapped, x, mesh=mesh, hw="dgx-h100", pins={"x": P("x", "y")})
    compiled = plan.jit().lower(x).compile()
    assert_same(compiled(*plan.shard((x,))), swapped(x))
    assert set(compiled_collectives(compiled.as_text())) == {"collective-permute"}
    assert all(row.agrees for row in plan.check(compiled).rows if row.unit.startswith("bytes received"))


def test_what_was_compiled_otherwise_is_told():
    params, x = mlp()
    plan = planned(mlp_step, params, x)
    mesh = plan.jax_mesh
    whole = jax.jit(mlp_step, in_shardings=NamedSharding(mesh, P()), out_shardings=NamedSharding(mesh, P()))
    check = plan.check(whole.lower(params, x).compile())
    assert not check.agrees and "work of a device" in {row.what for row in check.differences}


def test_what_loops_make_again():
    """Of scanned layers the stacks of what backward reads are left out; checkpoints of the program are folded back first."""

    def layer(x, w):
        return x + jnp.tanh(x @ w[0]) @ w[1], None

    def step_with(layer):
        return jax.value_and_grad(lambda w, x: jnp.mean(jax.lax.scan(layer, x, w)[0] ** 2))

    w = (random(3, 16, 64, seed=1), random(3, 64, 16, seed=2))
    x = random(64, 16, seed=3)
    step = step_with(layer)
    plain, full = (planned(step, w, x, mesh={"x": 4}, recompute=how) for how in ("as-written", "full"))
    assert full.made_again and full.memory_bytes < plain.memory_bytes
    assert_same(full.jit()(w, x), step(w, x))
    checkpointed = functools.partial(planned, step_with(jax.checkpoint(layer)), w, x, mesh={"x": 4})
    again = checkpointed(recompute="full")
    assert again.made_again
    assert_same(again.jit()(w, x), step(w, x))
    none = checkpointed(recompute="none")  # what the program makes again is read from a stack that is added
    assert checkpointed().memory_bytes < none.memory_bytes <= plain.memory_bytes
    assert_same(none.jit()(w, x), step(w, x))

    capacity = (plain.memory_bytes + full.memory_bytes) // 2
    some = planned(step, w, x, mesh={"x": 4}, recompute="search", memory=capacity)  # of each stack by itself
    assert some.made_again and some.memory_bytes <= capacity
    assert_same(some.jit()(w, x), step(w, x))

    of_scans = step_with(lambda x, w: jax.lax.scan(layer, x, w))
    w = tuple(jnp.stack([a, a[::-1]]) for a in w)
    full = planned(of_scans, w, x, mesh={"x": 4}, recompute="full")
    assert full.made_again
    assert_same(full.jit()(w, x), of_scans(w, x))


@pytest.mark.parametrize("of_scans", [False, True])
def test_scanned_layers_of_llama(of_scans, monkeypatch):
    """What a checkpoint makes again in the loop of the backward pass, and what a plan does: about as much memory; in a loop of
    loops, too."""
    monkeypatch.syspath_prepend(pathlib.Path(__file__).parents[2] / "tests/interop/jax")
    llama = importlib.import_module("llama")
    sizes = {"WIDTH": 32, "HEADS": 4, "KV_HEADS": 2, "HIDDEN": 48, "VOCABULARY": 64, "HEAD": 8}
    for name, size in sizes.items():
        monkeypatch.setattr(llama, name, size)
    of = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
    weights = jax.tree.map(of, llama.shapes(4), is_leaf=lambda x: isinstance(x, tuple))
    tokens = jax.ShapeDtypeStruct((8, 32), jnp.int32)

    def step_with(layer):
        def loss(w, tokens, targets):
            layers = jax.tree.map(lambda a: a.reshape(2, 2, *a.shape[1:]), w["layers"]) if of_scans else w["layers"]
            body = (lambda x, w: jax.lax.scan(layer, x, w)) if of_scans else layer
            logits = llama.norm(jax.lax.scan(body, w["embedding"][tokens], layers)[0], w["norm"]) @ w["head"]
            chosen = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
            return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)

        return jax.value_and_grad(loss)

    given = (weights, tokens, tokens)
    of_plan = functools.partial(planned, mesh={"x": 4}, work_limit=3_000_000)
    checkpointed = of_plan(step_with(jax.checkpoint(llama.layer)), *given)
    plain, full = (of_plan(step_with(llama.layer), *given, recompute=how) for how in ("as-written", "full"))
    assert full.made_again and checkpointed.memory_bytes < plain.memory_bytes / 2
    assert full.memory_bytes < 1.5 * checkpointed.memory_bytes
    none = of_plan(step_with(jax.checkpoint(llama.layer)), *given, recompute="none")
    assert 0.5 * plain.memory_bytes < none.memory_bytes < 1.1 * plain.memory_bytes
    seconds = [
        of_plan(step_with(jax.checkpoint(llama.layer)), *given, recompute="search", memory=memory, work_limit=60_000_000).seconds
        for memory in (2 * none.memory_bytes, int(1.2 * checkpointed.memory_bytes))
    ]  # of what the checkpoints make again, as much as memory asks for
    assert seconds[0] <= seconds[1] <= 1.001 * checkpointed.seconds


def layered_step(layer):
    """A step of three layers, without an update."""

    def loss(params, x):
        for w in params:
            x = layer(w, x)
        return jnp.mean(x**2)

    return jax.value_and_grad(loss)


def layered_inputs():
    return [(random(16, 64, seed=i), random(64, 16, seed=i + 9)) for i in range(3)], random(256, 16, seed=30)


def test_what_is_offloaded(tmp_path, capsys):
    """In the program that runs as placements, which XLA drops on hosts; by names as a policy of JAX."""

    def layer(w, x):
        hidden = checkpoint_name(jnp.tanh(x @ w[0]), "hidden")
        return checkpoint_name(hidden @ w[1] + x, "sum")

    params, x = layered_inputs()
    step = layered_step(layer)
    planned(step, params, x, mesh={"x": 4}, recompute="full").save(tmp_path / "full.json")
    schedule = json.loads((tmp_path / "full.json").read_text())["schedule"]
    away = (({"offloads": e["keeps"]}, {"fetches": e["keeps"]}) if "keeps" in e else (e,) for e in schedule["entries"])
    schedule["entries"] = [e for entries in away for e in entries]
    said = {"format": "shardwright-schedule", "version": 1, "schedule": schedule}
    (tmp_path / "schedule.json").write_text(json.dumps(said))
    plan = planned(step, params, x, mesh={"x": 4}, schedule=tmp_path / "schedule.json")
    assert plan.checkpoint_names == {"hidden": (0, 3, 0), "sum": (0, 0, 3)}
    assert plan.program.count('_xla_buffer_placement = "pinned_host"') == 3
    assert_same(plan.jit()(params, x), step(params, x))

    policy = plan.checkpoint_policy()
    assert_same(layered_step(jax.checkpoint(layer, policy=policy))(params, x), step(params, x))
    print_saved_residuals(jax.checkpoint(lambda w: jnp.sum(layer(w, layer(w, x))), policy=policy), params[0])
    saved = capsys.readouterr().out
    assert "f32<host>[256,16]" in saved and "'hidden'" not in saved


def test_what_scanned_layers_hand_on_is_offloaded(tmp_path):
    """Slice by slice, in place of the stack that a plan makes anew; XLA on hosts runs it without the placements."""

    def layer(x, w):
        hidden = checkpoint_name(jnp.tanh(x @ w[0]), "hidden")
        return hidden @ w[1] + x, None

    def loss(w, x):
        return jnp.mean(jax.lax.scan(layer, x, w)[0] ** 2)

    w = (random(3, 16, 64, seed=1), random(3, 64, 16, seed=2))
    x = random(64, 16, seed=3)
    step = jax.value_and_grad(loss)
    full = planned(step, w, x, mesh={"x": 4}, recompute="full")
    away = planned(step, w, x, mesh={"x": 4}, recompute="search", memory=full.memory_bytes)
    assert away.memory_bytes <= full.memory_bytes
    assert_same(away.jit()(w, x), step(w, x))
    count = away.program.count('_xla_buffer_placement = "pinned_host"')
    assert count == sum("offloads" in op for op in away.report().data["ops_in_order"])
    hidden = away.checkpoint_names["hidden"]
    assert hidden.kept + hidden.again + hidden.offloaded == 1


def test_what_is_made_again(capsys):
    """The copies are in the program that runs; XLA's account has them, or the check says that they were merged."""

    def layer(w, x):
        hidden = checkpoint_name(jnp.tanh(x @ w[0]), "hidden")
        return checkpoint_name(hidden @ w[1], "out") + x

    params, x = layered_inputs()
    step = layered_step(layer)
    plan = planned(step, params, x, mesh={"x": 4}, recompute="full")
    held = planned(step, params, x, mesh={"x": 4})
    assert plan.made_again and held.made_again is None
    assert plan.what_if(recompute="as-written").data["made"] and held.what_if(recompute="full").data["made_again"]
    assert plan.again().made_again == plan.made_again
    lowered = plan.jit().lower(params, x)
    assert_same(plan.jit()(params, x), step(params, x))

    merged = {row.what: row for row in plan.check(lowered.compile()).rows}["of it made again"]
    kept = plan.check(lowered.compile(compiler_options={"xla_disable_hlo_passes": "cse"}))
    again = {row.what: row for row in kept.rows}["of it made again"]
    assert "XLA has merged" in merged.note and not merged.agrees
    assert again.agrees and 0.9 < again.compiled / again.predicted < 1.1

    assert plan.checkpoint_names == {"hidden": (0, 3, 0), "out": (3, 0, 0)} and held.checkpoint_names["hidden"] == (3, 0, 0)
    policy = plan.checkpoint_policy()
    by_name = layered_step(jax.checkpoint(layer, policy=policy))
    assert_same(by_name(params, x), step(params, x))
    print_saved_residuals(lambda w: (jax.checkpoint(layer, policy=policy)(w, x) ** 2).sum(), params[0])
    saved = capsys.readouterr().out
    assert "'hidden'" not in saved and "f32[256,64]" not in saved
    with pytest.raises(ValueError, match="checkpoint_name"):
        planned(mlp_step, *mlp()).checkpoint_policy()
    with pytest.raises(shardwright.UsageError, match="expected one of as-written"):
        planned(step, params, x, mesh={"x": 4}, recompute="never")
