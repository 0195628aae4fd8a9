"""A training step of Llama 3 (8B by default) as StableHLO: scanned and rematerialised layers, Adam in float32.

    python llama.py --out FILE [--layers N] [--batch N] [--seq N] [--grad-only]
"""

import argparse
import functools

import jax
import jax.numpy as jnp

WIDTH, HEADS, KV_HEADS, HIDDEN, VOCABULARY = 4096, 32, 8, 14336, 128256
HEAD = WIDTH // HEADS


def shapes(layers):
    per_layer = {
        "attention_norm": (WIDTH,),
        "q": (WIDTH, HEADS, HEAD),
        "k": (WIDTH, KV_HEADS, HEAD),
        "v": (WIDTH, KV_HEADS, HEAD),
        "o": (HEADS, HEAD, WIDTH),
        "mlp_norm": (WIDTH,),
        "gate": (WIDTH, HIDDEN),
        "up": (WIDTH, HIDDEN),
        "down": (HIDDEN, WIDTH),
    }
    return {
        "embedding": (VOCABULARY, WIDTH),
        "layers": {name: (layers, *shape) for name, shape in per_layer.items()},
        "norm": (WIDTH,),
        "head": (WIDTH, VOCABULARY),
    }


def norm(x, scale):
    wide = x.astype(jnp.float32)
    scaled = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return scaled.astype(x.dtype) * scale.astype(x.dtype)


def rotate(x):
    """Rotary positions of [batch, position, head, channel]."""
    half = x.shape[-1] // 2
    rate = 500000.0 ** (-jnp.arange(half, dtype=jnp.float32) / half)
    angle = jnp.arange(x.shape[1], dtype=jnp.float32)[:, None] * rate
    cos, sin = (f(angle)[None, :, None, :].astype(x.dtype) for f in (jnp.cos, jnp.sin))
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def attention(w, x):
    batch, length, _ = x.shape
    q = rotate(jnp.einsum("btd,dhc->bthc", x, w["q"].astype(x.dtype)))
    k = rotate(jnp.einsum("btd,dhc->bthc", x, w["k"].astype(x.dtype)))
    v = jnp.einsum("btd,dhc->bthc", x, w["v"].astype(x.dtype))
    q = q.reshape(batch, length, KV_HEADS, HEADS // KV_HEADS, HEAD)
    scores = jnp.einsum("btkgc,bskc->bkgts", q, k).astype(jnp.float32) / HEAD**0.5
    scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e30)
    weights = jax.nn.softmax(scores, -1).astype(x.dtype)
    mixed = jnp.einsum("bkgts,bskc->btkgc", weights, v).reshape(batch, length, HEADS, HEAD)
    return jnp.einsum("bthc,hcd->btd", mixed, w["o"].astype(x.dtype))


def layer(x, w):
    x = x + attention(w, norm(x, w["attention_norm"]))
    y = norm(x, w["mlp_norm"])
    gate, up = (y @ w[name].astype(x.dtype) for name in ("gate", "up"))
    return x + (jax.nn.silu(gate) * up) @ w["down"].astype(x.dtype), None


def loss(w, tokens, targets):
    x = w["embedding"].astype(jnp.bfloat16)[tokens]
    x, _ = jax.lax.scan(jax.checkpoint(layer), x, w["layers"])
    logits = (norm(x, w["norm"]) @ w["head"].astype(x.dtype)).astype(jnp.float32)
    chosen = jnp.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, -1) - chosen)


def adam(w, m, v, tokens, targets):
    value, g = jax.value_and_grad(loss)(w, tokens, targets)
    each = functools.partial(jax.tree.map)
    m = each(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = each(lambda v, g: 0.95 * v + 0.05 * g * g, v, g)
    w = each(lambda w, m, v: w - 3e-4 * (m / (jnp.sqrt(v) + 1e-8) + 0.1 * w), w, m, v)
    return value, w, m, v


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", required=True)
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--seq", type=int, default=8192)
    o = parser.parse_args()
    w = jax.tree.map(
        lambda shape: jax.ShapeDtypeStruct(shape, jnp.float32), shapes(o.layers), is_leaf=lambda x: isinstance(x, tuple)
    )
    tokens = jax.ShapeDtypeStruct((o.batch, o.seq), jnp.int32)
    text = jax.jit(adam).lower(w, w, w, tokens, tokens).as_text()
    with open(o.out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
