"""Models in plain JAX, small enough to run in a test.

MODELS: name -> a function that returns (function, arguments). Numbers come from a seed, so every run has the same.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np

MODELS = {}


def model(make):
    MODELS[make.__name__] = make
    return make


class Numbers:
    """Random arrays; weights are scaled by the size that they contract."""

    def __init__(self, dtype=np.float32, seed=0):
        self.rng = np.random.default_rng(seed)
        self.dtype = dtype

    def normal(self, *shape):
        return np.asarray(self.rng.standard_normal(shape), np.float32).astype(self.dtype)

    def weight(self, *shape):
        return (self.normal(*shape).astype(np.float32) / np.sqrt(shape[0])).astype(self.dtype)

    def index(self, most, *shape):
        return self.rng.integers(0, most, shape).astype(np.int32)


# --- parts ------------------------------------------------------------------------------------------------------------


def norm(x, scale):
    wide = x.astype(jnp.float32)
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return wide.astype(x.dtype) * scale


def attention(q, k, v, mask):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    scores = jnp.where(mask, scores, jnp.asarray(-1e9, scores.dtype))
    weights = jax.nn.softmax(scores.astype(jnp.float32), -1).astype(q.dtype)
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def block_weights(n, width, heads):
    return {
        "norm1": np.ones(width, n.dtype),
        "qkv": n.weight(width, 3, heads, width // heads),
        "out": n.weight(heads, width // heads, width),
        "norm2": np.ones(width, n.dtype),
        "up": n.weight(width, 4 * width),
        "down": n.weight(4 * width, width),
    }


def block(w, x, causal):
    h = norm(x, w["norm1"])
    q, k, v = jnp.moveaxis(jnp.einsum("bsw,wchd->bschd", h, w["qkv"]), 2, 0)
    t = x.shape[1]
    mask = jnp.tril(jnp.ones((t, t), bool)) if causal else jnp.ones((t, t), bool)
    x = x + jnp.einsum("bqhd,hdw->bqw", attention(q, k, v, mask), w["out"])
    h = norm(x, w["norm2"])
    return x + jax.nn.gelu(h @ w["up"]) @ w["down"]


def adam(loss, params, moments, *data):
    """One step; moments are (m, v)."""
    value, grads = jax.value_and_grad(loss)(params, *data)
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, moments[0], grads)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, moments[1], grads)
    moved = jax.tree.map(lambda p, m, v: p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), params, first, second)
    return value, moved, (first, second)


def moments_of(params):
    # second moments away from zero: one step divides by their roots
    return (jax.tree.map(np.zeros_like, params), jax.tree.map(np.ones_like, params))


# --- models -----------------------------------------------------------------------------------------------------------


def mlp_forward(layers, x):
    for w, b in layers[:-1]:
        x = jax.nn.relu(x @ w + b)
    return x @ layers[-1][0] + layers[-1][1]


def mlp_layers(n):
    return [(n.weight(64, 128), n.normal(128)), (n.weight(128, 128), n.normal(128)), (n.weight(128, 16), n.normal(16))]


@model
def mlp():
    n = Numbers()
    return mlp_forward, (mlp_layers(n), n.normal(32, 64))


@model
def mlp_train():
    n = Numbers()
    layers = mlp_layers(n)

    def loss(layers, x, y):
        return jnp.mean((mlp_forward(layers, x) - y) ** 2)

    return functools.partial(adam, loss), (layers, moments_of(layers), n.normal(32, 64), n.normal(32, 16))


def gpt_forward(params, tokens):
    x = params["embed"][tokens] + params["position"][: tokens.shape[1]]
    for w in params["blocks"]:
        x = block(w, x, causal=True)
    return x @ params["embed"].T


def gpt_params(n):
    return {"embed": n.weight(96, 32), "position": n.normal(16, 32), "blocks": [block_weights(n, 32, 4) for _ in range(2)]}


@model
def gpt():
    n = Numbers()
    return gpt_forward, (gpt_params(n), n.index(96, 8, 16))


@model
def gpt_bf16():
    n = Numbers(jnp.bfloat16)
    return gpt_forward, (gpt_params(n), n.index(96, 8, 16))


@model
def gpt_train():
    n = Numbers()
    params = gpt_params(n)

    def loss(params, tokens, targets):
        log_probabilities = jax.nn.log_softmax(gpt_forward(params, tokens))
        return -jnp.mean(jnp.sum(log_probabilities * jax.nn.one_hot(targets, 96), -1))

    return functools.partial(adam, loss), (params, moments_of(params), n.index(96, 8, 16), n.index(96, 8, 16))


@model
def remat():
    """Gradients of layers in a loop whose values are computed again: what stands behind barriers, and in functions that
    forward and backward layers call in two ways."""
    n = Numbers()
    layers = {"scale": n.normal(2, 4, 8), "up": n.weight(2, 8, 24), "down": n.weight(2, 24, 8)}

    def layer(x, w):
        h = (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)
        late = jnp.concatenate([jnp.zeros_like(h[:, :1]), h[:, :-1]], 1)
        mixed = [h * s + late * (1 - s) for s in w["scale"]]
        return x + (jax.nn.silu(mixed[0] @ w["up"]) * jax.nn.softplus(mixed[1] @ w["up"])) @ w["down"], None

    def loss(layers, x, y):
        return jnp.mean((jax.lax.scan(jax.checkpoint(layer), x, layers)[0] - y) ** 2)

    return jax.value_and_grad(loss), (layers, n.normal(2, 10, 8), n.normal(2, 10, 8))


@model
def graph_attention():
    """A training step on a graph: attention over edges, which are gathered and summed by their ends; 10 nodes, which no mesh
    here divides."""
    n = Numbers()
    params = {"w": n.weight(2, 8, 8), "from": n.weight(2, 2, 4), "to": n.weight(2, 2, 4), "out": n.weight(8, 2)}
    senders, receivers = n.index(10, 30), np.sort(n.index(10, 30))

    def loss(params, x, y):
        for w, a, b in zip(params["w"], params["from"], params["to"]):
            h = (x @ w).reshape(10, 2, 4)
            e = jax.nn.leaky_relu((h * a).sum(-1)[senders] + (h * b).sum(-1)[receivers])
            e = jnp.exp(e - jax.ops.segment_max(e, receivers, 10)[receivers])
            e = e / (jax.ops.segment_sum(e, receivers, 10)[receivers] + 1e-9)
            x = jax.nn.elu(jax.ops.segment_sum(h[senders] * e[..., None], receivers, 10).reshape(10, 8))
        return jnp.mean((x @ params["out"] - y) ** 2)

    return jax.value_and_grad(loss), (params, n.normal(10, 8), n.normal(10, 2))


@model
def moe():
    """Top-2 routing by dense dispatch and combine."""
    n = Numbers()
    params = {"router": n.weight(32, 8), "up": n.weight(32, 8, 64), "down": n.weight(64, 8, 32)}

    def forward(params, x):
        gates = jax.nn.softmax(x @ params["router"])
        best, which = jax.lax.top_k(gates, 2)
        combine = jnp.sum(jax.nn.one_hot(which, 8) * (best / jnp.sum(best, -1, keepdims=True))[..., None], -2)
        h = jax.nn.silu(jnp.einsum("btw,weh->beth", x, params["up"]))
        return jnp.einsum("beth,hew,bte->btw", h, params["down"], combine)

    return forward, (params, n.normal(4, 16, 32))


@model
def convnet():
    n = Numbers()
    params = {"first": n.weight(3, 3, 3, 16), "second": n.weight(3, 3, 16, 32), "out": n.weight(32, 10)}

    def forward(params, x):
        layout = ("NHWC", "HWIO", "NHWC")
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, params["first"], (1, 1), "SAME", dimension_numbers=layout))
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(jax.lax.conv_general_dilated(x, params["second"], (2, 2), "SAME", dimension_numbers=layout))
        return jnp.mean(x, (1, 2)) @ params["out"]

    return forward, (params, n.normal(8, 16, 16, 3))


@model
def vit():
    n = Numbers()
    params = {
        "patch": n.weight(4, 4, 3, 32),
        "class": n.normal(1, 1, 32),
        "position": n.normal(17, 32),
        "blocks": [block_weights(n, 32, 4)],
        "head": n.weight(32, 10),
    }

    def forward(params, images):
        x = jax.lax.conv_general_dilated(
            images, params["patch"], (4, 4), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = x.reshape(x.shape[0], -1, x.shape[-1])
        x = jnp.concatenate([jnp.broadcast_to(params["class"], (x.shape[0], 1, 32)), x], 1) + params["position"]
        for w in params["blocks"]:
            x = block(w, x, causal=False)
        return x[:, 0] @ params["head"]

    return forward, (params, n.normal(8, 16, 16, 3))


@model
def decode():
    """One token against a cache of keys and values, which comes back with the token's own written into it."""
    n = Numbers()
    w = {"q": n.weight(32, 4, 8), "k": n.weight(32, 4, 8), "v": n.weight(32, 4, 8), "out": n.weight(4, 8, 32)}

    def forward(w, keys, values, x, at):
        q = jnp.einsum("bw,whd->bhd", x, w["q"])[:, None]
        keys = jax.lax.dynamic_update_slice(keys, jnp.einsum("bw,whd->bhd", x, w["k"])[:, None], (0, at, 0, 0))
        values = jax.lax.dynamic_update_slice(values, jnp.einsum("bw,whd->bhd", x, w["v"])[:, None], (0, at, 0, 0))
        seen = jnp.arange(keys.shape[1]) <= at
        out = attention(q, keys, values, seen[None, None, None, :])
        return jnp.einsum("bqhd,hdw->bw", out, w["out"]), keys, values

    return forward, (w, n.normal(8, 16, 4, 8), n.normal(8, 16, 4, 8), n.normal(8, 32), np.int32(5))


@model
def scanned():
    """Layers in a loop over stacked weights."""
    n = Numbers()
    layers = [block_weights(n, 32, 4) for _ in range(3)]
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), *layers)

    def forward(stacked, x):
        return jax.lax.scan(lambda x, w: (block(w, x, causal=True), None), x, stacked)[0]

    return forward, (stacked, n.normal(8, 16, 32))
