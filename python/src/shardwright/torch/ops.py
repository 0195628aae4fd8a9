"""The table: a row for each ATen op, which says it in ops of models (docs/model-format.md).

A row is a function of a `Call` and of the op's arguments, tensors among them as Values; it returns a Value, or a tuple of as
many as the op has results. What has no row is opaque: it keeps its name, and is not cut.
"""

from __future__ import annotations

import math
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Union

import torch

from shardwright.torch import _masks
from shardwright.torch.model import DTYPES, NARROW, Builder, Value

Row = Callable[..., Union[Value, "tuple[Value | None, ...]"]]
ROWS: dict[str, Row] = {}


def row(*names: str) -> Callable[[Row], Row]:
    """Of these ops, as 'aten.add.Tensor'; one without an overload is its default."""

    def named(function: Row) -> Row:
        for name in names:
            ROWS[name if name.count(".") > 1 else f"{name}.default"] = function
        return function

    return named


class Call:
    """One op of a graph: what it makes, and what it makes it with."""

    def __init__(self, b: Builder, node: torch.fx.Node) -> None:
        self.b, self.node, self.op = b, node, str(node.target)
        self.out = node.meta.get("val")

    @property
    def results(self) -> list[tuple[str, tuple[int, ...]] | None]:
        """Their dtypes and shapes."""
        outs = self.out if isinstance(self.out, (tuple, list)) else [self.out]
        return [(DTYPES[o.dtype], tuple(o.shape)) if isinstance(o, torch.Tensor) else None for o in outs]

    @property
    def dtype(self) -> str:
        return self.results[0][0]  # type: ignore[index]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.results[0][1]  # type: ignore[index]

    def tensor(self, x: Any, dtype: str | None = None, shape: Sequence[int] | None = None) -> Value:
        """x, a number maybe, in the dtype and shape of the result, or in those given."""
        dtype, shape = dtype or self.dtype, tuple(self.shape if shape is None else shape)
        if not isinstance(x, Value):
            return self.b.const(x, dtype, shape)
        return self.b.expand(self.b.cast(x, dtype), shape)

    def common(self) -> str:
        """What operands are converted to before they are compared or combined."""

        def meta(x: Any) -> Any:
            return x.meta["val"] if isinstance(x, torch.fx.Node) else x

        a, b = self.node.args[:2]
        return DTYPES[torch.result_type(meta(a), meta(b))]

    def widened(self, function: Callable[[Value], Value], x: Value) -> Value:
        """As kernels do it: narrow floats in f32."""
        made = function(self.b.cast(x, "f32") if x.dtype in NARROW else x)
        return self.b.cast(made, self.dtype)


    def known_mask(self, node: Any) -> dict[str, Any] | None:
        """What a mask of attention is, where it depends on no argument: attributes of attention in its place."""
        return _masks.known(node) if isinstance(node, torch.fx.Node) else None

    def name_function(self) -> str:
        """Of a function of a library that becomes several ops: the name of what the last one gives."""
        return self.b.unique(".".join(word for word in (self.b.scope, self.b.base) if word))

    def gradient_of(self, result: Value) -> str | None:
        """What its ops are a part of, where `result` is that of a function."""
        of = self.b.functions.get(result.name)
        return f"{of}.grad" if of else None


def dims_of(dim: Any, rank: int) -> list[int]:
    """Not negative; None and none at all: every dim."""
    if dim is None or dim == []:
        return list(range(rank))
    return [d % rank if rank else 0 for d in ([dim] if isinstance(dim, int) else dim)][: max(rank, 0)]


# --- one operand, element by element ---------------------------------------------------------------------------------


def _unary(name: str, op: str) -> None:
    @row(f"aten.{name}")
    def one(t: Call, x: Value) -> Value:
        return t.b.unary(op, t.b.cast(x, t.dtype))


for _name, _op in {
    "acos": "acos", "acosh": "acosh", "asin": "asin", "asinh": "asinh", "atan": "atan", "atanh": "atanh",
    "ceil": "ceil", "cos": "cosine", "cosh": "cosh", "digamma": "digamma", "erf": "erf", "erfc": "erfc",
    "erfinv": "erf_inv", "exp": "exponential", "expm1": "exponential_minus_one", "floor": "floor", "lgamma": "lgamma",
    "log": "log", "log1p": "log_plus_one", "neg": "negate", "round": "round_nearest_even", "rsqrt": "rsqrt",
    "sgn": "sign", "sigmoid": "logistic", "sign": "sign", "sin": "sine", "sinh": "sinh", "sqrt": "sqrt", "tan": "tan",
    "tanh": "tanh", "bitwise_not": "not",
}.items():  # fmt: skip
    _unary(_name, _op)


@row("aten.abs")
def absolute(t: Call, x: Value) -> Value:
    return t.b.unary("abs", x, t.dtype)


@row("aten.reciprocal")
def reciprocal(t: Call, x: Value) -> Value:
    return t.b.binary("divide", t.b.const(1, t.dtype, t.shape), t.b.cast(x, t.dtype))


@row("aten.trunc")
def trunc(t: Call, x: Value) -> Value:
    if t.dtype not in ("f64", "f32", *NARROW):
        return x
    return t.b.select(t.b.compare(x, 0, "lt"), t.b.unary("ceil", x), t.b.unary("floor", x))


@row("aten.round.decimals")
def round_decimals(t: Call, x: Value, *, decimals: int) -> Value:
    scale = 10.0 ** abs(decimals)
    there, back = ("multiply", "divide") if decimals >= 0 else ("divide", "multiply")
    return t.b.binary(back, t.b.unary("round_nearest_even", t.b.binary(there, x, scale)), scale)


def _log(base: float) -> Row:
    def log(t: Call, x: Value) -> Value:
        return t.widened(lambda v: t.b.binary("divide", t.b.unary("log", v), math.log(base)), t.b.cast(x, t.dtype))

    return log


row("aten.log2")(_log(2))
row("aten.log10")(_log(10))


@row("aten.exp2")
def exp2(t: Call, x: Value) -> Value:
    x = t.b.cast(x, t.dtype)
    return t.b.binary("power", t.b.const(2, x.dtype, x.shape), x)


@row("aten.logical_not")
def logical_not(t: Call, x: Value) -> Value:
    return t.b.unary("not", t.b.cast(x, "bool"))


@row("aten.isnan")
def isnan(t: Call, x: Value) -> Value:
    return t.b.compare(x, x, "ne")


@row("aten.isinf")
def isinf(t: Call, x: Value) -> Value:
    if x.dtype not in ("f64", "f32", *NARROW):
        return t.b.const(False, "bool", x.shape)
    return t.b.compare(t.b.unary("abs", x), math.inf, "eq")


@row("aten.relu")
def relu(t: Call, x: Value) -> Value:
    return t.b.binary("maximum", x, 0)


@row("aten.hardtanh")
def hardtanh(t: Call, x: Value, low: float = -1, high: float = 1) -> Value:
    return clamp(t, x, low, high)


@row("aten.leaky_relu")
def leaky_relu(t: Call, x: Value, slope: float = 0.01) -> Value:
    return t.b.select(t.b.compare(x, 0, "gt"), x, t.b.binary("multiply", x, slope))


@row("aten.elu")
def elu(t: Call, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    def of(v: Value) -> Value:
        low = t.b.unary("exponential_minus_one", t.b.binary("multiply", v, input_scale))
        return t.b.select(
            t.b.compare(v, 0, "gt"), t.b.binary("multiply", v, scale), t.b.binary("multiply", low, alpha * scale)
        )

    return t.widened(of, x)


@row("aten.square")
def square(t: Call, x: Value) -> Value:
    return t.b.binary("multiply", x, x)


# --- two and more operands -------------------------------------------------------------------------------------------


def _binary(names: Sequence[str], op: str) -> None:
    @row(*names)
    def two(t: Call, a: Any, b: Any) -> Value:
        return t.b.binary(op, t.tensor(a), t.tensor(b))


for _op, _names in {
    "multiply": ("aten.mul.Tensor", "aten.mul.Scalar"),
    "maximum": ("aten.maximum",),
    "minimum": ("aten.minimum",),
    "atan2": ("aten.atan2",),
    "hypot": ("aten.hypot",),
    "and": ("aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar"),
    "or": ("aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar"),
    "xor": ("aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar"),
    "shift_left": ("aten.bitwise_left_shift.Tensor", "aten.__lshift__.Scalar"),
    "shift_right_arithmetic": ("aten.bitwise_right_shift.Tensor", "aten.__rshift__.Scalar"),
    "remainder": ("aten.fmod.Tensor", "aten.fmod.Scalar"),
}.items():
    _binary(_names, _op)


def _logical(name: str) -> None:
    @row(f"aten.logical_{name}")
    def logical(t: Call, a: Value, b: Value) -> Value:
        return t.b.binary(name, t.tensor(t.b.cast(a, "bool")), t.tensor(t.b.cast(b, "bool")))


for _name in ("and", "or", "xor"):
    _logical(_name)


@row("aten.add.Tensor", "aten.add.Scalar")
def add(t: Call, a: Any, b: Any, *rest: Any, alpha: Any = 1) -> Value:
    return _sum(t, "add", a, b, *rest, alpha)


@row("aten.sub.Tensor", "aten.sub.Scalar")
def sub(t: Call, a: Any, b: Any, *rest: Any, alpha: Any = 1) -> Value:
    return _sum(t, "subtract", a, b, *rest, alpha)


def _sum(t: Call, op: str, a: Any, b: Any, alpha: Any, *_: Any) -> Value:
    if not isinstance(b, Value):
        return t.b.binary(op, t.tensor(a), b * alpha)
    scaled = t.b.cast(b, t.dtype)
    if alpha != 1:
        scaled = t.b.binary("multiply", scaled, alpha)
    return t.b.binary(op, t.tensor(a), t.tensor(scaled))


@row("aten.rsub.Scalar", "aten.rsub.Tensor")
def rsub(t: Call, a: Value, b: Any, alpha: Any = 1) -> Value:
    return _sum(t, "subtract", b, a, alpha)


@row("aten.div.Tensor", "aten.div.Scalar")
def div(t: Call, a: Any, b: Any) -> Value:
    return t.b.binary("divide", t.tensor(a), t.tensor(b))


@row("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def div_mode(t: Call, a: Any, b: Any, *, rounding_mode: str | None = None) -> Value:
    return floor_divide(t, a, b) if rounding_mode == "floor" else trunc(t, div(t, a, b)) if rounding_mode else div(t, a, b)


@row("aten.floor_divide")
def floor_divide(t: Call, a: Any, b: Any) -> Value:
    a, b = t.tensor(a), t.tensor(b)
    rest = _remainder(t.b, a, b)
    if a.dtype in ("f64", "f32", *NARROW):
        return t.b.unary("round_nearest_even", t.b.binary("divide", t.b.binary("subtract", a, rest), b))
    return t.b.binary("divide", t.b.binary("subtract", a, rest), b)


def _remainder(b: Builder, x: Value, y: Value) -> Value:
    """With the sign of y."""
    rest = b.binary("remainder", x, y)
    other = b.binary("xor", b.compare(rest, 0, "lt"), b.compare(y, 0, "lt"))
    wrong = b.binary("and", b.compare(rest, 0, "ne"), other)
    return b.select(wrong, b.binary("add", rest, y), rest)


@row("aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder.Scalar_Tensor")
def remainder(t: Call, a: Any, b: Any) -> Value:
    return _remainder(t.b, t.tensor(a), t.tensor(b))


@row("aten.pow.Tensor_Tensor", "aten.pow.Tensor_Scalar", "aten.pow.Scalar")
def power(t: Call, a: Any, b: Any) -> Value:
    if isinstance(b, Value):
        return t.b.binary("power", t.tensor(a), t.tensor(b))
    x = t.tensor(a)
    if b in (2, 3):
        twice = t.b.binary("multiply", x, x)
        return twice if b == 2 else t.b.binary("multiply", twice, x)
    if b in (0.5, -0.5):
        return t.b.unary("sqrt" if b > 0 else "rsqrt", x)
    return x if b == 1 else t.b.binary("power", x, t.tensor(b))


def _compared(name: str) -> None:
    @row(f"aten.{name}.Tensor", f"aten.{name}.Scalar")
    def compared(t: Call, a: Value, b: Any) -> Value:
        dtype = t.common()
        return t.b.compare(t.tensor(a, dtype), t.tensor(b, dtype), name)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _compared(_name)


@row("aten.where.self", "aten.where.ScalarOther", "aten.where.ScalarSelf", "aten.where.Scalar")
def where(t: Call, p: Value, a: Any, b: Any) -> Value:
    return t.b.select(t.tensor(t.b.cast(p, "bool"), "bool"), t.tensor(a), t.tensor(b))


@row("aten.masked_fill.Scalar", "aten.masked_fill.Tensor")
def masked_fill(t: Call, x: Value, p: Value, value: Any) -> Value:
    return where(t, p, value, x)


@row("aten.clamp", "aten.clamp.Tensor")
def clamp(t: Call, x: Value, low: Any = None, high: Any = None) -> Value:
    made = t.tensor(x)
    if low is not None:
        made = t.b.binary("maximum", made, t.tensor(low))
    return made if high is None else t.b.binary("minimum", made, t.tensor(high))


@row("aten.clamp_min", "aten.clamp_min.Tensor")
def clamp_min(t: Call, x: Value, low: Any) -> Value:
    return clamp(t, x, low)


@row("aten.clamp_max", "aten.clamp_max.Tensor")
def clamp_max(t: Call, x: Value, high: Any) -> Value:
    return clamp(t, x, None, high)


@row("aten.addcmul")
def addcmul(t: Call, x: Value, a: Value, b: Value, *, value: Any = 1) -> Value:
    return _plus(t, x, t.b.binary("multiply", t.tensor(a), t.tensor(b)), value)


@row("aten.addcdiv")
def addcdiv(t: Call, x: Value, a: Value, b: Value, *, value: Any = 1) -> Value:
    return _plus(t, x, t.b.binary("divide", t.tensor(a), t.tensor(b)), value)


def _plus(t: Call, x: Value, y: Value, by: Any) -> Value:
    return t.b.binary("add", t.tensor(x), y if by == 1 else t.b.binary("multiply", y, by))


@row("aten.lerp.Scalar", "aten.lerp.Tensor")
def lerp(t: Call, a: Value, b: Value, weight: Any) -> Value:
    a, b = t.tensor(a), t.tensor(b)
    return t.b.binary("add", a, t.b.binary("multiply", t.b.binary("subtract", b, a), t.tensor(weight)))


@row("aten.threshold_backward")
def threshold_backward(t: Call, grad: Value, x: Value, threshold: float) -> Value:
    return t.b.select(t.b.compare(t.tensor(x), threshold, "le"), t.b.const(0, t.dtype, t.shape), t.tensor(grad))


@row("aten.sigmoid_backward")
def sigmoid_backward(t: Call, grad: Value, y: Value) -> Value:
    rest = t.b.binary("subtract", t.b.const(1, y.dtype, y.shape), y)
    return t.b.binary("multiply", grad, t.b.binary("multiply", y, rest))


@row("aten.tanh_backward")
def tanh_backward(t: Call, grad: Value, y: Value) -> Value:
    rest = t.b.binary("subtract", t.b.const(1, y.dtype, y.shape), t.b.binary("multiply", y, y))
    return t.b.binary("multiply", grad, rest)


# --- views and copies ------------------------------------------------------------------------------------------------


@row("aten.view", "aten._unsafe_view", "aten.reshape", "aten.view_copy")
def view(t: Call, x: Value, shape: Any) -> Value:
    return t.b.reshape(x, t.shape)


@row("aten.view.dtype")
def view_dtype(t: Call, x: Value, dtype: Any) -> Value:
    return t.b.op("bitcast_convert", [x], t.dtype, t.shape, dtype=t.dtype) if x.dtype != t.dtype else x


@row("aten.unsqueeze", "aten.squeeze", "aten.squeeze.dim", "aten.squeeze.dims")
def with_ones(t: Call, x: Value, dim: Any = None) -> Value:
    return t.b.reshape(x, t.shape)


@row(
    "aten.alias", "aten.detach", "aten.clone", "aten.contiguous", "aten.lift_fresh_copy", "aten.lift_fresh",
    "aten._to_copy", "aten.to.dtype", "prims.convert_element_type", "aten.positive",
)  # fmt: skip
def same(t: Call, x: Value, *_: Any, **__: Any) -> Value:
    return t.b.cast(x, t.dtype)


@row("aten.copy")
def copy(t: Call, x: Value, source: Value, *_: Any) -> Value:
    return t.tensor(source)


@row("aten.permute")
def permute(t: Call, x: Value, dims: Sequence[int]) -> Value:
    return t.b.transpose(x, dims_of(list(dims), len(x.shape)) if dims else [])


@row("aten.transpose.int", "aten.t")
def transpose(t: Call, x: Value, first: int = 0, second: int = 1) -> Value:
    order = list(range(len(x.shape)))
    if len(order) > 1:
        order[first], order[second] = order[second], order[first]
    return t.b.transpose(x, order)


@row("aten.expand", "aten.broadcast_to")
def expand(t: Call, x: Value, *_: Any, **__: Any) -> Value:
    return t.b.expand(x, t.shape)


def _within(i: int | None, size: int, default: int) -> int:
    if i is None:
        return default
    return min(max(i + size if i < 0 else i, 0), size)


@row("aten.slice.Tensor")
def slice_(t: Call, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Value:
    dim %= len(x.shape)
    first = _within(start, x.shape[dim], 0)
    return t.b.slice(x, dim, first, max(first, _within(end, x.shape[dim], x.shape[dim])), step)


@row("aten.select.int")
def select_int(t: Call, x: Value, dim: int, index: int) -> Value:
    dim %= len(x.shape)
    index %= x.shape[dim]
    return t.b.reshape(t.b.slice(x, dim, index, index + 1), t.shape)


@row("aten.split_with_sizes", "aten.split.Tensor", "aten.unbind.int", "aten.chunk")
def split(t: Call, x: Value, sizes: Any = 0, dim: int = 0) -> tuple[Value, ...]:
    name = t.op
    dim = (sizes if "unbind" in name else dim) % len(x.shape)
    made, at = [], 0
    for result in t.results:
        n = 1 if "unbind" in name else result[1][dim]  # type: ignore[index]
        made.append(t.b.reshape(t.b.slice(x, dim, at, at + n), result[1]))  # type: ignore[index]
        at += n
    return tuple(made)


@row("aten.cat")
def cat(t: Call, xs: Sequence[Value], dim: int = 0) -> Value:
    some = [t.b.cast(x, t.dtype) for x in xs if x.shape != (0,)] or [t.b.cast(xs[0], t.dtype)]
    if len(some) == 1:
        return some[0]
    return t.b.op("concatenate", some, t.dtype, t.shape, dim=dim % len(t.shape))


@row("aten.stack")
def stack(t: Call, xs: Sequence[Value], dim: int = 0) -> Value:
    dim %= len(t.shape)
    parts = [t.b.reshape(t.b.cast(x, t.dtype), [*x.shape[:dim], 1, *x.shape[dim:]]) for x in xs]
    return parts[0] if len(parts) == 1 else t.b.op("concatenate", parts, t.dtype, t.shape, dim=dim)


@row("aten.constant_pad_nd")
def constant_pad(t: Call, x: Value, pad: Sequence[int], value: Any = 0) -> Value:
    rank = len(x.shape)
    low, high = [0] * rank, [0] * rank
    for i in range(len(pad) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = pad[2 * i], pad[2 * i + 1]
    if not any(low + high):
        return x
    return t.b.op("pad", [x, t.b.const(value, x.dtype)], x.dtype, t.shape, low=low, high=high)


@row("aten.flip")
def flip(t: Call, x: Value, dims: Sequence[int]) -> Value:
    return t.b.op("reverse", [x], x.dtype, x.shape, dims=dims_of(list(dims), len(x.shape))) if dims and x.shape else x


@row("aten.roll")
def roll(t: Call, x: Value, shifts: Any, dims: Any = ()) -> Value:
    shifts, dims = ([n] if isinstance(n, int) else list(n) for n in (shifts, dims))
    made = t.b.reshape(x, [math.prod(x.shape)]) if not dims else x
    for shift, dim in zip(shifts, dims or [0], strict=True):
        size = made.shape[dim]
        dim %= len(made.shape)
        at = size - shift % size if size else 0
        if at % size if size else 0:
            parts = [t.b.slice(made, dim, at, size), t.b.slice(made, dim, 0, at)]
            made = t.b.op("concatenate", parts, made.dtype, made.shape, dim=dim)
    return t.b.reshape(made, t.shape)


@row("aten.repeat")
def repeat(t: Call, x: Value, repeats: Sequence[int]) -> Value:
    shape = [1] * (len(repeats) - len(x.shape)) + list(x.shape)
    apart = [n for k, size in zip(repeats, shape, strict=True) for n in (k, size)]
    kept = [i for i, size in enumerate(shape) for i in [2 * i + 1]]
    wide = t.b.spread(t.b.reshape(x, shape), apart, kept)
    return t.b.reshape(wide, t.shape)


def _on_diagonal(b: Builder, shape: Sequence[int], offset: int, first: int, second: int) -> Value:
    rows = b.iota("i64", shape, first)
    return b.compare(b.binary("add", rows, offset), b.iota("i64", shape, second), "eq")


@row("aten.diagonal")
def diagonal(t: Call, x: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    rank = len(x.shape)
    first, second = first % rank, second % rank
    on = _on_diagonal(t.b, x.shape, offset, first, second)
    kept = t.b.select(on, x, t.b.const(0, x.dtype, x.shape))
    summed = t.b.reduce(kept, "or" if x.dtype == "bool" else "sum", [second])  # one element of each row is not 0
    at, start = first - (second < first), max(0, -offset)
    cut = t.b.slice(summed, at, start, start + t.shape[-1])
    return t.b.transpose(cut, [i for i in range(rank - 1) if i != at] + [at])


@row("aten.diagonal_scatter")
def diagonal_scatter(t: Call, x: Value, source: Value, offset: int = 0, first: int = 0, second: int = 1) -> Value:
    rank = len(x.shape)
    first, second = first % rank, second % rank
    if 0 in source.shape:
        return x
    others = [i for i in range(rank) if i not in (first, second)]
    start, n = max(0, -offset), source.shape[-1]
    low, high = [0] * len(source.shape), [0] * (len(source.shape) - 1) + [x.shape[first] - start - n]
    low[-1] = start
    source = t.b.cast(source, x.dtype)
    rows = t.b.op(
        "pad", [source, t.b.const(0, x.dtype)], x.dtype, [*source.shape[:-1], x.shape[first]], low=low, high=high
    )
    dims = [*others, first]
    order = sorted(range(len(dims)), key=lambda i: dims[i])
    wide = t.b.spread(t.b.transpose(rows, order), x.shape, [dims[i] for i in order])
    return t.b.select(_on_diagonal(t.b, x.shape, offset, first, second), wide, x)


@row("aten.slice_scatter")
def slice_scatter(
    t: Call, x: Value, source: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    dim %= len(x.shape)
    size = x.shape[dim]
    first = _within(start, size, 0)
    last = max(first, _within(end, size, size))
    source = t.b.cast(source, x.dtype)
    if step == 1:
        starts = [t.b.const(first if i == dim else 0, "i64") for i in range(len(x.shape))]
        if source.shape == x.shape:
            return source
        return t.b.op("dynamic_update_slice", [x, source, *starts], x.dtype, x.shape)
    n = source.shape[dim]
    low, high, interior = ([0] * len(x.shape) for _ in range(3))
    low[dim], interior[dim] = first, step - 1
    high[dim] = size - first - ((n - 1) * step + 1)
    wide = t.b.op(
        "pad", [source, t.b.const(0, x.dtype)], x.dtype, x.shape, low=low, high=high, interior=interior
    )
    ones = t.b.const(True, "bool", source.shape)
    at = t.b.op("pad", [ones, t.b.const(False, "bool")], "bool", x.shape, low=low, high=high, interior=interior)
    return t.b.select(at, wide, x) if last > first else x


class _Strided:
    """Elements of a tensor that is dense in memory, by where they lie there."""

    def __init__(self, t: Call, x: Value, size: Sequence[int], stride: Sequence[int], offset: int | None) -> None:
        meta = t.node.args[0].meta["val"]  # type: ignore[union-attr]
        self.b, self.size, self.stride, self.count = t.b, list(size), list(stride), math.prod(x.shape)
        self.order = sorted(range(len(x.shape)), key=lambda d: (-meta.stride(d), d))
        if not self._dense([x.shape[d] for d in self.order], [meta.stride(d) for d in self.order]):
            raise NotImplementedError("strides over what is not dense")
        self.first = (meta.storage_offset() if offset is None else offset) - meta.storage_offset()
        last = self.first + sum((n - 1) * s for n, s in zip(size, stride, strict=True))
        if self.first < 0 or last >= max(self.count, 1):
            raise NotImplementedError("strides over more than the tensor")
        self.place = sorted(range(len(size)), key=lambda d: (-stride[d], d))
        sizes, strides = ([of[d] for d in self.place] for of in (size, stride))
        self.all = math.prod(size) == self.count and self.first == 0 and self._dense(sizes, strides)

    @staticmethod
    def _dense(sizes: Sequence[int], strides: Sequence[int]) -> bool:
        left = math.prod(sizes)
        for n, s in zip(sizes, strides, strict=True):
            left //= max(n, 1)
            if n > 1 and s != left:
                return False
        return True

    def flat(self, x: Value) -> Value:
        return self.b.reshape(self.b.transpose(x, self.order), [self.count])

    def back(self, flat: Value, shape: Sequence[int]) -> Value:
        apart = self.b.reshape(flat, [shape[d] for d in self.order])
        return self.b.transpose(apart, [self.order.index(d) for d in range(len(shape))])

    def index(self) -> Value:
        at = self.b.const(self.first, "i64", self.size)
        for d, s in enumerate(self.stride):
            if self.size[d] > 1:
                step = self.b.binary("multiply", self.b.iota("i64", self.size, d), s)
                at = self.b.binary("add", at, step)
        return at


@row("aten.as_strided", "aten.as_strided_copy")
def as_strided(t: Call, x: Value, size: Sequence[int], stride: Sequence[int], offset: int | None = None) -> Value:
    s = _Strided(t, x, size, stride, offset)
    flat = s.flat(x)
    if not s.all:
        return _indexing.take(t.b, flat, s.index(), 0)
    apart = t.b.reshape(flat, [size[d] for d in s.place])
    return t.b.transpose(apart, [s.place.index(d) for d in range(len(size))])


@row("aten.as_strided_scatter")
def as_strided_scatter(
    t: Call, x: Value, source: Value, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Value:
    s = _Strided(t, x, size, stride, offset)
    source = t.b.cast(source, x.dtype)
    if s.all:
        return s.back(t.b.reshape(t.b.transpose(source, s.place), [s.count]), x.shape)
    return s.back(_indexing.scatter_rows(t.b, s.flat(x), s.index(), source, "replace"), x.shape)


@row("aten.select_scatter")
def select_scatter(t: Call, x: Value, source: Value, dim: int, index: int) -> Value:
    dim %= len(x.shape)
    index %= x.shape[dim]
    one = t.b.reshape(t.b.cast(source, x.dtype), [*x.shape[:dim], 1, *x.shape[dim + 1 :]])
    starts = [t.b.const(index if i == dim else 0, "i64") for i in range(len(x.shape))]
    return t.b.op("dynamic_update_slice", [x, one, *starts], x.dtype, x.shape)


# --- reductions ------------------------------------------------------------------------------------------------------


@row("aten.sum", "aten.sum.dim_IntList")
def sum_(t: Call, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return t.b.reduce(t.b.cast(x, t.dtype), "sum", dims_of(dim, len(x.shape)), keepdim)


@row("aten.mean", "aten.mean.dim")
def mean(t: Call, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return t.widened(lambda v: _mean(t.b, v, dims_of(dim, len(x.shape)), keepdim), t.b.cast(x, t.dtype))


def _mean(b: Builder, x: Value, dims: Sequence[int], keep: bool = False) -> Value:
    total = b.reduce(x, "sum", dims, keep)
    return b.binary("divide", total, math.prod(x.shape[d] for d in dims))


@row("aten.amax")
def amax(t: Call, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    return t.b.reduce(x, "or" if x.dtype == "bool" else "max", dims_of(list(dim), len(x.shape)), keepdim)


@row("aten.amin")
def amin(t: Call, x: Value, dim: Any = (), keepdim: bool = False) -> Value:
    return t.b.reduce(x, "and" if x.dtype == "bool" else "min", dims_of(list(dim), len(x.shape)), keepdim)


@row("aten.max")
def max_(t: Call, x: Value) -> Value:
    return amax(t, x)


@row("aten.min")
def min_(t: Call, x: Value) -> Value:
    return amin(t, x)


@row("aten.prod", "aten.prod.dim_int")
def prod(t: Call, x: Value, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Value:
    return t.b.reduce(t.b.cast(x, t.dtype), "product", dims_of(dim, len(x.shape)), keepdim)


@row("aten.any", "aten.any.dim", "aten.any.dims")
def any_(t: Call, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return t.b.cast(t.b.reduce(t.b.cast(x, "bool"), "or", dims_of(dim, len(x.shape)), keepdim), t.dtype)


@row("aten.all", "aten.all.dim", "aten.all.dims")
def all_(t: Call, x: Value, dim: Any = None, keepdim: bool = False) -> Value:
    return t.b.cast(t.b.reduce(t.b.cast(x, "bool"), "and", dims_of(dim, len(x.shape)), keepdim), t.dtype)


def _extreme(t: Call, op: str, x: Value, dim: int | None, keepdim: bool, dtype: str) -> Value:
    """The index of the largest or smallest element."""
    keep = {"keep_dims": True} if keepdim and dim is not None else {}
    if dim is None:
        x, dim = t.b.reshape(x, [math.prod(x.shape)]), 0
    if not x.shape:
        return t.b.const(0, dtype)
    dim %= len(x.shape)
    shape = [1 if i == dim else n for i, n in enumerate(x.shape) if keep or i != dim]
    return t.b.op(op, [x], dtype, shape, dim=dim, dtype=dtype, **keep)


@row("aten.argmax")
def argmax(t: Call, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return t.b.reshape(_extreme(t, "argmax", x, dim, keepdim, "i64"), t.shape)


@row("aten.argmin")
def argmin(t: Call, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return t.b.reshape(_extreme(t, "argmin", x, dim, keepdim, "i64"), t.shape)


@row("aten.max.dim")
def max_dim(t: Call, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, ...]:
    return amax(t, x, [dim], keepdim), _extreme(t, "argmax", x, dim, keepdim, "i64")


@row("aten.min.dim")
def min_dim(t: Call, x: Value, dim: int, keepdim: bool = False) -> tuple[Value, ...]:
    return amin(t, x, [dim], keepdim), _extreme(t, "argmin", x, dim, keepdim, "i64")


@row("aten.var.correction", "aten.var.dim")
def var(t: Call, x: Value, dim: Any = None, *rest: Any, correction: Any = 1, keepdim: bool = False) -> Value:
    if rest:  # of var.dim: unbiased, keepdim
        correction, keepdim = int(rest[0]), bool(rest[1]) if len(rest) > 1 else keepdim
    dims = dims_of(dim, len(x.shape))
    return t.widened(lambda v: _var(t.b, v, dims, 1 if correction is None else correction, keepdim)[0], x)


@row("aten.var_mean.correction")
def var_mean(t: Call, x: Value, dim: Any = None, *, correction: Any = 1, keepdim: bool = False) -> tuple[Value, ...]:
    dims = dims_of(dim, len(x.shape))
    wide = t.b.cast(x, "f32") if x.dtype in NARROW else x
    made = _var(t.b, wide, dims, 1 if correction is None else correction, keepdim)
    return tuple(t.b.cast(v, x.dtype) for v in made)


def _var(b: Builder, x: Value, dims: Sequence[int], correction: Any, keep: bool) -> tuple[Value, Value]:
    mean_ = _mean(b, x, dims, True)
    off = b.binary("subtract", x, b.expand(mean_, x.shape))
    total = b.reduce(b.binary("multiply", off, off), "sum", dims, keep)
    n = math.prod(x.shape[d] for d in dims) - correction
    mean_ = mean_ if keep else b.reshape(mean_, total.shape)
    return b.binary("divide", total, max(n, 0)), mean_


@row("aten.histc")
def histc(t: Call, x: Value, bins: int = 100, low: Any = 0, high: Any = 0) -> Value:
    """Each element beside each bin, so that elements can be counted apart."""
    if low >= high:
        raise NotImplementedError("bins between the least and the largest element")
    b = t.b
    wide = x if x.dtype in ("f32", "f64") else b.cast(x, "f64" if x.dtype not in NARROW else "f32")
    at = b.binary("multiply", b.binary("subtract", wide, low), bins / (high - low))
    at = b.binary("minimum", b.unary("floor", at), bins - 1)
    inside = b.binary("and", b.compare(wide, low, "ge"), b.compare(wide, high, "le"))
    at = b.select(inside, at, b.const(-1, at.dtype, at.shape))
    flat = b.reshape(b.cast(at, "i64"), [math.prod(x.shape)])
    wall = [flat.shape[0], bins]
    here = b.compare(b.spread(flat, wall, [0]), b.iota("i64", wall, 1), "eq")
    return b.reduce(b.cast(here, t.dtype), "sum", [0])


def _cumulative(name: str, kind: str) -> None:
    @row(f"aten.{name}")
    def cumulative(t: Call, x: Value, dim: int, *, dtype: Any = None) -> Value:
        x = t.b.cast(x, t.dtype)
        return t.b.op("cumulative", [x], x.dtype, x.shape, kind=kind, dim=dim % len(x.shape)) if x.shape else x


_cumulative("cumsum", "sum")
_cumulative("cumprod", "product")


@row("aten.logcumsumexp")
def logcumsumexp(t: Call, x: Value, dim: int) -> Value:
    return t.b.op("cumulative_logsumexp", [x], x.dtype, x.shape, dim=dim % len(x.shape)) if x.shape else x


@row("aten.sort", "aten.sort.stable")
def sort(t: Call, x: Value, *args: Any, stable: Any = None, dim: int = -1, descending: bool = False) -> tuple[Value, ...]:
    words = [a for a in args if a is not None and not ("stable" in t.op and a is args[0])]
    dim = words[0] if words else dim
    descending = bool(words[1]) if len(words) > 1 else descending
    if not x.shape:
        return x, t.b.const(0, "i64")
    dim %= len(x.shape)
    at = t.b.iota("i64", x.shape, dim)
    made = t.b.several(
        "sort", [x, at], [(x.dtype, x.shape), ("i64", x.shape)], dim=dim, keys=[0], descending=descending
    )
    return made[0], made[1]


@row("aten.topk")
def topk(t: Call, x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[Value, ...]:
    rank, dim = len(x.shape), dim % max(len(x.shape), 1)
    if not rank:
        return x, t.b.const(0, "i64")
    if not largest:
        values, indices = sort(t, x, dim, False)
        return t.b.slice(values, dim, 0, k), t.b.slice(indices, dim, 0, k)
    shape = t.shape
    values, indices = t.b.several("top_k", [x], [(x.dtype, shape), ("i32", shape)], k=k, dim=dim)
    return values, t.b.cast(indices, "i64")


# --- what has no operands --------------------------------------------------------------------------------------------


@row("aten.full", "aten.scalar_tensor", "aten.full_like", "aten.new_full", "aten.fill.Scalar")
def full(t: Call, *args: Any, **_: Any) -> Value:
    scalar = "scalar_tensor" in t.op
    return t.b.const(args[0] if scalar else args[-1] if not isinstance(args[-1], list) else 0, t.dtype, t.shape)


@row(
    "aten.zeros", "aten.zeros_like", "aten.new_zeros", "aten.empty.memory_format", "aten.empty_like", "aten.new_empty",
    "aten.empty_strided", "aten.new_empty_strided", "aten.empty_permuted", "aten.zero",
)  # fmt: skip
def zeros(t: Call, *_: Any, **__: Any) -> Value:
    return t.b.const(0, t.dtype, t.shape)


@row("aten.ones", "aten.ones_like", "aten.new_ones")
def ones(t: Call, *_: Any, **__: Any) -> Value:
    return t.b.const(1, t.dtype, t.shape)


@row("aten.arange.start_step", "aten.arange.start", "aten.arange", "prims.iota")
def arange(t: Call, *args: Any, **named: Any) -> Value:
    if "iota" in t.op:
        start, step = named["start"], named["step"]
    else:
        start, step = (args[0], args[2] if len(args) > 2 else 1) if len(args) > 1 else (0, 1)
    exact = "f64" if isinstance(start, float) or isinstance(step, float) else t.dtype
    made = t.b.iota(exact, t.shape, 0)
    if step != 1:
        made = t.b.binary("multiply", made, step)
    return t.b.cast(made if start == 0 else t.b.binary("add", made, start), t.dtype)


def _random(t: Call, dtype: str, **attrs: Any) -> Value:
    t.b.seeds += 1
    return t.b.op("rng", [], dtype, t.shape, shape=list(t.shape), dtype=dtype, seed=t.b.seeds, **attrs)


@row("aten.rand", "aten.rand_like", "aten.uniform")
def rand(t: Call, *args: Any, **_: Any) -> Value:
    low, high = args[1:3] if "uniform" in t.op and len(args) > 2 else (0.0, 1.0)
    return _random(t, t.dtype, low_value=float(low), high_value=float(high))


@row("aten.randn", "aten.randn_like")
def randn(t: Call, *_: Any, **__: Any) -> Value:
    return _random(t, t.dtype, distribution="normal")


def _kept(t: Call, share: float) -> Value:
    """True with that probability."""
    return t.b.compare(_random(t, "f32"), share, "lt")


@row("aten.bernoulli.p")
def bernoulli(t: Call, x: Value, p: float = 0.5, **_: Any) -> Value:
    return t.b.cast(_kept(t, p), t.dtype)


@row("aten.native_dropout")
def native_dropout(t: Call, x: Value, p: float, train: bool | None = None) -> tuple[Value, ...]:
    if train is False or p == 0:
        return x, t.b.const(True, "bool", x.shape)
    with t.b.part_of(t.b.unique(".".join(w for w in (t.b.scope, "dropout") if w))):
        kept = _kept(t, 1 - p)
        scaled = t.b.binary("multiply", x, 1 / (1 - p) if p < 1 else 0.0)
        return t.b.select(kept, scaled, t.b.const(0, x.dtype, x.shape)), kept


@row("aten.native_dropout_backward")
def native_dropout_backward(t: Call, grad: Value, kept: Value, scale: float) -> Value:
    return t.b.select(kept, t.b.binary("multiply", grad, scale), t.b.const(0, grad.dtype, grad.shape))


@row("aten.tril", "aten.triu")
def triangle(t: Call, x: Value, diagonal: int = 0) -> Value:
    rows, columns = (t.b.iota("i64", x.shape, len(x.shape) - k) for k in (2, 1))
    direction = "le" if "tril" in t.op else "ge"
    inside = t.b.compare(columns, t.b.binary("add", rows, diagonal), direction)
    return t.b.select(inside, x, t.b.const(0, x.dtype, x.shape))


@row("aten.eye", "aten.eye.m")
def eye(t: Call, *_: Any, **__: Any) -> Value:
    same_ = t.b.compare(t.b.iota("i64", t.shape, 0), t.b.iota("i64", t.shape, 1), "eq")
    return t.b.cast(same_, t.dtype)


# --- products --------------------------------------------------------------------------------------------------------


def _operand(b: Builder, x: Value, contract: int, batch: int) -> tuple[Value, int, int | None]:
    """What a product reads, without a transposition before it: (operand, contracted dim, batch dim or None)."""
    found = b.source.get(x.name)
    if not found or (batch and found[1].index(0) != 0):
        return x, contract, 0 if batch else None
    source, order = found
    return source, order[contract], order[0] if batch else None


def product(t: Call, x: Value, y: Value, batch: int = 0) -> Value:
    """Of matrices, or of a batch of them."""
    dtype = t.dtype
    x, y = t.b.cast(x, dtype), t.b.cast(y, dtype)
    shape = (*x.shape[:-1], y.shape[-1])
    a, ca, ba = _operand(t.b, x, len(x.shape) - 1, batch)
    c, cc, bc = _operand(t.b, y, len(y.shape) - 2, batch)
    attrs: dict[str, Any] = {"lhs_contract": [ca], "rhs_contract": [cc]}
    if batch:
        attrs |= {"lhs_batch": [ba], "rhs_batch": [bc]}
    return t.b.op("dot_general", [a, c], dtype, shape, "", **attrs)


@row("aten.mm")
def mm(t: Call, x: Value, y: Value) -> Value:
    return product(t, x, y)


@row("aten.bmm")
def bmm(t: Call, x: Value, y: Value) -> Value:
    return product(t, x, y, 1)


@row("aten.addmm", "aten.baddbmm")
def addmm(t: Call, bias: Value, x: Value, y: Value, *, beta: Any = 1, alpha: Any = 1) -> Value:
    made = product(t, x, y, len(x.shape) - 2)
    made = made if alpha == 1 else t.b.binary("multiply", made, alpha)
    if beta == 0:
        return made
    added = t.tensor(bias)
    return t.b.binary("add", made, added if beta == 1 else t.b.binary("multiply", added, beta))


@row("aten.mv", "aten.dot")
def mv(t: Call, x: Value, y: Value) -> Value:
    return t.b.op(
        "dot_general", [x, y], t.dtype, t.shape, "", lhs_contract=[len(x.shape) - 1], rhs_contract=[0]
    )


def _group(t: Call, offsets: Value) -> tuple[Value, Value]:
    """Where each group of rows begins, and where it ends."""
    ends = t.b.cast(offsets, "i64")
    n = ends.shape[0]
    zero = t.b.const(0, "i64", [1])
    return t.b.op("concatenate", [zero, t.b.slice(ends, 0, 0, n - 1)], "i64", [n], dim=0) if n > 1 else zero, ends


@row("aten._grouped_mm", "transformers.grouped_mm_fallback")
def grouped_mm(t: Call, x: Value, y: Value, offsets: Value | None = None, bias: Any = None, out_dtype: Any = None) -> Value:
    """Rows of x in groups, each with a matrix of its own; or, where y is a matrix, a product for each group of what is
    contracted."""
    if bias is not None or offsets is None or len(x.shape) != 2:
        raise NotImplementedError("grouped products with a bias, or with groups of columns")
    return _grouped(t, x, y, offsets, t.dtype, t.shape)


@row("transformers.grouped_mm_fallback_backward")
def grouped_mm_grad(t: Call, x: Value, y: Value, offsets: Value, grad: Value) -> tuple[Value, ...]:
    by_x = _grouped(t, grad, t.b.transpose(y, [0, 2, 1]), offsets, x.dtype, x.shape)
    return by_x, _grouped(t, t.b.transpose(x, [1, 0]), grad, offsets, y.dtype, y.shape)


def _grouped(t: Call, x: Value, y: Value, offsets: Value, dtype: str, shape: Sequence[int]) -> Value:
    """With a loop over groups, in which a point counts for one group only: so many flops as there are."""
    starts, ends = _group(t, offsets)
    n, group = ends.shape[0], {"size": ends.shape[0], "kind": "reduction", "combiner": "sum"}
    linear = [{"operands": [0], "kind": "sum"}, {"operands": [1], "kind": "sum"}]
    if len(y.shape) == 3:
        (rows, inner), columns = x.shape, y.shape[2]
        loops: list[Any] = [rows, columns, group, {**group, "size": inner}]
        maps, row_of = ["(d0,d3)", "(d2,d3,d1)", "(d2)", "(d2)", "(d0,d1)"], "d0"
    else:
        (inner, rows), columns = x.shape, y.shape[1]
        loops = [n, inner, columns, {**group, "size": rows}]
        maps, row_of = ["(d1,d3)", "(d3,d2)", "(d0)", "(d0)", "(d0,d1,d2)"], "d3"
    return t.b.generic(
        [x, y, starts, ends], dtype, shape, loops, [f"(d0,d1,d2,d3)->{m}" for m in maps],
        body=f"select({row_of} >= x2, select({row_of} < x3, x0 * x1, 0), 0)", linear=linear, flops_per_point=2 / n,
    )  # fmt: skip


def table_of_ops() -> str:
    """The table as Markdown: names of ops by what they are, as the files of rows say it."""
    of: dict[str, list[str]] = {}
    for name, function in ROWS.items():
        said = (sys.modules[function.__module__].__doc__ or "").split("\n\n")[0].replace("\n", " ")
        subject = said.partition("Rows of the table of ops: ")[2].rstrip(".") or "elements, shapes, sums and products"
        of.setdefault(subject, []).append(name.removesuffix(".default"))
    lines = ["# Ops of PyTorch that have a row", "", "Made by `python -m shardwright.torch ops`; other ops are planned whole, and named.", ""]
    for subject, names in of.items():
        lines += [f"**{subject[0].upper()}{subject[1:]}**", "", *textwrap.wrap(", ".join(sorted(names)), 128), ""]
    return "\n".join(lines).rstrip() + "\n"


from shardwright.torch import _bags, _fourier, _indexing, _layers  # noqa: E402,F401 # rows of other files
