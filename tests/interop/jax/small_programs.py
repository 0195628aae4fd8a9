"""Small programs of many ops, as cases of check_ops.py: detection, mixtures of experts, diffusion, recurrent nets, decoding."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ops import case, integers, normal


def boxes_kept(boxes, scores):
    """Non-maximum suppression: the best boxes that do not overlap better ones."""
    n = scores.shape[0]
    corners = jnp.concatenate([boxes[:, :2], boxes[:, :2] + jnp.abs(boxes[:, 2:]) + 0.05], 1)
    order = jnp.argsort(-scores)
    best = corners[order]
    area = (best[:, 2] - best[:, 0]) * (best[:, 3] - best[:, 1])
    size = jnp.clip(jnp.minimum(best[:, None, 2:], best[None, :, 2:]) - jnp.maximum(best[:, None, :2], best[None, :, :2]), 0)
    shared = size[..., 0] * size[..., 1]
    overlap = shared / (area[:, None] + area[None] - shared)
    drop = lambda i, keep: keep & ~((overlap[i] > 0.3) & (jnp.arange(n) > i) & keep[i])
    keep = lax.fori_loop(0, n, drop, jnp.ones(n, bool))
    return lax.top_k(jnp.where(keep, scores[order], -1e9), 4)


def experts_by_sorting(x, router, up, down):
    weight, expert = lax.top_k(jax.nn.softmax(x @ router), 2)
    order = jnp.argsort(expert.reshape(-1))
    sizes = jnp.bincount(expert.reshape(-1), length=router.shape[1]).astype(jnp.int32)
    hidden = jax.nn.relu(lax.ragged_dot(x[order // 2], up, sizes))
    out = lax.ragged_dot(hidden, down, sizes) * weight.reshape(-1)[order][:, None]
    return jnp.zeros_like(x).at[order // 2].add(out)


def experts_by_capacity(weights, x):
    router, up = weights
    share = jax.nn.softmax(jnp.einsum("bsd,de->bse", x, router))
    chosen = jax.nn.one_hot(jnp.argmax(share, -1), router.shape[1])
    place = jnp.cumsum(chosen, 1) * chosen - 1
    inside = (place < 3) & (place >= 0)
    sent = chosen[..., None] * jax.nn.one_hot(place.astype(int), 3) * inside[..., None]
    out = jnp.einsum("ebcd,edf->ebcf", jnp.einsum("bsd,bsec->ebcd", x, sent), up)
    return jnp.mean(jnp.einsum("ebcf,bsec->bsf", out, sent * share[..., None]) ** 2)


def denoise(weights, x, key):
    first, last = weights
    conv = lambda v, w: lax.conv_general_dilated(v, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    noise = jax.random.normal(key, x.shape)
    h = conv(0.8 * x + 0.6 * noise, first)
    groups = h.reshape(*h.shape[:3], 2, -1)
    mean, var = groups.mean((1, 2, 4), keepdims=True), groups.var((1, 2, 4), keepdims=True)
    h = jax.nn.silu(((groups - mean) / jnp.sqrt(var + 1e-5)).reshape(h.shape))
    return jnp.mean((conv(h, last) - noise) ** 2)


def lstm(weights, x):
    def step(state, v):
        h, c = state
        i, f, g, o = jnp.split(v @ weights[0] + h @ weights[1], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = jnp.zeros((x.shape[1], weights[1].shape[0]))
    return jnp.mean(lax.scan(step, (zero, zero), x)[1] ** 2)


def paged_attention(q, k, v):
    """A block of keys at a time, with the running maximum and sum."""

    def step(state, block):
        top, total, out = state
        score = jnp.einsum("hid,hjd->hij", q, block[0])
        new = jnp.maximum(top, score.max(-1))
        p, shrink = jnp.exp(score - new[..., None]), jnp.exp(top - new)
        return (new, total * shrink + p.sum(-1), out * shrink[..., None] + jnp.einsum("hij,hjd->hid", p, block[1])), None

    blocks = [a.reshape(a.shape[0], 2, -1, a.shape[2]).transpose(1, 0, 2, 3) for a in (k, v)]
    start = (jnp.full(q.shape[:2], -jnp.inf), jnp.zeros(q.shape[:2]), jnp.zeros(q.shape))
    top, total, out = lax.scan(step, start, tuple(blocks))[0]
    return out / total[..., None]


def sampled(hidden, table, key):
    """Tokens until one of them ends the text."""

    def step(state):
        i, tokens, alive, key = state
        key, now = jax.random.split(key)
        token = jax.random.categorical(now, lax.dynamic_index_in_dim(hidden, i, 1, False) @ table)
        return i + 1, lax.dynamic_update_index_in_dim(tokens, token, i, 1), alive & (token != 3), key

    start = (0, jnp.zeros(hidden.shape[:2], jnp.int32), jnp.ones(hidden.shape[0], bool), key)
    return lax.while_loop(lambda s: (s[0] < hidden.shape[1]) & jnp.any(s[2]), step, start)[1]


KEY = np.array([3, 4], np.uint32)
case("non-maximum suppression", boxes_kept, np.abs(normal(16, 4)), normal(16))
case("experts by sorting", experts_by_sorting, normal(16, 8), normal(8, 4), normal(4, 8, 16), normal(4, 16, 8))
case("experts by capacity, gradient", jax.value_and_grad(lambda r, u, x: experts_by_capacity((r, u), x), (0, 1)), normal(8, 4), normal(4, 8, 6), normal(2, 8, 8))
case("denoising, gradient", jax.value_and_grad(lambda a, b, x, k: denoise((a, b), x, k), (0, 1)), normal(3, 3, 2, 8), normal(3, 3, 8, 2), normal(2, 8, 8, 2), KEY)
case("lstm, gradient", jax.value_and_grad(lambda a, b, x: lstm((a, b), x), (0, 1)), normal(4, 32), normal(8, 32), normal(6, 4, 4))
case("attention in blocks", paged_attention, normal(4, 8, 8), normal(4, 16, 8), normal(4, 16, 8))
case("sampling", sampled, normal(2, 6, 8), normal(8, 10), KEY)
case("graph of neighbours", lambda x, e: jax.ops.segment_sum(x[e[:, 0]], e[:, 1], 8) / jnp.maximum(jnp.bincount(e[:, 1], length=8), 1)[:, None], normal(8, 6), integers(0, 8, 20, 2))
