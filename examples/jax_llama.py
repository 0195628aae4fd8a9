"""jax_llama.py [--layers 32] [--devices 64]: the training step of Llama-3 8B in JAX, planned, and compiled by XLA beside
FSDP as one writes it by hand.

No accelerator is needed and nothing is run: XLA compiles for devices of the host, and says what each of them would hold
and move.
"""

import argparse
import os

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--layers", type=int, default=32)
parser.add_argument("--devices", type=int, default=64)
parser.add_argument("--batch", type=int, default=64, help="sequences of the whole step")
parser.add_argument("--seq", type=int, default=2048)
parser.add_argument("--report", help="write the plan's page here")
args = parser.parse_args()
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={args.devices}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

import shardwright.jax  # noqa: E402

WIDTH, HEADS, GROUPS, HEAD, HIDDEN, VOCAB = 4096, 32, 8, 128, 14336, 128256


# --- the model, as anyone would write it -------------------------------------------------------------------------------


def shapes():
    def w(*dims):
        return jax.ShapeDtypeStruct(dims, jnp.bfloat16)

    layer = {"wq": w(WIDTH, HEADS, HEAD), "wk": w(WIDTH, GROUPS, HEAD), "wv": w(WIDTH, GROUPS, HEAD), "wo": w(HEADS, HEAD, WIDTH),
             "gate": w(WIDTH, HIDDEN), "up": w(WIDTH, HIDDEN), "down": w(HIDDEN, WIDTH), "norm1": w(WIDTH), "norm2": w(WIDTH)}
    return {"embed": w(VOCAB, WIDTH), "layers": [dict(layer) for _ in range(args.layers)], "norm": w(WIDTH), "head": w(WIDTH, VOCAB)}


def norm(x, weight):
    x32 = x.astype(jnp.float32)
    return (x32 * jax.lax.rsqrt(jnp.mean(x32 * x32, -1, keepdims=True) + 1e-5)).astype(x.dtype) * weight


def rotate(x):
    half = HEAD // 2
    angle = jnp.arange(x.shape[1])[:, None] / 500000 ** (jnp.arange(half) / half)
    sin, cos = (f(angle)[:, None, :].astype(x.dtype) for f in (jnp.sin, jnp.cos))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, a * sin + b * cos], -1)


def block(x, p):
    h = norm(x, p["norm1"])
    q, k, v = (jnp.einsum("bsd,dhk->bshk", h, p[n]) for n in ("wq", "wk", "wv"))
    h = jax.nn.dot_product_attention(rotate(q), rotate(k), v, is_causal=True)
    x = x + jnp.einsum("bshk,hkd->bsd", h, p["wo"])
    h = norm(x, p["norm2"])
    return x + (jax.nn.silu(h @ p["gate"]) * (h @ p["up"])) @ p["down"]


def loss(params, tokens, keep=lambda x: x):
    x = keep(params["embed"][tokens[:, :-1]])
    for p in params["layers"]:
        x = keep(block(x, p))
    logits = (norm(x, params["norm"]) @ params["head"]).astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, tokens[:, 1:, None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def step(state, tokens, keep=lambda x: x):
    """One step of Adam."""
    params, m, v = state
    value, grads = jax.value_and_grad(loss)(params, tokens, keep)
    grads = jax.tree.map(lambda g: g.astype(jnp.float32), grads)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grads)
    v = jax.tree.map(lambda v, g: 0.99 * v + 0.01 * g * g, v, grads)
    params = jax.tree.map(lambda p, m, v: (p - 1e-4 * m / (jnp.sqrt(v) + 1e-8)).astype(p.dtype), params, m, v)
    return (params, m, v), value


# --- planned, and by hand ----------------------------------------------------------------------------------------------


def fsdp(state, tokens, mesh, activations):
    """Every weight cut along its first dimension that divides, the batch over all devices; activations kept so, or left
    to XLA."""
    whole = tuple(mesh.axis_names)

    def cut(leaf):
        divides = [i for i, n in enumerate(leaf.shape) if n % mesh.size == 0]
        return NamedSharding(mesh, P(*[whole if divides and i == divides[0] else None for i in range(leaf.ndim)]))

    rows = NamedSharding(mesh, P(whole))
    shardings = jax.tree.map(cut, state)

    def keep(x):
        return jax.lax.with_sharding_constraint(x, rows) if activations else x

    written = jax.jit(lambda s, t: step(s, t, keep), in_shardings=(shardings, rows),
                      out_shardings=(shardings, NamedSharding(mesh, P())), donate_argnums=0)
    return written.lower(state, tokens).compile()


def main():
    params = shapes()
    moments = jax.tree.map(lambda p: jax.ShapeDtypeStruct(p.shape, jnp.float32), params)
    state, tokens = (params, moments, moments), jax.ShapeDtypeStruct((args.batch, args.seq + 1), jnp.int32)
    mesh = jax.make_mesh((args.devices // 8, 8), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    hw = "h100x64" if args.devices == 64 else "dgx-h100" if args.devices == 8 else "h100"
    plan = shardwright.jax.plan(step, state, tokens, mesh=mesh, hw=hw, donate_argnums=0)
    print(plan)
    if args.report:
        plan.report().save(args.report)
    compiled = {"planned": plan.jit().lower(state, tokens).compile(),
                "FSDP by hand": fsdp(state, tokens, mesh, activations=True),
                "FSDP, arguments alone": fsdp(state, tokens, mesh, activations=False)}
    print(f"\nas XLA compiles it, per device{'temporaries':>16}{'arguments':>14}{'collectives':>16}")
    for name, done in compiled.items():
        memory = done.memory_analysis()
        moved = sum(row.compiled for row in plan.check(done).rows if row.unit.startswith("bytes received") and row.compiled)
        print(f"{name:30}{memory.temp_size_in_bytes / 1e9:13.1f} GB{memory.argument_size_in_bytes / 1e9:11.2f} GB{moved / 1e9:13.1f} GB")


if __name__ == "__main__":
    main()
