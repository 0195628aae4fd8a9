"""Programs with parts written by device (jax.shard_map), as cases of check_ops.py, on the mesh x=2,y=2."""

import jax
import jax.numpy as jnp
from jax import lax
from jax.sharding import PartitionSpec as P

from ops import CASES, case, integers, normal

MANUAL = set()
IN_TILES = set()  # those of them that are also written in GSPMD's form, as older JAX does


def mesh():
    return jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def manual(name, function, ins, outs, *arguments, **more):
    """`function` on the devices' parts; axes that `axes` leaves out are not manual."""
    axes = more.pop("axes", ("x", "y"))
    whole = lambda *a: jax.shard_map(function, mesh=mesh(), in_specs=ins, out_specs=outs, axis_names=set(axes), check_vma=False)(*a)
    case("by device: " + name, more.pop("around", lambda f: f)(whole), *arguments)
    MANUAL.add("by device: " + name)
    IN_TILES.add("in tiles: " + name)
    MANUAL.add("in tiles: " + name)
    CASES["in tiles: " + name] = CASES["by device: " + name]


BOTH = ("x", "y")
RING = [(0, 1), (1, 0)]
FOUR = [(0, 1), (1, 2), (2, 3), (3, 0)]

manual("psum over one axis", lambda a: lax.psum(a, "x"), P("x", "y"), P(None, "y"), normal(8, 4))
manual("psum over all", lambda a: lax.psum(a, BOTH), P("x", "y"), P(), normal(8, 4))
manual("pmax and pmin", lambda a: lax.pmax(a, "y") - lax.pmin(a, "y"), P("x", "y"), P("x"), normal(8, 4))
manual("pmean of bf16", lambda a: lax.pmean(a, BOTH), P(BOTH), P(), normal(8, 4).astype(jnp.bfloat16))
manual("psum_scatter, tiled", lambda a: lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True), P("x"), P("x", "y"), normal(8, 4))
manual("psum_scatter", lambda a: lax.psum_scatter(a, "x", scatter_dimension=0)[None], P(None, "y"), P("x", "y"), normal(2, 4))
manual("psum_scatter over all", lambda a: lax.psum_scatter(a, BOTH, tiled=True), P(), P(BOTH), integers(0, 9, 8, 3))
manual("all_gather", lambda a: lax.all_gather(a, "x"), P("x", "y"), P(None, None, "y"), normal(8, 4))
manual("all_gather, tiled", lambda a: lax.all_gather(a, "y", axis=1, tiled=True), P("x", "y"), P("x"), normal(8, 4))
manual("all_gather over all, minor first", lambda a: lax.all_gather(a, ("y", "x"), tiled=True), P(("y", "x")), P(), normal(8, 3))
manual("all_to_all", lambda a: lax.all_to_all(a, "x", 0, 1, tiled=True), P("x", "y"), P(None, ("y", "x")), normal(8, 4))
manual("all_to_all back", lambda a: lax.all_to_all(a, "y", 2, 0, tiled=True), P("y", "x"), P(None, "x", "y"), normal(4, 2, 6))
manual("all_to_all of one dim", lambda a: lax.all_to_all(a, "y", 0, 0), P(None, "x", "y"), P("y", "x"), integers(0, 99, 2, 4, 6))
manual("all_to_all over all", lambda a: lax.all_to_all(a, BOTH, 1, 0, tiled=True), P(BOTH), P(None, BOTH), normal(4, 8))
manual("ppermute in a ring", lambda a: lax.ppermute(a, "x", RING), P("x", "y"), P("x", "y"), normal(8, 4))
manual("ppermute over all", lambda a: lax.ppermute(a, BOTH, FOUR), P(BOTH), P(BOTH), normal(8, 4))
manual("ppermute to the next alone", lambda a: lax.ppermute(a, "y", [(0, 1)]), P("x", "y"), P("x", "y"), normal(8, 4))
manual("ppermute of what all have", lambda a: lax.ppermute(a, "y", [(1, 0)]), P("x"), P(("x", "y")), normal(8, 4))
manual("axis_index", lambda a: a + lax.axis_index("x") * 10 + lax.axis_index("y"), P("x", "y"), P("x", "y"), normal(8, 4))
manual("axis_index of one axis", lambda a: a * lax.axis_index("y").astype(jnp.float32), P(None, "y"), P(None, "y"), normal(8, 4))
manual("a part of what all have", lambda a: lax.dynamic_slice_in_dim(a, lax.axis_index(BOTH) * 2, 2), P(), P(BOTH), normal(8, 4))
manual("a part replaced", lambda a, b: lax.dynamic_update_slice(a, b, (lax.axis_index("x"), 3)), (P(None, "y"), P("x")), P("x", "y"), normal(4, 10), normal(4, 2))
manual("matmul, rows and columns", lambda a, b: lax.psum(a @ b, "y"), (P("x", "y"), P("y")), P("x"), normal(8, 4), normal(4, 6))
manual("weights that all have", lambda a, w, b: jnp.tanh(a @ w + b), (P(BOTH), P(), P()), P(BOTH), normal(8, 4), normal(4, 6), normal(6))
manual("batches of matmul", lambda a, b: jnp.einsum("bij,bjk->bik", a, b), (P("x"), P("x", None, "y")), P("x", None, "y"), normal(4, 3, 4), normal(4, 4, 6))
manual("softmax over a cut dim", lambda a: jnp.exp(a - lax.pmax(a.max(-1, keepdims=True), "y")) / lax.psum(jnp.exp(a - lax.pmax(a.max(-1, keepdims=True), "y")).sum(-1, keepdims=True), "y"), P("x", "y"), P("x", "y"), normal(4, 8))
manual("sorted parts", lambda a: jnp.sort(a, 0) + jnp.cumsum(a, 1) + lax.rev(a, (0,)), P("x", "y"), P("x", "y"), normal(8, 6))
manual("best of parts", lambda a: (*lax.top_k(a, 2), jnp.argmax(a, 0)), P("x", "y"), (P("x", "y"), P("x", "y"), P(BOTH)), normal(8, 6))
manual("taken by index", lambda t, i: t[i], (P(None, "y"), P("x")), P("x", "y"), normal(10, 4), integers(0, 10, 6))
manual("taken from parts", lambda t, i: t[i], (P("x"), P()), P("x"), normal(8, 3), integers(0, 4, 6))
manual("taken by index of all", lambda t, i: t[i], (P(), P(BOTH)), P(BOTH), normal(5, 3), integers(0, 5, 8))
manual("added at index", lambda t, i, u: t.at[i].add(u), (P(), P("x"), P("x", "y")), P("x", "y"), normal(5, 2), integers(0, 5, 6), normal(6, 4))
manual("added at index of all", lambda t, i, u: t.at[i].add(u), (P(None, "y"), P(), P(None, "y")), P(None, "y"), normal(5, 4), integers(0, 5, 6), normal(6, 4))
manual("pooling", lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 2), "VALID"), P("x", "y"), P("x", "y"), normal(8, 8))
manual("convolution", lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), (P("x"), P()), P("x"), normal(4, 5, 5, 3), normal(3, 3, 3, 4))
manual("convolution, filters cut", lambda a, w: lax.conv_general_dilated(a, w, (2, 1), "SAME"), (P("x"), P("y")), P("x", "y"), normal(4, 2, 5, 5), normal(6, 2, 3, 3))
manual("convolution in groups", lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME", feature_group_count=2), (P("x", "y"), P("y")), P("x", "y"), normal(4, 8, 5, 5), normal(8, 2, 3, 3))


def loss(whole):
    return jax.value_and_grad(lambda *a: (whole(*a) ** 2).sum(), argnums=(0, 1))


manual("convolution, gradient", lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME"), (P("x"), P("y")), P("x", "y"), normal(4, 2, 5, 5), normal(6, 2, 3, 3), around=loss)
manual("layers, gradient", lambda a, w: jax.nn.gelu(lax.psum(a @ w, "y")), (P("x", "y"), P("y")), P("x"), normal(8, 4), normal(4, 6), around=loss)
manual("cholesky and solve", lambda a, b: lax.linalg.triangular_solve(lax.linalg.cholesky(a @ a.mT + 4 * jnp.eye(3)), b, left_side=True, lower=True), (P("x"), P("x", None, "y")), P("x", None, "y"), normal(4, 3, 3), normal(4, 3, 4))
manual("fft", lambda a: jnp.abs(jnp.fft.rfft(a)), P(BOTH), P(BOTH), normal(4, 8))
manual("padded and joined", lambda a, b: jnp.concatenate([jnp.pad(a, ((1, 0), (0, 2))), b], 0), (P("x", "y"), P(None, "y")), P("x", "y"), normal(4, 4), normal(2, 8))
manual("choice by a number that all have", lambda i, a: lax.cond(i[0] > 3, lambda v: lax.psum(v, "x"), lambda v: v * 2, a), (P(), P("x", "y")), P("x", "y"), integers(5, 9, 1), normal(8, 4))
manual("random bits", lambda a: a + jax.random.uniform(jax.random.fold_in(jax.random.key(3), lax.axis_index("x")), a.shape), P("x", "y"), P("x", "y"), normal(4, 4))
manual("scan", lambda a: lax.scan(lambda c, v: (c * 0.5 + lax.psum(v, "y"), c.sum()), jnp.zeros(2), a), P(None, ("x", "y")), (P("x"), P()), normal(5, 8))


def halo(a, w):
    above, below = (lax.ppermute(p, "x", pairs) for p, pairs in ((a[-1:], [(0, 1)]), (a[:1], [(1, 0)])))
    wide = jnp.concatenate([above, a, below], 0)
    return sum(wide[i : i + a.shape[0]] * w[i] for i in range(3))


manual("neighbours' rows", halo, (P("x", "y"), P()), P("x", "y"), normal(8, 4), normal(3))


def ring(q, k, v):
    def turn(_, c):
        k, v, o, l = c
        s = jnp.exp(q @ k.T)
        return lax.ppermute(k, BOTH, FOUR), lax.ppermute(v, BOTH, FOUR), o + s @ v, l + s.sum(-1)

    o, l = lax.fori_loop(0, 4, turn, (k, v, jnp.zeros_like(q), jnp.zeros(q.shape[0])))[2:]
    return o / l[:, None]


manual("attention in a ring", ring, P(BOTH), P(BOTH), normal(8, 4), normal(8, 4), normal(8, 4))


def experts(x, router, w):
    chosen = jax.nn.one_hot(jnp.argmax(x @ router, -1), 4)
    sent = lax.all_to_all(jnp.einsum("td,te->etd", x, chosen), "y", 0, 1, tiled=True)
    back = lax.all_to_all(jnp.einsum("etd,edf->etf", sent, w), "y", 1, 0, tiled=True)
    return jnp.einsum("etf,te->tf", back, chosen), lax.pmean(chosen.mean(0), BOTH)


manual("experts", experts, (P(BOTH), P(), P("y")), (P(BOTH), P()), normal(16, 4), normal(4, 4), normal(4, 4, 6))


def stages(w, x):
    """Layers one after the other on the devices of x, a microbatch a step."""
    last = lax.axis_index("x") == 1

    def step(state, i):
        v = jnp.tanh(jnp.where(lax.axis_index("x") == 0, x[jnp.minimum(i, 2)], state) @ w[0])
        return lax.ppermute(v, "x", RING), jnp.where(last, v, 0)

    return lax.psum(lax.scan(step, jnp.zeros(x.shape[1:]), jnp.arange(4))[1][1:], "x")


manual("stages of a pipeline", stages, (P("x"), P(None, "y")), P(None, "y"), normal(2, 4, 4), normal(3, 4, 4))
manual("one axis alone", lambda a, b: lax.psum(a @ b, "x"), (P(None, "x"), P("x")), P(), normal(8, 4), normal(4, 6), axes=("x",))
manual("one axis alone, all_to_all", lambda a: lax.all_to_all(jnp.tanh(a), "y", 1, 0, tiled=True), P("y"), P(None, "y"), normal(8, 4, 6), axes=("y",), around=lambda f: lambda a: f(a * 2).sum(2))
manual("one axis in a loop", lambda a: lax.fori_loop(0, 3, lambda i, c: jnp.tanh(c @ a.T @ a) + lax.ppermute(c, "x", RING), a), P("x"), P("x"), normal(8, 4), axes=("x",))


def nested(a):
    inner = jax.shard_map(lambda b: lax.psum(b, "y") + b, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"}, check_vma=False)
    return lax.all_gather(inner(a), "x", tiled=True)


manual("one in another", nested, P("x"), P(), normal(8, 4), axes=("x",))
