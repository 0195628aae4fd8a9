"""What is said of arguments of a function of JAX, by name, by pattern and as trees: roles, pins, keywords, what changes in place."""

import functools
import pickle
import warnings

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from flax import nnx
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from test_jax import MESH, assert_same, mlp, mlp_step, planned, random

import shardwright
import shardwright.jax

quiet = pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")


def kinds(plan):
    return {a["name"]: a["kind"] for a in plan.report().data["arguments"]}


def guessed(step, *args, **options):
    """The kinds, and what the warnings say."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        plan = planned(step, *args, **options)
    return kinds(plan), " ".join(str(w.message) for w in said)


# --- roles -----------------------------------------------------------------------------------------------------------


def test_warnings_speak_of_roles_as_one_says_them_here():
    params, x = mlp()
    weights = {"a": params["w1"], "b": params["w2"]}
    found, said = guessed(lambda w, x: jnp.tanh(x @ w["a"]) @ w["b"], weights, x)
    assert found == {"w['a']": "parameter", "w['b']": "parameter", "x": "input"}
    assert "what 3 of 3 arguments are is guessed from their uses: 2 parameters, 1 input; roles={...} says it" in said
    assert "file" not in said and "donated" not in said and "state" not in said


@pytest.mark.parametrize(
    "roles",
    [
        {"w*": "parameter", "x": "input"},
        {"w.*": "parameter", "x": "input"},
        {"w": {"a key": "parameter", "b": "parameter"}, "x": "input"},
        {"w": "parameter", "x": "input"},
        {"w['a key']": "parameter", "w['b']": "parameter", "x": "input"},
        ({"a key": "parameter", "b": "parameter"}, "input"),
        ("parameter", "input"),
    ],
)
def test_roles_by_name_by_pattern_and_as_trees(roles):
    params, x = mlp()
    weights = {"a key": params["w1"], "b": params["w2"]}
    found, said = guessed(lambda w, x: jnp.tanh(x @ w["a key"]) @ w["b"], weights, x, roles=roles)
    assert found == {"w['a key']": "parameter", "w['b']": "parameter", "x": "input"} and not said


@quiet
def test_roles_of_some_leave_the_others_to_the_guess():
    params, x = mlp()
    step = lambda w, x: jnp.tanh(x @ w["w1"]) @ w["w2"]
    assert kinds(planned(step, params, x, roles=({"w1": None, "w2": "input"}, None))) == {
        "w['w1']": "parameter",
        "w['w2']": "input",
        "x": "input",
    }
    update = lambda cache, x: (cache + x.sum(), x)
    assert kinds(planned(update, x, x, roles={"cache": "state", "x": "input"}))["cache"] == "state"
    assert kinds(planned(update, x, x, roles={"cache": "state 0", "x": "input"}))["cache"] == "state"
    with pytest.raises(shardwright.InputError, match="no argument is named 'w3'"):
        planned(step, params, x, roles={"w3": "input"})
    with pytest.raises(ValueError, match=r"roles: x is said to be 'data'; expected 'parameter', 'input', 'state' or None"):
        planned(step, params, x, roles={"x": "data"})
    with pytest.raises(shardwright.UsageError, match=r"roles: no argument is named w\['w3'\]; there are w\['w2'\], w\['w1'\], x"):
        planned(step, params, x, roles={"w": {"w3": "input"}})


def test_a_batch_of_equinox_is_data():
    """Its layers have the weights on the left side, and no output replaces what comes behind them."""
    model = eqx.nn.MLP(64, 64, 128, 2, key=jax.random.key(0))
    optimizer = optax.adam(1e-3)
    x, y = random(32, 64), random(32, 64, seed=1)

    def gradients(model, x, y):
        return eqx.filter_value_and_grad(lambda m: jnp.mean((jax.vmap(m)(x) - y) ** 2))(model)

    def sgd(model, x, y):
        value, grads = gradients(model, x, y)
        return eqx.apply_updates(model, jax.tree.map(lambda g: -0.1 * g, grads)), value

    def adam(state, x, y):
        model, inner = state
        value, grads = gradients(model, x, y)
        updates, inner = optimizer.update(grads, inner, eqx.filter(model, eqx.is_array))
        return (eqx.apply_updates(model, updates), inner), value

    state = model, optimizer.init(eqx.filter(model, eqx.is_array))
    for step, first in ((sgd, model), (adam, state)):
        for donate in ((), 0):
            found, _ = guessed(step, first, x, y, donate_argnums=donate)
            assert found.pop("x") == found.pop("y") == "input"
            assert set(found.values()) == {"state"} and len(found) in (6, 19)


def test_what_is_frozen_stays_a_parameter():
    params, x = mlp()

    def step(scale, base, x):
        def loss(s):
            return jnp.mean((jnp.tanh(x @ base["w1"]) @ base["w2"] * s) ** 2)

        value, grad = jax.value_and_grad(loss)(scale)
        return scale - 0.1 * grad, value

    found, _ = guessed(step, random(64), params, x, donate_argnums=0)
    assert found == {"scale": "state", "base['w1']": "parameter", "base['w2']": "parameter", "x": "input"}


# --- pins ------------------------------------------------------------------------------------------------------------


@quiet
@pytest.mark.parametrize(
    "pins",
    [
        {"params['w1']": P(None, "y")},
        {"params": {"w1": P(None, "y")}},
        {"params": {"w1": P(None, "y"), "w2": None}, "x": None},
        ({"w1": P(None, "y"), "w2": None}, None),
        ({"w1": P(None, "y")},),
        {"params": {"w1": [None, "y"]}},
        {"params['w1']": "[[],[y]]"},
        "params['w1'] = P(None, 'y')",
        ["params['w1']=[[],[y]]"],
        {"params.*1": P(None, "y")},
        {"params['?1']": P(None, "y")},
        {"*w1*": P(None, "y")},
    ],
)
def test_pins_as_one_has_them(pins):
    plan = planned(mlp_step, *mlp(), pins=pins)
    assert plan.arguments["params['w1']"] == "[[],[y]]"


@quiet
def test_pins_of_whole_trees_and_named_shardings():
    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    every = {"params['w1']": "[[y],[]]", "params['w2']": "[[y],[]]"}
    for pins in ({"params": P("y")}, {"params*": P("y")}, {"params": NamedSharding(mesh, P("y"))}, {"params[*]": P("y")}):
        arguments = planned(mlp_step, *mlp(), pins=pins).arguments
        assert {name: arguments[name] for name in every} == every
    plan = planned(mlp_step, *mlp(), pins=({"w1": P("y"), "w2": P("x")}, P()))
    assert planned(mlp_step, *mlp(), pins=plan.in_specs).in_specs == plan.in_specs
    other = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
    with pytest.raises(shardwright.InputError, match=r"params\['w1'\] is to be on a mesh of {'x': 4, 'y': 2}; the plan's is"):
        planned(mlp_step, *mlp(), pins={"params": NamedSharding(other, P("y"))})


@quiet
def test_open_dims_and_values_in_between():
    params, x = mlp()
    plan = planned(mlp_step, params, x, pins={"params['w1']": P(P.UNCONSTRAINED, "y")})
    assert plan.in_specs[0]["w1"][1] in ("y", ("y", "x"))
    cut = planned(mlp_step, params, x, pins={"x": P("x", P.UNCONSTRAINED), "params": P(P.UNCONSTRAINED, None)})
    assert cut.in_specs[1][0] == "x" and not cut.in_specs[0]["w1"][1] and not cut.in_specs[0]["w2"][1]
    by_text = planned(mlp_step, params, x, pins=["x=[[x],[?]]", "params* = P(UNCONSTRAINED, None)"])
    assert by_text.in_specs == cut.in_specs
    inner = next(op["name"] for op in plan.report().data["ops_in_order"] if op["op"] == "tanh")
    pinned = planned(mlp_step, params, x, pins={inner: P("x", "y")})
    assert "[[x],[y]]" in str(pinned.explain(inner))
    assert pinned.what_if({"params": {"w1": P("x", P.UNCONSTRAINED)}}).made


@quiet
@pytest.mark.parametrize(
    "pins, error",
    [
        ({"params['w3']": P()}, r"no argument is named params\['w3'\]; there are params\['w2'\], params\['w1'\], x"),
        ({"p['w1']": P()}, r"no argument is named p\['w1'\]; there are params\['w1'\], params\['w2'\], x"),
        ({"params": {"w3": P()}}, r"no argument is named params\['w3'\]; there are params\['w2'\], params\['w1'\], x"),
        ({"state": {"w1": P()}}, r"no argument is named state; there are params\['w1'\]"),
        ({("params", "w1"): P()}, r"\('params', 'w1'\) is no name; expected one such as params\['w1'\]"),
        ({"params": {"w1": 3}}, r"params\['w1'\] is said to be 3"),
        ({"params": 3}, r"params is said to be 3"),
        (({}, None, None), r"3 are said of 2 arguments \(params, x\)"),
        ({"params": {"w1": P(None, None, "y")}}, r"params\['w1'\] has 2 dims, \[64, 256\]; .* is of 3"),
        ({"params": {"w1": P("y", "y")}}, r"params\['w1'\]: .* names axis 'y' twice"),
        ({"params": {"w1": P(None, "z")}}, r"dim 1 of params\['w1'\]: axis 'z' is not in the mesh, which has x, y"),
        ({"x": P(("x", "y"))}, r"dim 0 of 'x' is of 30 and cut by \[x,y\], which are 8 parts"),
        ({"x": "[[x,y],[]]"}, r"dim 0 of 'x' is of 30 and cut by \[x,y\], which are 8 parts"),
        ({"x": "[[?,x],[]]"}, r"'\?' stands inside a dim; expected it as the last entry"),
    ],
)
def test_wrong_pins_are_refused_by_path(pins, error):
    params, _ = mlp()
    with pytest.raises((ValueError, TypeError), match=error):
        planned(mlp_step, params, random(30, 64), pins=pins)


@quiet
def test_keys_with_any_signs():
    x = random(32, 64)
    weights = {"a;b": random(64, 64, seed=1), "c=[d": random(64, 64, seed=2), "*": random(64, 64, seed=3)}
    step = lambda w, x: jnp.tanh(x @ w["a;b"]) @ w["c=[d"] @ w["*"]
    plan = planned(step, weights, x, pins={"w": {"a;b": P(None, "y"), "*": P("x", None)}})
    assert plan.in_specs[0]["a;b"] == P(None, "y") and plan.in_specs[0]["*"] == P("x", None)


# --- calls -----------------------------------------------------------------------------------------------------------


@quiet
def test_arguments_by_keyword():
    params, x = mlp()
    want = mlp_step(params, x)

    def by_name(params, *, x, mesh=1.0):
        new, value = mlp_step(params, x)
        return new, value * mesh

    plan = planned(by_name, params, x=x, donate_argnums=0, pins={"x": P("x", None), "params": {"w1": P(None, "y")}})
    assert list(plan.arguments) == ["params['w1']", "params['w2']", "x"]
    assert plan.in_specs[1] == P("x", None) and kinds(plan)["params['w1']"] == "state"
    args, kwargs = plan.shard((params,), {"x": x})
    assert list(kwargs) == ["x"] and kwargs["x"].sharding.spec == P("x", None)
    assert_same(plan.jit()(*args, **kwargs), want)
    with pytest.raises(TypeError, match=r"the plan is for keywords \['x'\]; got \['x', 'mesh'\]"):
        plan.jit()(params, mesh=1.0, x=x)
    other = planned(by_name, params, kwargs={"x": x, "mesh": 2.0})  # mesh= is the plan's
    assert list(other.arguments)[2:] == ["x", "mesh"]
    assert_same(other.jit()(params, x=x, mesh=2.0)[1], want[1] * 2)
    same = planned(mlp_step, params, x=x)  # one that may come by position does
    assert same.in_specs == planned(mlp_step, params, x).in_specs
    assert_same(same.jit()(params, x), want)


@quiet
def test_one_argument_is_placed_by_name():
    params, x = mlp()
    plan = planned(mlp_step, params, x, pins={"x": P("x", None), "params": {"w1": P(None, "y")}})
    assert plan.shard_one("x", x).sharding.spec == P("x", None)
    assert plan.shard_one("params", params)["w1"].sharding.spec == P(None, "y")
    assert plan.shard_one("params['w1']", params["w1"]).sharding.spec == P(None, "y")
    with pytest.raises(KeyError, match="no argument is named y; there are"):
        plan.shard_one("y", x)
    with pytest.raises(TypeError, match=r"params holds params; the plan is for params\['w1'\], params\['w2'\]"):
        plan.shard_one("params", x)
    with pytest.raises(TypeError, match="the arguments of a call are dict; expected a tuple of them"):
        plan.shard(params)
    with pytest.raises(ValueError, match=r"x is float32\[16,64\]; the plan is for float32\[32,64\]; plan.again"):
        plan.jit()(params, x[:16])


# --- what changes in place -------------------------------------------------------------------------------------------


class Linear(nnx.Module):
    def __init__(self, rngs):
        self.inner = nnx.Linear(16, 16, rngs=rngs)

    def __call__(self, x):
        return self.inner(x)


def modules():
    model = Linear(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(1e-1), wrt=nnx.Param)


def train(model, optimizer, x):
    loss, grads = nnx.value_and_grad(lambda m: (m(x) ** 2).mean())(model)
    optimizer.update(model, grads)
    return loss


@quiet
@pytest.mark.parametrize("how", [lambda f: f, nnx.jit])
def test_a_step_that_changes_modules_is_refused(how):
    with pytest.raises(TypeError, match=r"train changes a Linear in place; .*nnx.split.*nnx.merge"):
        planned(how(train), *modules(), random(8, 16))


@quiet
def test_modules_that_come_back_train():
    graph, state = nnx.split(modules())
    x = random(8, 16)

    def step(state, x):
        model, optimizer = nnx.merge(graph, state)
        loss = train(model, optimizer, x)
        return nnx.state((model, optimizer)), loss

    plan = planned(step, state, x)
    want = jax.jit(step)(state, x)
    assert_same(plan.jit()(*plan.shard((state, x))), want)
    model, _ = modules()
    assert planned(lambda m, x: m(x), model, x).arguments  # which changes nothing
    given = modules()
    returned = planned(lambda m, o, x: (train(m, o, x), m, o), *given, x)
    assert_same(returned.jit()(*given, x)[0], want[1])


# --- again -----------------------------------------------------------------------------------------------------------


def layer(x, w):
    q, k, v = jnp.einsum("bsd,dthk->tbshk", x, w["qkv"])
    a = jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", q, k) / 4, -1)
    x = x + jnp.einsum("bhst,bthk,hkd->bsd", a, v, w["out"])
    return x + jax.nn.gelu(x @ w["up"]) @ w["down"], None


@quiet
def test_again_with_another_batch():
    width, heads, layers = 64, 4, 4
    shapes = {"qkv": (width, 3, heads, 16), "out": (heads, 16, width), "up": (width, 256), "down": (256, width)}
    params = {k: random(layers, *s, seed=i) for i, (k, s) in enumerate(shapes.items())}

    def step(params, x):
        loss = lambda p: jnp.mean(jax.lax.scan(jax.checkpoint(layer), x, p)[0] ** 2)
        value, grads = jax.value_and_grad(loss)(params)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), value

    batch = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
    pins = {"x": P("x", None, None)}
    options = {"hw": "dgx-h100", "compiler": "xla", "donate_argnums": 0, "pins": pins, "cut_heavy_ops": False}
    plan = planned(step, params, batch((16, 32, width)), **options)
    fresh = planned(step, params, batch((32, 32, width)), **options)
    again = plan.again(params, batch((32, 32, width)))
    assert again.in_specs[1] == P("x", None, None) and again.mesh == plan.mesh
    assert again.report().data["compiler"] == "xla" and kinds(again) == kinds(fresh)
    assert again.seconds <= fresh.seconds * 1.004
    same = plan.again()
    assert same.in_specs == plan.in_specs and same.seconds <= plan.seconds * 1.004
    assert plan.again(pins={"x": P("y", None, None)}).in_specs[1] == P("y", None, None)


@quiet
def test_again_of_what_was_pickled():
    params, x = mlp()
    plan = pickle.loads(pickle.dumps(planned(mlp_step, params, x, pins={"x": P("x", P.UNCONSTRAINED)})))
    again = plan.again(params, random(64, 64))
    assert again.in_specs[1][0] == "x" and again.report().data["compiler"] == "xla-cpu"
    with pytest.raises(TypeError, match="has no option 'memori'; did you mean 'memory'"):
        plan.again(memori="1GB")
