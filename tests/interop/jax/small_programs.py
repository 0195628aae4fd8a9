"""Small programs of many ops, as cases of check_ops.py: detection, mixtures of experts, diffusion, recurrent nets, decoding,
training steps."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax._src.lax.linalg import geqrf, ormqr

from ops import case, integers, lowered_for, normal


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


# --- boxes ------------------------------------------------------------------------------------------------------------


def pooled_regions(features, boxes):
    """Each box in 3 x 3 points, between four neighbours each."""

    def one(box):
        grid = lambda low, high: low + (jnp.arange(3) + 0.5) * (high - low) / 3
        y, x = jnp.meshgrid(grid(box[1], box[3]), grid(box[0], box[2]), indexing="ij")
        top, left = jnp.floor(y).astype(int), jnp.floor(x).astype(int)
        down, right = (y - top)[..., None], (x - left)[..., None]
        at = lambda i, j: features[jnp.clip(i, 0, features.shape[0] - 1), jnp.clip(j, 0, features.shape[1] - 1)]
        upper = at(top, left) * (1 - right) + at(top, left + 1) * right
        lower = at(top + 1, left) * (1 - right) + at(top + 1, left + 1) * right
        return upper * (1 - down) + lower * down

    return jax.vmap(one)(boxes)


def best_boxes(boxes, scores):
    """Non-maximum suppression as a loop that ends early."""
    corners = jnp.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:] + 0.05], 1)
    area = (corners[:, 2] - corners[:, 0]) * (corners[:, 3] - corners[:, 1])

    def step(state):
        i, left, kept = state
        best = jnp.argmax(left)
        size = jnp.clip(jnp.minimum(corners[best, 2:], corners[:, 2:]) - jnp.maximum(corners[best, :2], corners[:, :2]), 0)
        shared = size[:, 0] * size[:, 1]
        drop = (shared / (area + area[best] - shared) > 0.3) | (jnp.arange(len(scores)) == best)
        return i + 1, jnp.where(drop, -1e9, left), kept.at[i].set(best)

    return lax.while_loop(lambda s: (s[0] < 5) & (jnp.max(s[1]) > -1e8), step, (0, scores, jnp.full(5, -1)))[2]


# --- sequences --------------------------------------------------------------------------------------------------------


def label_loss(logits, labels):
    """Connectionist temporal classification: all ways to place the labels, with blanks between them."""
    score = jax.nn.log_softmax(logits)
    states = jnp.zeros(2 * labels.shape[0] + 1, int).at[1::2].set(labels)
    skips = jnp.concatenate([jnp.zeros(2, bool), (states[2:] != 0) & (states[2:] != states[:-2])])
    start = jnp.full(states.shape[0], -1e30).at[0].set(score[0, 0]).at[1].set(score[0, states[1]])

    def step(ways, now):
        one = jnp.concatenate([jnp.full(1, -1e30), ways[:-1]])
        two = jnp.where(skips, jnp.concatenate([jnp.full(2, -1e30), ways[:-2]]), -1e30)
        return jax.nn.logsumexp(jnp.stack([ways, one, two]), 0) + now[states], None

    ways = lax.scan(step, start, score[1:])[0]
    return -jnp.logaddexp(ways[-1], ways[-2])


def state_space(a, b, c, x):
    decay = jnp.exp(-jnp.abs(a)) * jnp.ones(x.shape + (1,))
    merge = lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1])
    return jnp.einsum("bldn,dn->bld", lax.associative_scan(merge, (decay, x[..., None] * b), axis=1)[1], c)


def linear_attention(decay, bonus, k, v, gate):
    """With the largest exponent so far kept apart (RWKV)."""

    def step(state, now):
        top, low, most = state
        k, v = now
        weigh = lambda a, b: (lambda m: (m, jnp.exp(a - m), jnp.exp(b - m)))(jnp.maximum(a, b))
        _, old, new = weigh(most, bonus + k)
        out = (old * top + new * v) / (old * low + new)
        most, old, new = weigh(most - jnp.exp(decay), k)
        return (old * top + new * v, old * low + new, most), out

    zero = jnp.zeros_like(k[0])
    return jax.nn.sigmoid(gate) * lax.scan(step, (zero, zero, zero - 1e38), (k, v))[1]


def long_filter(x, k):
    n = 2 * x.shape[1]
    return jnp.fft.irfft(jnp.fft.rfft(x, n, axis=1) * jnp.fft.rfft(k, n, axis=0), n, axis=1)[:, : x.shape[1]]


def beams(table, embedding):
    """The best three continuations, five tokens long."""

    def step(state, t):
        tokens, score, last = state
        all_scores = (score[:, :, None] + jax.nn.log_softmax(embedding[last] @ table)).reshape(2, -1)
        score, which = lax.top_k(all_scores, 3)
        beam, token = which // table.shape[1], which % table.shape[1]
        tokens = jnp.take_along_axis(tokens, beam[..., None], 1).at[:, :, t].set(token)
        return (tokens, score, token), None

    start = (jnp.zeros((2, 3, 5), int), jnp.tile(jnp.array([0.0, -1e9, -1e9]), (2, 1)), jnp.ones((2, 3), int))
    return lax.scan(step, start, jnp.arange(5))[0][:2]


def accepted(draft, target, key):
    """Tokens of a small model that a large one would have drawn, too, and its own where they end."""
    p, q = jax.nn.softmax(target), jax.nn.softmax(draft)
    first, second, third = jax.random.split(key, 3)
    token = jax.random.categorical(first, draft)
    of = lambda share: jnp.take_along_axis(share, token[..., None], -1)[..., 0]
    n = jnp.cumprod(jax.random.uniform(second, token.shape) < of(p) / of(q), -1).sum(-1)
    rest = jnp.maximum(p - q, 0)
    own = jax.random.categorical(third, jnp.log(rest / rest.sum(-1, keepdims=True) + 1e-9))
    at = jnp.minimum(n, draft.shape[1] - 1)[:, None]
    return jnp.where(jnp.arange(draft.shape[1]) < n[:, None], token, jnp.take_along_axis(own, at, 1)), n


# --- training ---------------------------------------------------------------------------------------------------------


def chosen_by_experts(router, up, down, x):
    share, row = lax.top_k(jax.nn.softmax(x @ router).T, 4)
    out = jnp.einsum("ecf,efd->ecd", jax.nn.relu(jnp.einsum("ecd,edf->ecf", x[row], up)), down) * share[..., None]
    return jnp.zeros_like(x).at[row.reshape(-1)].add(out.reshape(-1, x.shape[1]))


def in_eight_bits(first, last, x, y, scale):
    """Products of f8 forward, gradients in f8 backward."""

    @jax.custom_vjp
    def product(a, b):
        narrow = (a / scale).astype(jnp.float8_e4m3fn), b.astype(jnp.float8_e4m3fn)
        return lax.dot_general(*narrow, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32) * scale

    def backward(saved, g):
        g = g.astype(jnp.float8_e5m2).astype(jnp.float32)
        return g @ saved[1].T, saved[0].T @ g

    product.defvjp(lambda a, b: (product(a, b), (a, b)), backward)
    return jax.grad(lambda a, b: jnp.sum((jax.nn.relu(product(x, a)) @ b - y) ** 2), (0, 1))(first, last)


def by_largest_element(first, last, x, c):
    """Products of f8 with a scale for each tensor, a power of two; gradients narrowed by their own scales."""

    def narrow(a, kind, largest):
        amax = jnp.maximum(jnp.max(jnp.abs(a)), 1e-12)
        scale = lax.reduce_precision(amax * (1.5015 / largest), 8, 0)
        return (a * (1 / scale)).astype(kind), scale

    def product(a, b, contracted):
        dims = ((contracted[0],), (contracted[1],)), ((), ())
        return lax.dot_general(a[0], b[0], dims, preferred_element_type=jnp.float32) * (a[1] * b[1])

    @jax.custom_vjp
    def layer(a, b):
        return product(narrow(a, jnp.float8_e4m3fn, 448), narrow(b, jnp.float8_e4m3fn, 448), (1, 0))

    def forward(a, b):
        a, b = narrow(a, jnp.float8_e4m3fn, 448), narrow(b, jnp.float8_e4m3fn, 448)
        return product(a, b, (1, 0)), (a, b)

    def backward(saved, g):
        g = narrow(g, jnp.float8_e5m2, 57344)
        return product(g, saved[1], (1, 1)), product(saved[0], g, (0, 0))

    layer.defvjp(forward, backward)
    return jax.grad(lambda a, b: jnp.sum(layer(layer(x, a), b) * c), (0, 1))(first, last)


def mean_error(first, last, x, y):
    return jnp.mean((jax.nn.gelu(x @ first) @ last - y) ** 2)


def factored_step(first, last, rows, columns, x, y):
    """Second moments as a product of rows and columns, updates clipped (Adafactor)."""
    value, (g, h) = jax.value_and_grad(mean_error, (0, 1))(first, last, x, y)
    rows, columns = 0.9 * rows + 0.1 * jnp.mean(g * g, 1), 0.9 * columns + 0.1 * jnp.mean(g * g, 0)
    step = g * lax.rsqrt(rows[:, None] * columns / jnp.mean(rows) + 1e-6)
    step = step / jnp.maximum(1, jnp.sqrt(jnp.mean(step * step)))
    return first - 0.01 * step, last - 0.01 * h, rows, columns, value


def several_batches(first, last, x, y):
    """Gradients of four batches added up in a loop, and clipped."""
    grad = jax.value_and_grad(mean_error, (0, 1))
    add = lambda total, batch: (jax.tree.map(jnp.add, total, grad(first, last, *batch)), None)
    zero = jnp.zeros(()), (jnp.zeros_like(first), jnp.zeros_like(last))
    value, (g, h) = lax.scan(add, zero, (x.reshape(4, 2, -1), y.reshape(4, 2, -1)))[0]
    size = jnp.sqrt(jnp.vdot(g, g) + jnp.vdot(h, h))
    scale = jnp.where(size < 0.1, 1, 0.1 / size)
    return first - scale * g, last - scale * h, value / 4


def buckets(length, most):
    """Distances in buckets that grow like a logarithm (T5), which is infinite at 0."""
    far = jnp.abs(jnp.arange(length)[:, None] - jnp.arange(length))
    wide = most // 2 + jnp.log(far / (most // 2)) / jnp.log(4.0) * (most - most // 2)
    return jnp.where(far < most // 2, far, jnp.minimum(wide, most - 1).astype(int))


# --- cases ------------------------------------------------------------------------------------------------------------

KEY = np.array([3, 4], np.uint32)
case("non-maximum suppression", boxes_kept, np.abs(normal(16, 4)), normal(16))
case("experts by sorting", experts_by_sorting, normal(16, 8), normal(8, 4), normal(4, 8, 16), normal(4, 16, 8))
case("experts by capacity, gradient", jax.value_and_grad(lambda r, u, x: experts_by_capacity((r, u), x), (0, 1)), normal(8, 4), normal(4, 8, 6), normal(2, 8, 8))
case("denoising, gradient", jax.value_and_grad(lambda a, b, x, k: denoise((a, b), x, k), (0, 1)), normal(3, 3, 2, 8), normal(3, 3, 8, 2), normal(2, 8, 8, 2), KEY)
case("lstm, gradient", jax.value_and_grad(lambda a, b, x: lstm((a, b), x), (0, 1)), normal(4, 32), normal(8, 32), normal(6, 4, 4))
case("attention in blocks", paged_attention, normal(4, 8, 8), normal(4, 16, 8), normal(4, 16, 8))
case("sampling", sampled, normal(2, 6, 8), normal(8, 10), KEY)
case("graph of neighbours", lambda x, e: jax.ops.segment_sum(x[e[:, 0]], e[:, 1], 8) / jnp.maximum(jnp.bincount(e[:, 1], length=8), 1)[:, None], normal(8, 6), integers(0, 8, 20, 2))
BOXES = np.abs(normal(6, 4)) * np.array([1, 1, 3, 3], np.float32) + np.array([0, 0, 3, 3], np.float32)
LAYERS = normal(8, 16) * 0.3, normal(16, 4) * 0.3
BATCH = normal(8, 8), normal(8, 4)
case("regions of boxes", pooled_regions, normal(8, 8, 4), BOXES)
case("regions of boxes, gradient", jax.grad(lambda f, b: jnp.sum(pooled_regions(f, b) ** 2)), normal(8, 8, 4), BOXES)
case("suppression until none is left, of a batch", jax.vmap(best_boxes), np.abs(normal(2, 16, 4)), normal(2, 16))
case("loss of labels, gradient", jax.value_and_grad(lambda x, y: jnp.mean(jax.vmap(label_loss)(x, y))), normal(4, 8, 6), integers(1, 6, 4, 3))
case("state space, gradient", jax.grad(lambda *a: jnp.sum(state_space(*a) ** 2), (0, 1, 2)), normal(4, 3), normal(4, 3), normal(4, 3), normal(2, 7, 4))
case("linear attention", linear_attention, normal(6), normal(6), normal(8, 4, 6), normal(8, 4, 6), normal(8, 4, 6))
case("long filter, gradient", jax.grad(lambda k, x: jnp.sum(long_filter(x, k) ** 2)), normal(8, 4), normal(2, 8, 4))
case("beams", beams, normal(8, 10), normal(10, 8))
case("drafts accepted", accepted, normal(4, 5, 12), normal(4, 5, 12), KEY)
case("experts choose, gradient", jax.grad(lambda *a: jnp.mean(chosen_by_experts(*a) ** 2), (0, 1, 2)), normal(8, 4), normal(4, 8, 6), normal(4, 6, 8), normal(16, 8))
case("training in eight bits", in_eight_bits, *LAYERS, *BATCH, np.float32(2))
case("training in eight bits by the largest element", by_largest_element, normal(8, 12), normal(12, 4), normal(6, 8), normal(6, 4))
case("factored second moments", factored_step, *LAYERS, np.ones(8, np.float32), np.ones(16, np.float32), *BATCH)
case("batches in a loop", several_batches, *LAYERS, *BATCH)
case("buckets of distances", lambda table: table[buckets(12, 8)], normal(8, 4))


def symmetric(a):
    return a @ a.mT + jnp.eye(a.shape[-1]) * 2


def rebuilt(vectors, values):
    """What eigenvectors and eigenvalues stand for, whatever the signs of vectors."""
    return jnp.einsum("...ij,...j,...kj->...ik", vectors, values, vectors)


def shrunk(a):
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return jnp.einsum("...ij,...j,...jk->...ik", u, jnp.maximum(s - 0.5, 0), vt), s


def spanned(a):
    u, s, vt = jnp.linalg.svd(a)
    k = s.shape[-1]
    return jnp.einsum("...ij,...kj->...ik", u[..., k:], u[..., k:]), jnp.einsum("...ji,...jk->...ik", vt[..., k:, :], vt[..., k:, :])


case("linalg: cholesky, in batches", lambda a: jnp.linalg.cholesky(symmetric(a)), normal(4, 5, 5))
case("linalg: cholesky of what is not positive", lambda a: jnp.linalg.cholesky(a - 9 * jnp.eye(4)), normal(2, 4, 4))
case("linalg: solve", lambda a, b: jnp.linalg.solve(symmetric(a), b), normal(4, 6, 6), normal(4, 6, 3))
case("linalg: inverse and determinant", lambda a: (jnp.linalg.inv(a), *jnp.linalg.slogdet(a)), normal(4, 5, 5) + 3 * np.eye(5, dtype=np.float32))
case("linalg: qr", lambda a: tuple(jnp.linalg.qr(a)), normal(4, 6, 4))
case("linalg: qr of wide and of all", lambda a: (*jnp.linalg.qr(a), *jnp.linalg.qr(a.mT, mode="complete")), normal(2, 3, 5))
case("linalg: eigh", lambda a: (jnp.linalg.eigvalsh(symmetric(a)), rebuilt(*jnp.linalg.eigh(symmetric(a))[::-1])), normal(4, 6, 6))
case("linalg: svd", shrunk, normal(4, 6, 4))
case("linalg: svd of wide", shrunk, normal(4, 8))
case("linalg: svd, full", spanned, normal(2, 6, 4))
case("linalg: least squares", lambda a, b: jnp.linalg.lstsq(a, b)[0], normal(8, 4), normal(8, 2))
case("linalg: svd by QR", lambda a: jax.lax.linalg.svd(a, full_matrices=False, compute_uv=False, algorithm=jax.lax.linalg.SvdAlgorithm.QR), normal(4, 6, 4))
case("linalg: singular values alone", lambda a: jnp.linalg.svd(a, compute_uv=False), normal(4, 4, 6))
COMPLEX = (normal(3, 4, 4) + 1j * normal(3, 4, 4)).astype(np.complex64)
POSITIVE = (COMPLEX @ np.conj(np.swapaxes(COMPLEX, 1, 2)) + 4 * np.eye(4)).astype(np.complex64)
lowered_for("tpu", "linalg: cholesky, complex", lambda a: (jnp.linalg.cholesky(a), jnp.linalg.cholesky(a, upper=True)), POSITIVE)
for left in (True, False):
    for how in ({}, {"transpose_a": True}, {"transpose_a": True, "conjugate_a": True}):
        turned = "".join(" " + k for k in how)
        lowered_for("tpu", f"linalg: triangular_solve, complex, {left}{turned}", lambda a, b, h=dict(how, left_side=left): lax.linalg.triangular_solve(a, b, lower=True, **h), POSITIVE, COMPLEX)


def with_phases(vectors):
    """Eigenvectors as far as they are one: the largest element of each column real and positive."""
    at = jnp.argmax(jnp.abs(vectors) * (1 + 1e-3 * jnp.arange(vectors.shape[-2])[:, None]), -2)
    largest = jnp.take_along_axis(vectors, at[..., None, :], -2)
    return vectors * (jnp.abs(largest) / largest)


def general(a):
    """Eigenvalues and vectors, and whether those of both sides are."""
    w, left, right = lax.linalg.eig(a)
    z = a.astype(w.dtype)
    near = lambda x, y: jnp.all(jnp.abs(x - y) < 1e-4, (-2, -1))
    return w, with_phases(right), near(z @ right, right * w[..., None, :]), near(left.conj().mT @ z, w[..., None] * left.conj().mT)


def triangular_form(a):
    t, z = jax.scipy.linalg.schur(a, output="complex" if jnp.iscomplexobj(a) else "real")
    return z @ t @ z.conj().T, jnp.round(jnp.abs(z.conj().T @ z), 4), jnp.abs(jnp.diagonal(t))


def pivoted(a):
    q, r, p = jax.scipy.linalg.qr(a, pivoting=True, mode="economic")
    return q, r, p


def tridiagonal_form(a):
    arr, d, e, taus = lax.linalg.tridiagonal(symmetric(a) if not jnp.iscomplexobj(a) else a + a.conj().mT)
    return arr, d, e, taus


TALL = (normal(3, 6, 4) + 1j * normal(3, 6, 4)).astype(np.complex64)
DIAGONALS = (normal(4, 6), normal(4, 6) + 4, normal(4, 6))
case("linalg: eig", general, normal(4, 5, 5))
case("linalg: eig, complex", general, COMPLEX)
case("linalg: eigenvalues alone, and the roots of a polynomial", lambda a, p: (jnp.linalg.eigvals(a), jnp.roots(p, strip_zeros=False)), normal(4, 4, 4), normal(5))
case("linalg: eig of what is not finite", lambda a: jnp.linalg.eigvals(a.at[0, 1, 2].set(jnp.inf)), normal(2, 3, 3))
case("linalg: schur", triangular_form, normal(5, 5))
case("linalg: schur, complex", triangular_form, COMPLEX[0])
case("linalg: square root of a matrix", lambda a: jax.scipy.linalg.sqrtm(symmetric(a)), normal(4, 4))
case("linalg: hessenberg", lambda a: tuple(jax.scipy.linalg.hessenberg(a, calc_q=True)), normal(4, 5, 5))
case("linalg: hessenberg, complex", lambda a: lax.linalg.hessenberg(a), COMPLEX)
case("linalg: tridiagonal", tridiagonal_form, normal(4, 5, 5))
case("linalg: tridiagonal, complex", tridiagonal_form, COMPLEX)
case("linalg: tridiagonal_solve", lax.linalg.tridiagonal_solve, *DIAGONALS, normal(4, 6, 4))
case("linalg: tridiagonal_solve, complex", lambda dl, d, du, b: lax.linalg.tridiagonal_solve(*((x + 0.5j * dl).astype(b.dtype) for x in (dl, d, du)), b), *DIAGONALS, np.tile(TALL[:1], (4, 1, 1)))
case("linalg: tridiagonal_solve of what is singular", lambda d, b: lax.linalg.tridiagonal_solve(0 * d, jnp.where(jnp.arange(24).reshape(4, 6) == 8, 0, d), 0 * d, b), DIAGONALS[1], normal(4, 6, 2))
case("linalg: qr with pivots", pivoted, normal(6, 4))
case("linalg: qr with pivots, in batches, complex", pivoted, TALL)
case("linalg: qr, complex", lambda a: tuple(jnp.linalg.qr(a)), TALL)
case("linalg: products with reflectors", lambda a, c: tuple(ormqr(*geqrf(a), c if left else c.mT, left=left, transpose=transpose) for left in (True, False) for transpose in (True, False)), normal(4, 6, 4), normal(4, 6, 3))
case("linalg: products with reflectors, complex", lambda a: tuple(ormqr(*geqrf(a), a if left else a.mT, left=left, transpose=True) for left in (True, False)), TALL)
case("linalg: lu, solve and determinant, complex", lambda a: (*lax.linalg.lu(a), jnp.linalg.solve(a, a.mT), jnp.linalg.det(a)), COMPLEX)
case("linalg: cholesky and solve, complex", lambda a, b: (jnp.linalg.cholesky(a), jax.scipy.linalg.solve(a, b, assume_a="pos")), POSITIVE[:2], COMPLEX[:2])
case("linalg: svd, complex", lambda a: (jnp.linalg.svd(a, compute_uv=False), jnp.linalg.pinv(a)), TALL)
case("linalg: svd, full and complex", lambda a: [jnp.abs(x) for x in jnp.linalg.svd(a)[1:2]] + [with_phases(jnp.linalg.svd(a)[0][..., :4])], TALL)
case("linalg: eigh, complex", lambda a: (jnp.linalg.eigvalsh(a), with_phases(jnp.linalg.eigh(a)[1])), POSITIVE)
case("linalg: exponential and logarithm of a matrix", lambda a: (jax.scipy.linalg.expm(a / 4), jax.scipy.linalg.polar(a)[0]), normal(4, 4))
case("linalg: eigenvalues of a tridiagonal matrix", lambda d, e: jax.scipy.linalg.eigh_tridiagonal(d, e, eigvals_only=True), normal(6), normal(5))
case("linalg: gradient of eigenvalues of any matrix", jax.grad(lambda a: jnp.sum(jnp.abs(jnp.linalg.eigvals(a)) ** 2)), normal(4, 4))
case("linalg: gradient of tridiagonal_solve", jax.grad(lambda dl, d, du, b: jnp.sum(lax.linalg.tridiagonal_solve(dl, d, du, b) ** 2), (0, 1, 2, 3)), *DIAGONALS, normal(4, 6, 2))
for platform in ("cuda", "rocm"):
    lowered_for(platform, f"linalg: tridiagonal_solve, for {platform}", lax.linalg.tridiagonal_solve, *DIAGONALS, normal(4, 6, 4))
    lowered_for(platform, f"linalg: tridiagonal, for {platform}", tridiagonal_form, normal(4, 5, 5))
    lowered_for(platform, f"linalg: products with reflectors, for {platform}", lambda a, c: ormqr(*geqrf(a), c, left=True, transpose=True), normal(4, 6, 4), normal(4, 6, 3))
    lowered_for(platform, f"linalg: svd of large, for {platform}", lambda a: jnp.linalg.svd(a, compute_uv=False), normal(1100, 4))
    lowered_for(platform, f"linalg: eigh, for {platform}", lambda a: (jnp.linalg.eigvalsh(symmetric(a)), with_phases(jnp.linalg.eigh(symmetric(a))[1])), normal(4, 6, 6))
    lowered_for(platform, f"linalg: svd, complex, for {platform}", lambda a: jnp.linalg.pinv(a), TALL)
case("product of complex numbers", lambda a: jnp.prod(a, 1), COMPLEX)
for platform in ("cuda", "rocm", "tpu"):
    on = f", for {platform}"
    lowered_for(platform, "linalg: solve" + on, lambda a, b: jnp.linalg.solve(symmetric(a), b), normal(4, 6, 6), normal(4, 6, 3))
    lowered_for(platform, "linalg: lu" + on, lambda a: tuple(lax.linalg.lu(a)), normal(4, 5, 7))
    lowered_for(platform, "linalg: lu of tall" + on, lambda a: tuple(lax.linalg.lu(a)), normal(2, 7, 4))
    lowered_for(platform, "linalg: determinant" + on, lambda a: tuple(jnp.linalg.slogdet(a)), normal(4, 5, 5))
    lowered_for(platform, "linalg: qr" + on, lambda a: tuple(jnp.linalg.qr(a)), normal(4, 6, 4))
    lowered_for(platform, "linalg: svd" + on, shrunk, normal(4, 6, 4))
    lowered_for(platform, "linalg: svd of wide" + on, shrunk, normal(4, 8))
case("linalg: gradient through cholesky and solve", jax.grad(lambda a, b: (jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(symmetric(a)), True), b) ** 2).sum()), normal(4, 4), normal(4, 2))
case("linalg: gradient of eigenvalues", jax.grad(lambda a: jnp.sum(jnp.linalg.eigvalsh(symmetric(a)) ** 2)), normal(4, 4))


# --- few bits ---------------------------------------------------------------------------------------------------------


def cache_of_8_bits(query, keys, values, new, step):
    """One step of decoding with a cache in f8."""
    keys = lax.dynamic_update_slice(keys, new[:, None].astype(keys.dtype), (0, step, 0, 0))
    values = lax.dynamic_update_slice(values, new[:, None].astype(values.dtype), (0, step, 0, 0))
    scores = jnp.einsum("bhd,bshd->bhs", query, keys.astype(jnp.float32))
    scores = jax.nn.softmax(jnp.where(jnp.arange(keys.shape[1]) <= step, scores, -1e9), -1)
    return jnp.einsum("bhs,bshd->bhd", scores, values.astype(jnp.float32)), keys, values


def in_blocks(x, w):
    """A product of what is in f4 with a power of two for each 8 numbers."""

    def rounded(v):
        blocks = v.reshape(v.shape[0], -1, 8)
        scale = jnp.exp2(jnp.floor(jnp.log2(jnp.max(jnp.abs(blocks), -1, keepdims=True)))).astype(jnp.float8_e8m0fnu)
        scale = scale.astype(jnp.float32)
        return ((blocks / scale).astype(jnp.float4_e2m1fn).astype(jnp.float32) * scale).reshape(v.shape)

    return rounded(x) @ rounded(w).T


def moved(a, b):
    """Ops that move and order integers of 4 bits."""
    parts = jnp.concatenate([a, b], 1), jnp.pad(a, ((1, 1), (0, 2))), a[::-1], jnp.take(a, jnp.array([3, 0, 1]), 0)
    return jnp.sort(a, 0), jnp.argmax(a, 1), jnp.where(a > b, a, b), lax.dynamic_slice(a, (2, 1), (4, 3)), *parts


def int4(*shape):
    return integers(-8, 8, *shape).astype(ml_dtypes.int4)


case("few bits: layers in a loop", lambda w, x: lax.scan(lambda h, layer: (jnp.tanh(h @ layer.astype(jnp.float32) / 8), None), x, w)[0], int4(3, 16, 16), normal(8, 16))
case("few bits: groups with scales and zeros", lambda x, w, s, z: x @ ((w.astype(jnp.int8) - z.astype(jnp.int8)[:, None]).astype(jnp.float32) * s[:, None]).reshape(64, 24), normal(8, 64), int4(4, 16, 24), normal(4, 24), int4(4, 24))
case("few bits: a table", lambda codes, table: table[codes.astype(jnp.int32)], integers(0, 16, 8, 16).astype(ml_dtypes.uint4), normal(16))
case("few bits: moved", moved, int4(8, 6), int4(8, 6))
case("few bits: cache of 8 bits", cache_of_8_bits, normal(2, 4, 8), normal(2, 16, 4, 8).astype(ml_dtypes.float8_e4m3fn), normal(2, 16, 4, 8).astype(ml_dtypes.float8_e4m3fn), normal(2, 4, 8), np.int32(5))
case("few bits: blocks of 4 bits", in_blocks, normal(8, 32), normal(16, 32))
