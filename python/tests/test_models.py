"""Figures of plans of JAX programs, beside what XLA counts and what the programs say."""

import jax
import jax.numpy as jnp
import pytest

import shardwright
import shardwright.jax

pytestmark = pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")


def report(step, *args, mesh, **options):
    return shardwright.jax.plan(step, *args, mesh=mesh, hw="dgx-h100", **options).report().data


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
        assert report(step, *args, mesh={"x": 1})["flops"] == pytest.approx(flops_of_xla(step, *args), rel=0.03)


def test_copies_made_again_take_their_time():
    """The products of a checkpointed block are priced like any others."""
    weights, x = (floats(4, 1024, 4096), floats(4, 4096, 1024)), floats(2048, 1024)

    def block(x, w):
        return x + jax.nn.gelu(x @ w[0]) @ w[1], None

    def step(block):
        return lambda w, x: jax.value_and_grad(lambda w: jnp.sum(jax.lax.scan(block, x, w)[0] ** 2))(w)

    def of_products(block):
        ops = report(step(block), weights, x, mesh={"x": 8})["ops_in_order"]
        dots = [op for op in ops if op["op"] == "dot_general"]
        return [sum(op[key] * op.get("repeats", 1) for op in dots) for key in ("flops", "local_s")]

    flops, seconds = of_products(block)
    flops_again, seconds_again = of_products(jax.checkpoint(block))
    assert flops_again > 1.15 * flops
    assert seconds_again / seconds == pytest.approx(flops_again / flops, rel=0.1)
