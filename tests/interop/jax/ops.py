"""One small program for each op of lax, with the numbers that JAX makes of it.

CASES: name -> (function, arguments). Arguments come from a seed; what is special about a case stands in its name.
"""

import functools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

CASES = {}
LOWERED = {}  # name -> what it is lowered for: on TPUs with ops of StableHLO instead of calls of LAPACK
RNG = np.random.default_rng(7)


def case(name, function, *arguments):
    assert name not in CASES, name
    CASES[name] = (function, arguments)


def lowered_for(platform, name, function, *arguments):
    case(name, function, *arguments)
    LOWERED[name] = platform


lowered_for_tpu = functools.partial(lowered_for, "tpu")


def normal(*shape, dtype=np.float32):
    return RNG.standard_normal(shape).astype(np.float32).astype(dtype)


def integers(low, high, *shape, dtype=np.int32):
    return RNG.integers(low, high, shape).astype(dtype)


def spd(*shape):
    """Symmetric and positive definite."""
    a = normal(*shape)
    return a @ np.swapaxes(a, -1, -2) + 4 * np.eye(shape[-1], dtype=np.float32)


# XLA takes denormal numbers for 0 on CPUs: there are none here.
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3e38, -3e38, 1e-30, np.inf, -np.inf, np.nan, 1e-3], np.float32)
I32 = np.array([0, 1, -1, 2, -2, 7, -7, 31, 32, 33, 2**31 - 1, -(2**31), 100, -100, 12345, -54321], np.int32)
U8 = np.array([0, 1, 2, 3, 7, 8, 9, 127, 128, 129, 200, 254, 255, 16, 32, 64], np.uint8)
PAIRS = [np.repeat(I32, 16).reshape(16, 16), np.tile(I32, 16).reshape(16, 16)]
FLOAT_PAIRS = [np.repeat(SPECIAL, 16).reshape(16, 16), np.tile(SPECIAL, 16).reshape(16, 16)]
NARROW = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e5m2": ml_dtypes.float8_e5m2}

# --- elementwise ------------------------------------------------------------------------------------------------------

UNARY = "abs neg exp exp2 expm1 log log1p sqrt rsqrt cbrt tanh logistic sin cos tan sign floor ceil is_finite erf erfc square".split()
for op in UNARY:
    case(op, getattr(lax, op), np.concatenate([SPECIAL, normal(16)]).reshape(8, 4))
for op in "asin acos atanh erf_inv".split():
    case(op, getattr(lax, op), np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4))
for op in "atan sinh cosh asinh digamma lgamma".split():
    case(op, getattr(lax, op), normal(6, 4))
case("bessel_i1e", lax.bessel_i1e, 3 * normal(6, 4))
case("zeta", lax.zeta, 1.5 + np.abs(normal(6, 4)), np.abs(normal(6, 4)) + 0.1)
case("zeta of whole numbers", lax.zeta, np.full((6, 4), 3, np.float32), 2 * normal(6, 4))
case("polygamma", lax.polygamma, np.tile(np.array([0, 1, 2, 5], np.float32), (6, 1)), 0.5 + np.abs(normal(6, 4)))
case("acosh", lax.acosh, 1 + np.abs(normal(6, 4)))
for op in "exp log tanh sin sqrt rsqrt logistic abs floor neg".split():
    for label, dtype in list(NARROW.items())[:2]:
        case(f"{op} {label}", getattr(lax, op), np.abs(normal(8, 4, dtype=dtype)))
for label, dtype in NARROW.items():
    case(f"add {label}", lax.add, normal(8, 4, dtype=dtype), normal(8, 4, dtype=dtype))
    case(f"multiply {label}", lax.mul, normal(8, 4, dtype=dtype), normal(8, 4, dtype=dtype))
SMALL_FLOATS = "float8_e3m4 float8_e4m3 float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn".split()
SMALL_INTS = "int4 uint4".split()  # XLA (JAX 0.10) crashes on arguments of 2 bits
for label in SMALL_FLOATS + SMALL_INTS:
    dtype = getattr(ml_dtypes, label)
    values = np.abs(2 * normal(8, 16)) if "e8m0" in label else 2 * normal(8, 16)
    if label in SMALL_INTS:
        info = ml_dtypes.iinfo(dtype)
        values = RNG.integers(info.min, int(info.max) + 1, (8, 16))
    case(f"convert from {label}", lambda x: (lax.convert_element_type(x, np.float32), x.T, x[::2, 3:]), values.astype(dtype))
    if label in SMALL_FLOATS:
        case(f"convert to {label}", lambda x, t=dtype: lax.convert_element_type(x, t).astype(np.float32), values.astype(np.float32))
    else:
        case(f"convert to {label}", lambda x, t=dtype: lax.convert_element_type(x, t).astype(np.int32), PAIRS[0])
        case(f"arithmetic {label}", lambda x, y: (x + y, x * y, x - y, lax.max(x, y), x & y, x ^ y, ~x, x < y), values.astype(dtype), values.T.reshape(8, 16).astype(dtype))
case("weights of 4 bits", lambda x, w, s: x @ (w.astype(np.float32) * s), normal(8, 64), integers(-8, 8, 64, 32).astype(ml_dtypes.int4), np.abs(normal(32)))
case("weights of 4 bits in blocks", lambda x, w, s: x @ (w.astype(np.float32).reshape(4, 16, 32) * s.astype(np.float32)[:, None]).reshape(64, 32), normal(8, 64), normal(64, 32).astype(ml_dtypes.float4_e2m1fn), np.abs(normal(4, 32)).astype(ml_dtypes.float8_e8m0fnu))
case("dot of two floats of 8 bits", lambda x, w: lax.dot_general(x, w, (((1,), (0,)), ((), ())), preferred_element_type=np.float32), normal(8, 12).astype(ml_dtypes.float8_e5m2), normal(12, 6).astype(ml_dtypes.float8_e4m3fn))
case("two of 4 bits in a byte", lambda x: lax.bitcast_convert_type(x, np.dtype("int4")).astype(np.int32), integers(0, 256, 8, 16).astype(np.uint8))
case("round to even", lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN), np.arange(-4, 4, 0.25, np.float32).reshape(8, 4))
case("round away from zero", lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), np.arange(-4, 4, 0.25, np.float32).reshape(8, 4))
case("not", lax.bitwise_not, I32)
case("popcnt", lax.population_count, I32)
case("clz", lax.clz, I32)
case("popcnt u8", lax.population_count, U8)
case("clz u8", lax.clz, U8)
case("integer_pow", lambda x: lax.integer_pow(x, 3), normal(8, 4))
case("integer_pow negative", lambda x: lax.integer_pow(x, -2), normal(8, 4))
for op in "add sub mul div rem max min bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic shift_right_logical".split():
    case(f"{op} i32", getattr(lax, op), *PAIRS)
for op in "add sub mul div rem max min shift_left shift_right_logical".split():
    case(f"{op} u8", getattr(lax, op), np.repeat(U8, 16).reshape(16, 16), np.tile(U8, 16).reshape(16, 16))
for op in "add sub mul div rem max min atan2 nextafter".split():
    case(f"{op} f32", getattr(lax, op), *FLOAT_PAIRS)
case("pow", lax.pow, np.abs(normal(8, 4)), normal(8, 4))
case("pow special", lax.pow, *FLOAT_PAIRS)
case("pow to i32", lambda x, y: lax.pow(x, y), normal(8, 4), integers(-3, 7, 8, 4))
for op in "eq ne lt le gt ge".split():
    case(f"{op} f32", getattr(lax, op), *FLOAT_PAIRS)
    case(f"{op} i32", getattr(lax, op), *PAIRS)
case("eq complex", lax.eq, np.array([1 + 2j, 1 - 2j], np.complex64), np.array([1 + 2j, 1 + 2j], np.complex64))
case("select", lambda p, a, b: lax.select(p, a, b), normal(8, 4) > 0, normal(8, 4), normal(8, 4))
case("select of scalar", lambda p, a, b: lax.select(p, a, b), np.array(True), normal(8, 4), normal(8, 4))
case("select_n of four", lambda i, a, b, c, d: lax.select_n(i, a, b, c, d), integers(0, 4, 8, 4), *(normal(8, 4) for _ in range(4)))
case("clamp", lambda x: lax.clamp(-0.5, x, 0.75), normal(8, 4))
case("clamp by tensors", lax.clamp, normal(8, 4) - 1, normal(8, 4), normal(8, 4) + 1)
case("reduce_precision", lambda x: lax.reduce_precision(x, 5, 3), normal(8, 4))
case("igamma", lax.igamma, np.abs(normal(4, 4)) + 0.5, np.abs(normal(4, 4)))
case("betainc", lax.betainc, np.abs(normal(4, 4)) + 0.5, np.abs(normal(4, 4)) + 0.5, RNG.random((4, 4), np.float32))

# --- convert ----------------------------------------------------------------------------------------------------------

WIDE = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128, 255.9, 256, -129, 65520, 70000, 2147483647, 4e9, -4e9, 448, 464, 480, 1e-9, 0.0019, 57344, 61440, np.inf, -np.inf], np.float32)
for to in "int8 uint8 int16 uint16 int32 uint32 bool_ float16 bfloat16 float8_e4m3fn float8_e5m2".split():
    case(f"convert f32 to {to}", lambda x, t=to: lax.convert_element_type(x, getattr(jnp, t)), WIDE)
case("convert NaN to i32", lambda x: lax.convert_element_type(x, jnp.int32), SPECIAL)
case("convert i32 to i8", lambda x: lax.convert_element_type(x, jnp.int8), I32)
case("convert i32 to u8", lambda x: lax.convert_element_type(x, jnp.uint8), I32)
case("convert i32 to f16", lambda x: lax.convert_element_type(x, jnp.float16), I32)
case("convert i32 to f32", lambda x: lax.convert_element_type(x, jnp.float32), np.array([2**24 + 1, 2**25 + 3, -(2**31), 2**31 - 1], np.int32))
case("bitcast f32 to i32", lambda x: lax.bitcast_convert_type(x, jnp.int32), normal(8, 4))
case("bitcast f32 to u8", lambda x: lax.bitcast_convert_type(x, jnp.uint8), normal(8, 4))
case("bitcast u8 to f32", lambda x: lax.bitcast_convert_type(x, jnp.uint32), integers(0, 256, 8, 4, dtype=np.uint8))

# --- shapes -----------------------------------------------------------------------------------------------------------

case("broadcast_in_dim", lambda x: lax.broadcast_in_dim(x, (4, 8, 6), (2, 1)), normal(6, 8))
case("broadcast extent 1", lambda x: lax.broadcast_in_dim(x, (4, 8), (0, 1)), normal(4, 1))
case("transpose", lambda x: lax.transpose(x, (2, 0, 1)), normal(4, 6, 8))
case("reshape", lambda x: lax.reshape(x, (8, 3, 8)), normal(4, 6, 8))
case("reshape uneven", lambda x: lax.reshape(x, (10, 6)), normal(4, 15))
case("rev", lambda x: lax.rev(x, (0, 2)), normal(4, 6, 8))
case("iota", lambda: lax.broadcasted_iota(jnp.int32, (4, 8), 1))
case("iota bf16", lambda: lax.broadcasted_iota(jnp.bfloat16, (300, 2), 0))
case("concatenate", lambda *x: lax.concatenate(x, 1), normal(4, 3), normal(4, 5), normal(4, 1))
case("pad", lambda x: lax.pad(x, np.float32(9), [(1, 2, 0), (0, 3, 2)]), normal(4, 6))
case("pad negative", lambda x: lax.pad(x, np.float32(9), [(-1, 2, 1), (3, -2, 0)]), normal(6, 6))
case("slice", lambda x: lax.slice(x, (1, 2), (7, 8), (2, 3)), normal(8, 8))
case("dynamic_slice clamped", lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 4)), normal(8, 8), np.int32(7), np.int32(-5))
case("dynamic_slice", lambda x, i, j: lax.dynamic_slice(x, (i, j), (3, 4)), normal(8, 8), np.int32(2), np.int32(3))
case("dynamic_update_slice clamped", lambda x, u, i, j: lax.dynamic_update_slice(x, u, (i, j)), normal(8, 8), normal(3, 4), np.int32(7), np.int32(-5))
case("squeeze and expand", lambda x: lax.expand_dims(lax.squeeze(x, (1,)), (0, 2)), normal(4, 1, 6))
case("split", lambda x: lax.split(x, (2, 5, 1), axis=1), normal(4, 8))
case("tile", lambda x: jnp.tile(x, (2, 3)), normal(4, 2))
case("roll", lambda x: jnp.roll(x, 3, axis=0), normal(8, 4))

# --- reductions -------------------------------------------------------------------------------------------------------

for op in "sum prod max min".split():
    case(f"reduce {op}", lambda x, o=op: getattr(jnp, o)(x, axis=(0, 2)), normal(4, 6, 8))
    case(f"reduce {op} i32", lambda x, o=op: getattr(jnp, o)(x, axis=1), integers(-9, 9, 4, 7))
case("reduce all", lambda x: jnp.all(x, axis=0), normal(8, 4) > -1)
case("reduce any", lambda x: jnp.any(x, axis=1), normal(8, 4) > 1)
case("reduce and", lambda x: lax.reduce(x, np.int32(-1), lax.bitwise_and, (0,)), integers(0, 99, 8, 4))
case("reduce or", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_or, (0,)), integers(0, 99, 8, 4))
case("reduce xor", lambda x: lax.reduce(x, np.int32(0), lax.bitwise_xor, (0,)), integers(0, 99, 8, 4))
case("reduce from 5", lambda x: lax.reduce(x, np.float32(5), lax.add, (1,)), normal(8, 4))
case("reduce NaN max", lambda x: jnp.max(x, axis=0), np.where(normal(8, 4) > 1, np.nan, normal(8, 4)).astype(np.float32))
case("argmax", lambda x: lax.argmax(x, 1, jnp.int32), integers(0, 4, 8, 9))
case("argmin", lambda x: lax.argmin(x, 0, jnp.int32), np.where(normal(8, 4) > 1.2, np.nan, normal(8, 4)).astype(np.float32))
case("reduce by a region", lambda x: lax.reduce(x, np.float32(0), lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b), (1,)), normal(6, 11))
case("reduce by a region, two dims", lambda x: lax.reduce(x, np.float32(0), lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b), (0, 2)), normal(6, 5, 7))


def second_of_equal(a, b):
    """The later of the greatest, with its place."""
    later = b[0] >= a[0]
    return jnp.where(later, b[0], a[0]), jnp.where(later, b[1], a[1])


def welford(a, b):
    n = a[0] + b[0]
    d = b[1] - a[1]
    ok = n > 0
    n1 = jnp.where(ok, n, 1)
    return n, a[1] + d * b[0] / n1, a[2] + b[2] + d * d * a[0] * b[0] / n1


PLACES = np.tile(np.arange(9, dtype=np.int32), (8, 1))
case("reduce two, the last greatest", lambda x, i: lax.reduce((x, i), (np.int32(-9), np.int32(-1)), second_of_equal, (1,)), integers(0, 4, 8, 9), PLACES)
case("reduce three, variance", lambda n, x, z: lax.reduce((n, x, z), (np.float32(0),) * 3, welford, (1,)), np.ones((4, 13), np.float32), normal(4, 13), np.zeros((4, 13), np.float32))
for op in "cumsum cumprod cummax cummin cumlogsumexp".split():
    case(op, lambda x, o=op: getattr(lax, o)(x, axis=0), normal(9, 4))
    case(f"{op} reversed", lambda x, o=op: getattr(lax, o)(x, axis=1, reverse=True), normal(4, 9))
case("associative_scan", lambda x, y: lax.associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (x, y)), normal(9, 3), normal(9, 3))
WINDOWED = dict(window_dimensions=(1, 3, 3, 1), window_strides=(1, 2, 1, 1))
for op, init in (("add", 0), ("max", -np.inf), ("min", np.inf)):
    case(f"reduce_window {op}", lambda x, o=op, i=init: lax.reduce_window(x, np.float32(i), getattr(lax, o), padding="SAME", **WINDOWED), normal(2, 8, 8, 4))
case("reduce_window dilated", lambda x: lax.reduce_window(x, np.float32(0), lax.add, (2, 3), (2, 1), ((1, 2), (0, 3)), (2, 1), (1, 2)), normal(6, 8))
# (Of initial values that are not neutral XLA pads none, StableHLO's specification all.)
case("reduce_window from 1", lambda x: lax.reduce_window(x, np.float32(1), lax.add, (2, 3), (1, 1), "VALID"), normal(6, 8))
case("reduce_window max from 0", lambda x: lax.reduce_window(x, np.float32(0), lax.max, (2, 3), (1, 1), "SAME"), normal(6, 8))
case("reduce_window of a region", lambda x: lax.reduce_window(x, np.float32(0), lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b), (3, 5), (2, 1), ((1, 1), (2, 2))), normal(8, 9))
case("reduce_window of two", lambda x, i: lax.reduce_window((x, i), (np.int32(-9), np.int32(-1)), second_of_equal, (2, 3), (1, 2), ((0, 1), (0, 0))), integers(0, 4, 8, 9), PLACES)
case("max pool gradient", jax.grad(lambda x: jnp.sum(lax.reduce_window(x, -np.float32(np.inf), lax.max, padding="VALID", **WINDOWED) ** 2)), normal(2, 8, 8, 4))
case("avg pool gradient", jax.grad(lambda x: jnp.sum(lax.reduce_window(x, np.float32(0), lax.add, padding="SAME", **WINDOWED) ** 2)), normal(2, 8, 8, 4))
case("logsumexp", lambda x: jax.nn.logsumexp(x, axis=1), normal(8, 6))

# --- sorting ----------------------------------------------------------------------------------------------------------

NANS = np.where(normal(8, 5) > 1, np.nan, np.round(normal(8, 5))).astype(np.float32)
case("sort", lambda x: lax.sort(x, dimension=0), NANS)
case("sort -0 and 0", lambda x, i: lax.sort((x, i), dimension=0, num_keys=1), np.array([0.0, -0.0, 0.0, -0.0, 1, -1, 0, -0.0], np.float32), np.arange(8, dtype=np.int32))
case("sort i8", lambda x: lax.sort(x, dimension=1), integers(-128, 128, 4, 16, dtype=np.int8))
case("sort two, one key, stable", lambda k, v: lax.sort((k, v), dimension=1, num_keys=1), integers(0, 3, 4, 16), np.tile(np.arange(16, dtype=np.int32), (4, 1)))
case("sort three, two keys", lambda k, l, v: lax.sort((k, l, v), dimension=1, num_keys=2), integers(0, 3, 4, 17), integers(0, 3, 4, 17).astype(np.float32), np.tile(np.arange(17, dtype=np.int32), (4, 1)))
case("sort bool key", lambda k, v: lax.sort((k, v), dimension=0, num_keys=1), normal(16) > 0, np.arange(16, dtype=np.int32))
case("sort complex", lambda x: lax.sort(x, dimension=0), (np.round(normal(9)) + 1j * np.round(normal(9))).astype(np.complex64))
case("argsort", lambda x: jnp.argsort(x, axis=0), integers(0, 5, 9, 4))
case("argsort descending", lambda x: jnp.argsort(x, axis=1, descending=True), integers(0, 5, 4, 9))
case("top_k", lambda x: lax.top_k(x, 3), integers(0, 6, 4, 9))
case("top_k f32", lambda x: lax.top_k(x, 4), normal(4, 9))
case("approx_max_k", lambda x: lax.approx_max_k(x, 3, recall_target=1.0), normal(4, 16))
case("searchsorted", lambda a, v: jnp.searchsorted(a, v), np.sort(normal(16)), normal(8))
case("unique", lambda x: jnp.unique(x, size=6, return_counts=True), integers(0, 6, 16))
case("median", lambda x: jnp.median(x, axis=0), normal(7, 4))

# --- contractions -----------------------------------------------------------------------------------------------------

case("dot", lax.dot, normal(4, 6), normal(6, 8))
case("dot of vectors", lax.dot, normal(6), normal(6))
case("dot_general batch", lambda a, b: lax.dot_general(a, b, (((3, 1), (0, 2)), ((0,), (1,)))), normal(2, 4, 6, 8), normal(8, 2, 4, 10))
case("dot_general i8 to i32", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32), integers(-128, 128, 4, 64, dtype=np.int8), integers(-128, 128, 64, 8, dtype=np.int8))
case("dot_general bf16 to f32", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), normal(4, 64, dtype=NARROW["bf16"]), normal(64, 8, dtype=NARROW["bf16"]))
case("dot_general highest", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=lax.Precision.HIGHEST), normal(4, 64), normal(64, 8))
case("dot complex", lax.dot, normal(4, 6) + 1j * normal(4, 6), (normal(6, 4) + 1j * normal(6, 4)).astype(np.complex64))
case("einsum", lambda a, b, c: jnp.einsum("bij,bjk,kl->bil", a, b, c), normal(2, 4, 6), normal(2, 6, 4), normal(4, 8))
case("ragged_dot", lambda a, b, n: lax.ragged_dot(a, b, n), normal(8, 4), normal(3, 4, 6), np.array([2, 5, 1], np.int32))
RAGGED = normal(8, 4), normal(3, 4, 6), np.array([2, 5, 0], np.int32)
lowered_for_tpu("ragged_dot as an op", lambda a, b, n: lax.ragged_dot(a, b, n), *RAGGED)
lowered_for_tpu("ragged_dot gradient as ops", jax.grad(lambda a, b, n: jnp.sum(lax.ragged_dot(a, b, n) ** 2), (0, 1)), *RAGGED)
lowered_for_tpu("ragged_dot of batches as an op", jax.vmap(lambda a, b, n: lax.ragged_dot(a, b, n)), *(np.stack([a, a[::-1]]) for a in RAGGED))
case("dot of f32 and i8", lambda a, b: lax.dot_general(a, b, (((1,), (0,)), ((), ())), preferred_element_type=jnp.float32), normal(4, 6), integers(-9, 9, 6, 8, dtype=np.int8))
NHWC = ("NHWC", "HWIO", "NHWC")


def conv(name, x, w, **how):
    how = {"window_strides": (1, 1), "padding": "SAME", "dimension_numbers": NHWC, **how}
    case(f"conv {name}", lambda a, b: lax.conv_general_dilated(a, b, **how), normal(*x), normal(*w))


conv("same", (2, 8, 8, 4), (3, 3, 4, 6))
conv("strided", (2, 9, 8, 4), (3, 2, 4, 6), window_strides=(2, 3), padding="VALID")
conv("lhs dilated", (2, 8, 8, 4), (3, 3, 4, 6), lhs_dilation=(2, 3), padding=((1, 2), (0, 3)))
conv("rhs dilated", (2, 9, 9, 4), (3, 3, 4, 6), rhs_dilation=(2, 3), padding=((1, 2), (3, 3)))
conv("negative padding", (2, 9, 9, 4), (3, 3, 4, 6), padding=((-1, 2), (1, -2)))
conv("feature groups", (2, 8, 8, 4), (3, 3, 2, 6), feature_group_count=2)
conv("depthwise", (2, 8, 8, 4), (3, 3, 1, 8), feature_group_count=4)
conv("batch groups", (4, 8, 8, 3), (3, 3, 3, 6), batch_group_count=2)
conv("NCHW", (2, 4, 8, 8), (6, 4, 3, 3), dimension_numbers=("NCHW", "OIHW", "NCHW"))
conv("strange layout", (8, 2, 4, 9), (4, 3, 6, 3), dimension_numbers=("HNCW", "IHOW", "WCNH"))
conv("1d", (2, 16, 4), (5, 4, 6), dimension_numbers=("NHC", "HIO", "NHC"), window_strides=(2,))
conv("3d", (2, 4, 5, 6, 3), (2, 2, 2, 3, 4), dimension_numbers=("NDHWC", "DHWIO", "NDHWC"), window_strides=(1, 2, 1))
case("conv gradient", jax.grad(lambda w, x: jnp.sum(lax.conv_general_dilated(x, w, (2, 1), "SAME", dimension_numbers=NHWC) ** 2), argnums=(0, 1)), normal(3, 3, 4, 6), normal(2, 8, 8, 4))
case("conv_transpose", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=NHWC), normal(2, 5, 5, 4), normal(3, 3, 4, 6))
case("conv bf16 to f32", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC, preferred_element_type=jnp.float32), normal(2, 8, 8, 4, dtype=NARROW["bf16"]), normal(3, 3, 4, 6, dtype=NARROW["bf16"]))

# --- gather and scatter -----------------------------------------------------------------------------------------------

case("take", lambda x, i: jnp.take(x, i, axis=1), normal(4, 9), integers(-9, 9, 3, 5))
case("take clip", lambda x, i: jnp.take(x, i, axis=0, mode="clip"), normal(6, 4), integers(-20, 20, 7))
case("take fill", lambda x, i: jnp.take(x, i, axis=0, mode="fill"), normal(6, 4), integers(-20, 20, 7))
case("take_along_axis", lambda x, i: jnp.take_along_axis(x, i, axis=1), normal(4, 9), integers(0, 9, 4, 3))
case("index by lists", lambda x, i, j: x[i, :, j], normal(4, 3, 9), integers(0, 4, 5), integers(0, 9, 5))
GATHERS = {
    "window": (lax.GatherDimensionNumbers((1, 2), (), (0, 1)), (3, 2), (8, 6), (5, 2)),
    "collapsed": (lax.GatherDimensionNumbers((1,), (0,), (0, 1)), (1, 3), (8, 6), (5, 2)),
    "map backwards": (lax.GatherDimensionNumbers((0, 2), (), (1, 0)), (2, 3), (8, 6), (5, 2)),
    "batch": (lax.GatherDimensionNumbers((2,), (1,), (1,), (0,), (1,)), (1, 1, 3), (4, 9, 6), (5, 4, 1)),
}
for label, (numbers, sizes, x, i) in GATHERS.items():
    for mode in ("clip", "fill"):
        case(f"gather {label} {mode}", lambda a, b, n=numbers, s=sizes, m=mode: lax.gather(a, b, n, s, mode=m), normal(*x), integers(-3, 10, *i))
SCATTERS = {
    "rows": (lax.ScatterDimensionNumbers((1,), (0,), (0,)), (8, 6), (5, 1), (5, 6)),
    "windows": (lax.ScatterDimensionNumbers((1, 2), (), (0, 1)), (8, 6), (5, 2), (5, 2, 3)),
    "batch": (lax.ScatterDimensionNumbers((2,), (1,), (1,), (0,), (1,)), (4, 9, 6), (5, 4, 1), (5, 4, 6)),
}
for label, (numbers, x, i, u) in SCATTERS.items():
    for op in "scatter scatter_add scatter_mul scatter_min scatter_max".split():
        function = getattr(lax, op)
        case(f"{op} {label}", lambda a, b, c, f=function, n=numbers: f(a, b, c, n, mode="drop"), normal(*x), integers(-2, 9, *i), normal(*u))
case("scatter clip", lambda x, i, u: lax.scatter_add(x, i, u, SCATTERS["windows"][0], mode="clip"), normal(8, 6), integers(-4, 12, 5, 2), normal(5, 2, 3))
case("scatter_apply", lambda x, i: lax.scatter_apply(x, i, jnp.sin, SCATTERS["rows"][0], update_shape=(3, 6), unique_indices=True), normal(8, 6), np.array([[1], [7], [4]], np.int32))
case("at set", lambda x, u: x.at[1:4, ::2].set(u), normal(6, 8), normal(3, 4))
case("at add", lambda x, i, u: x.at[i].add(u), normal(6, 8), integers(0, 6, 9), normal(9, 8))
case("at multiply", lambda x, i, u: x.at[i].multiply(u), normal(6, 8), integers(0, 6, 9), normal(9, 8))
case("at apply", lambda x, i: x.at[i].apply(jnp.cos), normal(6, 8), np.array([1, 4, 2], np.int32))
case("gather gradient", jax.grad(lambda x, i: jnp.sum(x[i] ** 3)), normal(6, 4), integers(0, 6, 9))
case("segment_sum", lambda x, i: jax.ops.segment_sum(x, i, 5), normal(9, 4), integers(0, 5, 9))
case("bincount", lambda x: jnp.bincount(x, length=6), integers(0, 6, 20))

# --- random numbers ---------------------------------------------------------------------------------------------------

STATE = np.array([0x12345678, 0x9ABCDEF0, 3, 0xFFFFFFFF], np.uint32)
for label, algorithm in (("threefry", lax.RandomAlgorithm.RNG_THREE_FRY), ("philox", lax.RandomAlgorithm.RNG_PHILOX), ("default", lax.RandomAlgorithm.RNG_DEFAULT)):
    for dtype in (np.uint32, np.uint8, np.uint16, np.uint64)[:3]:
        case(f"rng_bit_generator {label} {np.dtype(dtype).name}", lambda s, a=algorithm, t=dtype: lax.rng_bit_generator(s, (5, 7), dtype=t, algorithm=a), STATE)
    case(f"rng_bit_generator {label} even", lambda s, a=algorithm: lax.rng_bit_generator(s, (8, 8), algorithm=a), STATE)
case("random bits", lambda k: jax.random.bits(k, (5, 7)), np.array([0, 42], np.uint32))
case("random uniform", lambda k: jax.random.uniform(k, (5, 7)), np.array([0, 42], np.uint32))
case("random normal", lambda k: jax.random.normal(k, (5, 7)), np.array([0, 42], np.uint32))
case("random randint", lambda k: jax.random.randint(k, (5, 7), 0, 100), np.array([1, 42], np.uint32))
case("random split", lambda k: jax.random.split(k, 3), np.array([1, 42], np.uint32))
case("random permutation", lambda k: jax.random.permutation(k, 16), np.array([1, 42], np.uint32))
case("random categorical", lambda k, x: jax.random.categorical(k, x), np.array([1, 42], np.uint32), normal(4, 6))
case("random gamma", lambda k: jax.random.gamma(k, 2.5, (3,)), np.array([1, 42], np.uint32))
case("random truncated normal", lambda k: jax.random.truncated_normal(k, -1, 1, (6,)), np.array([1, 42], np.uint32))
case("dropout", lambda k, x: jnp.where(jax.random.bernoulli(k, 0.7, x.shape), x / 0.7, 0), np.array([1, 42], np.uint32), normal(8, 4))

# --- control flow -----------------------------------------------------------------------------------------------------

case("while", lambda x: lax.while_loop(lambda c: jnp.sum(c[1]) < 100, lambda c: (c[0] + 1, c[1] * 1.5 + 1), (0, x)), np.abs(normal(4)))
case("fori", lambda x, n: lax.fori_loop(0, n, lambda i, c: c * 0.5 + i, x), normal(8, 4), np.int32(5))
case("scan", lambda x, y: lax.scan(lambda c, v: (c + v, c * v), x, y), normal(4), normal(6, 4))
case("scan reversed", lambda x, y: lax.scan(lambda c, v: (c + v, c * v), x, y, reverse=True), normal(4), normal(6, 4))
case("cond", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), np.array(True), normal(8, 4))
case("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), np.int32(7), normal(8, 4))
case("map", lambda x: lax.map(lambda v: jnp.sum(v) * v, x), normal(5, 4))
case("scan gradient", jax.grad(lambda w, x: jnp.sum(lax.scan(lambda c, v: (jnp.tanh(c @ w + v), c), x[0], x)[0])), normal(4, 4), normal(6, 4))

# --- matrices, complex numbers ----------------------------------------------------------------------------------------

lowered_for_tpu("cholesky", lambda a: lax.linalg.cholesky(a), spd(3, 5, 5))
for left in (True, False):
    for transpose in (True, False):
        how = dict(left_side=left, transpose_a=transpose, lower=left != transpose, unit_diagonal=left and transpose)
        lowered_for_tpu(f"triangular_solve {left} {transpose}", lambda a, b, h=how: lax.linalg.triangular_solve(a, b, **h), spd(2, 4, 4), normal(2, 4, 4))
COMPLEX = (normal(8, 4) + 1j * normal(8, 4)).astype(np.complex64)
for op in "abs exp log sqrt rsqrt tanh sin cos sign real imag conj expm1 log1p neg logistic".split():
    case(f"{op} complex", getattr(lax, op), COMPLEX)
for op in "add sub mul div".split():
    case(f"{op} complex", getattr(lax, op), COMPLEX, COMPLEX[::-1])
case("complex", lax.complex, normal(8, 4), normal(8, 4))
case("pow complex", lax.pow, COMPLEX, COMPLEX[::-1])
case("reduce sum complex", lambda x: jnp.sum(x, axis=0), COMPLEX)
case("fft", lambda x: jnp.fft.fft(x), COMPLEX)
case("ifft 2d", lambda x: jnp.fft.ifft2(x), COMPLEX)
case("rfft", lambda x: jnp.fft.rfft(x), normal(4, 9))
case("irfft", lambda x: jnp.fft.irfft(x, 9), COMPLEX[:, :].T[:, :5].astype(np.complex64))
case("rfft 3d", lambda x: jnp.fft.rfftn(x), normal(4, 6, 8))

# --- layers -----------------------------------------------------------------------------------------------------------

case("softmax", lambda x: jax.nn.softmax(x), normal(8, 6))
case("gelu", lambda x: jax.nn.gelu(x, approximate=False), normal(8, 6))
case("one_hot", lambda i: jax.nn.one_hot(i, 7), integers(0, 7, 8))
case("optimization_barrier", lambda x: lax.optimization_barrier(x * 2), normal(8, 6))
case("remat", jax.grad(lambda x: jnp.sum(jax.checkpoint(jnp.sin)(x) ** 2)), normal(8, 6))
case("attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), normal(2, 5, 4, 8), normal(2, 5, 4, 8), normal(2, 5, 4, 8))
case("custom_jvp", lambda x: jax.nn.relu(x) + jax.nn.silu(x), normal(8, 6))
case("vmap of dynamic_slice", jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (3,))), normal(5, 8), integers(-2, 9, 5))
case("vmap of scatter", jax.vmap(lambda x, i, u: x.at[i].add(u)), normal(5, 8), integers(0, 8, 5, 3), normal(5, 3))
