"""Figures of plans of JAX programs, beside what XLA counts and what the programs say."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import shardwright
import shardwright.jax
from shardwright._hlo import compiled_collectives, planned_collectives

pytestmark = pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")


def report(step, *args, mesh, **options):
    return shardwright.jax.plan(step, *args, mesh=mesh, hw="dgx-h100", **options).report()


def flops_of_xla(step, *args):
    """Elementwise ops, which XLA counts otherwise, are few beside products here."""
    return jax.jit(step).lower(*args).compile().cost_analysis()["flops"]


def floats(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


@pytest.mark.parametrize("stride", [1, 2, 4])
def test_convolutions_count_as_in_xla(stride):
    """Neither padding nor zeros between dilated elements, nor the product whose gradient alone is asked for."""

    def conv(x, w):
        return jax.lax.conv_general_dilated(
            x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )

    def of_input(x, w):
        return jax.grad(lambda x: conv(x, w).sum())(x)

    def of_both(x, w):
        return jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), argnums=(0, 1))(x, w)

    args = floats(16, 32, 32, 64), floats(3, 3, 64, 128)
    for step in (of_input, of_both):
        assert report(step, *args, mesh={"x": 1}).data["flops"] == pytest.approx(flops_of_xla(step, *args), rel=0.03)


def of_products(report):
    """Flops and seconds of all products."""
    dots = [op for op in report.data["ops_in_order"] if op["op"] == "dot_general"]
    return [sum(op[key] * op.get("repeats", 1) for op in dots) for key in ("flops", "local_s")]


def test_copies_made_again_take_their_time():
    """The products of a checkpointed block are priced like any others: in f32, their time goes by flops."""
    weights, x = (floats(4, 1024, 4096), floats(4, 4096, 1024)), floats(2048, 1024)

    def block(x, w):
        return x + jax.nn.gelu(x @ w[0]) @ w[1], None

    def step(block):
        return lambda w, x: jax.value_and_grad(lambda w: jnp.sum(jax.lax.scan(block, x, w)[0] ** 2))(w)

    with jax.default_matmul_precision("highest"):
        flops, seconds = of_products(report(step(block), weights, x, mesh={"x": 8}))
        flops_again, seconds_again = of_products(report(step(jax.checkpoint(block)), weights, x, mesh={"x": 8}))
    assert flops_again > 1.15 * flops
    assert seconds_again / seconds == pytest.approx(flops_again / flops, rel=0.1)


@pytest.mark.parametrize("rule", ["data-parallel", "fsdp", "zero1"])
@pytest.mark.parametrize("parts", [4, 16])
@pytest.mark.parametrize("arrives_in_parts", [False, True])
def test_rules_follow_a_batch_through_accumulation(rule, parts, arrives_in_parts):
    """Eight devices work on every part of the batch, whether these are more than eight or fewer."""
    width, batch = 256, 65536
    weights = floats(2, width, 4 * width), floats(2, 4 * width, width)

    def loss(w, x):
        return (jax.lax.scan(lambda x, w: (x + jax.nn.gelu(x @ w[0]) @ w[1], None), x, w)[0] ** 2).mean()

    def step(w, x):
        def one(sum_of, part):
            return jax.tree.map(jnp.add, sum_of, jax.grad(loss)(w, part)), None

        gradient = jax.lax.scan(one, jax.tree.map(jnp.zeros_like, w), x.reshape(parts, -1, width))[0]
        return jax.tree.map(lambda w, g: w - 1e-3 * g, w, gradient)

    x = floats(parts, batch // parts, width) if arrives_in_parts else floats(batch, width)
    lowered = jax.jit(step, donate_argnums=0).lower(weights, x)
    plan = shardwright.Problem(lowered, hw="dgx-h100", mesh={"x": 8}).baseline(rule)
    flops, _ = of_products(plan.report())
    assert flops == 6 * sum(w.size for w in weights) * batch / 8


def test_propagated_annotations_move_what_xla_moves(tool, tmp_path):
    """Megatron's shardings of weights and nothing else said, the table cut over its rows: weights are gathered nowhere."""
    width, heads, hidden, words = 256, 8, 1024, 4096
    weights = {
        "table": (floats(words, width), P("y")),
        "qkv": (floats(width, 3, heads, 64), P(None, None, "y")),
        "out": (floats(heads, 64, width), P("y")),
        "up": (floats(width, hidden), P(None, "y")),
        "down": (floats(hidden, width), P("y")),
    }

    def loss(w, tokens):
        x = w["table"][tokens[:, :-1]]
        q, k, v = jnp.einsum("bsd,dchk->cbshk", x, w["qkv"])
        x += jnp.einsum("bhst,bthk,hkd->bsd", jax.nn.softmax(jnp.einsum("bshk,bthk->bhst", q, k) / 8), v, w["out"])
        x += jnp.tanh(x @ w["up"]) @ w["down"]
        return -jnp.take_along_axis(jax.nn.log_softmax(x @ w["table"].T), tokens[:, 1:, None], -1).mean()

    def step(w, tokens):
        return jax.tree.map(lambda w, g: w - 0.1 * g, w, jax.grad(loss)(w, tokens))

    mesh = Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))
    shardings = {name: NamedSharding(mesh, spec) for name, (_, spec) in weights.items()}, NamedSharding(mesh, P("x"))
    args = {name: weight for name, (weight, _) in weights.items()}, jax.ShapeDtypeStruct((16, 65), jnp.int32)
    lowered = jax.jit(step, in_shardings=shardings, donate_argnums=0).lower(*args)
    program, report = tmp_path / "step.mlir", tmp_path / "report.json"
    program.write_text(lowered.as_text())
    status, _, said = tool(
        "propagate", program, "--hw", "dgx-h100", "--compiler", "xla-cpu", "--report", report, "--table"
    )
    assert status == 0, said
    planned = planned_collectives(json.loads(report.read_text()))
    compiled = compiled_collectives(lowered.compile().as_text())
    assert set(planned) == set(compiled) == {"all-reduce"}
    assert planned["all-reduce"][1] == pytest.approx(compiled["all-reduce"][1], rel=0.05)


def test_stacked_weights_are_gathered_in_the_loop_where_memory_is_short():
    """A layer at a time, forward and backward, as no plan that gathers the stacks before the loop fits."""
    layers, width, hidden, batch = 8, 128, 512, 16
    numbers = np.random.default_rng(0)
    shapes = {"up": (layers, width, hidden), "down": (layers, hidden, width)}
    params = {name: jnp.asarray(numbers.normal(size=shape) / 16, jnp.float32) for name, shape in shapes.items()}
    x = jnp.asarray(numbers.normal(size=(batch, width)), jnp.float32)

    @jax.checkpoint
    def layer(x, w):
        return x + jnp.tanh(x @ w["up"]) @ w["down"], None

    def step(params, moments, x):
        grads = jax.grad(lambda p: (jax.lax.scan(layer, x, p)[0] ** 2).mean())(params)
        moments = jax.tree.map(lambda m, g: 0.9 * m + g, moments, grads)
        return jax.tree.map(lambda p, m: p - 0.1 * m, params, moments), moments

    args = params, jax.tree.map(jnp.zeros_like, params), x
    options = {"donate_argnums": (0, 1), "memory": "2MB", "work_limit": 1_000_000_000}
    plan = shardwright.jax.plan(step, *args, mesh={"x": 2, "y": 4}, hw="dgx-h100", **options)
    assert plan.memory_bytes <= 2e6 < sum(a.nbytes for a in params.values()) / 2
    got, want = plan.jit()(*plan.shard(args)), jax.jit(step)(*args)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)):
        assert np.allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_batch_that_would_fit_is_named():
    """Weights and their gradients are small beside activations, of which there are fewer in a smaller batch."""
    weights, x = [floats(256, 256)] * 6, floats(65536, 256)

    def step(weights, x):
        def loss(weights, x):
            for w in weights:
                x = jnp.tanh(x @ w)
            return (x * x).mean()

        return jax.tree.map(lambda w, g: w - g, weights, jax.grad(loss)(weights, x))

    options = {"mesh": {"x": 8}, "hw": "dgx-h100", "donate_argnums": 0, "memory": "20MB", "work_limit": 300_000_000}
    with pytest.raises(shardwright.Error, match="the largest batch that would do is (8192|16384), as far as found"):
        shardwright.jax.plan(step, weights, x, **options)
    assert shardwright.jax.plan(step, weights, floats(8192, 256), **options).memory_bytes <= 20e6


def test_a_loop_of_unknown_length_is_warned_of_when_a_plan_is_read(tmp_path):
    def step(w, x):
        return jax.lax.while_loop(lambda x: jnp.sum(x) < 9, lambda x: jnp.tanh(x @ w), x)

    args = floats(64, 64), floats(8, 64)
    plan = shardwright.jax.plan(step, *args, mesh={"x": 2}, hw="dgx-h100")
    plan.save(tmp_path / "plan.json")
    with pytest.warns(shardwright.ModelWarning, match="while"):
        shardwright.jax.load(tmp_path / "plan.json", step, *args)
