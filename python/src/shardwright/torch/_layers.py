"""Rows of the table of ops: what layers of networks are made of, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from shardwright.torch._indexing import pick
from shardwright.torch.model import NARROW, Builder, Value
from shardwright.torch.ops import Call, row

# --- softmax ---------------------------------------------------------------------------------------------------------


def _wide(b: Builder, x: Value) -> Value:
    return b.cast(x, "f32") if x.dtype in NARROW else x


def _along(b: Builder, x: Value, dim: int, like: Value) -> Value:
    """x without dim dim, as wide as `like`."""
    return b.spread(x, like.shape, [d for d in range(len(like.shape)) if d != dim])


def _softmax(t: Call, x: Value, dim: int, of: Callable[[Builder, Value, Value, int], Value]) -> Value:
    b = t.b
    if not x.shape:
        return b.reshape(_softmax_of(t, b.reshape(x, [1]), 0, of), [])
    return _softmax_of(t, x, dim % len(x.shape), of)


def _softmax_of(t: Call, x: Value, dim: int, of: Callable[[Builder, Value, Value, int], Value]) -> Value:
    b, name = t.b, t.name_function()
    with b.part_of(name):
        wide = _wide(b, x)
        shifted = b.binary("subtract", wide, _along(b, b.reduce(wide, "max", [dim]), dim, wide))
        exp = b.unary("exponential", shifted)
        total = b.reduce(exp, "sum", [dim])
        return b.result_of(name, b.cast(of(b, shifted, total, dim) if of is _log else of(b, exp, total, dim), t.dtype))


def _share(b: Builder, exp: Value, total: Value, dim: int) -> Value:
    return b.binary("divide", exp, _along(b, total, dim, exp))


def _log(b: Builder, shifted: Value, total: Value, dim: int) -> Value:
    return b.binary("subtract", shifted, _along(b, b.unary("log", total), dim, shifted))


@row("aten._softmax", "aten._safe_softmax")
def softmax(t: Call, x: Value, dim: int, *_: Any) -> Value:
    return _softmax(t, x, dim, _share)


@row("aten._log_softmax")
def log_softmax(t: Call, x: Value, dim: int, *_: Any) -> Value:
    return _softmax(t, x, dim, _log)


@row("aten._softmax_backward_data")
def softmax_grad(t: Call, grad: Value, out: Value, dim: int, *_: Any) -> Value:
    return _softmax_grad(t, grad, out, dim, log=False)


@row("aten._log_softmax_backward_data")
def log_softmax_grad(t: Call, grad: Value, out: Value, dim: int, *_: Any) -> Value:
    return _softmax_grad(t, grad, out, dim, log=True)


def _softmax_grad(t: Call, grad: Value, out: Value, dim: int, log: bool) -> Value:
    b = t.b
    if not grad.shape:
        return b.const(0, t.dtype)
    dim %= len(grad.shape)
    with b.part_of(t.gradient_of(out)):
        g, y = _wide(b, grad), _wide(b, out)
        weighed = g if log else b.binary("multiply", g, y)
        total = _along(b, b.reduce(weighed, "sum", [dim]), dim, g)
        if log:
            made = b.binary("subtract", g, b.binary("multiply", b.unary("exponential", y), total))
        else:
            made = b.binary("multiply", b.binary("subtract", g, total), y)
        return b.cast(made, t.dtype)


# --- losses ----------------------------------------------------------------------------------------------------------


def _weights(t: Call, x: Value, target: Value, weight: Value | None, ignore: int) -> tuple[Value, Value, int]:
    """(class of each sample, its weight: 0 where it is not counted, dim of classes)."""
    b, dim = t.b, 1 if len(x.shape) > 1 else 0
    counted = b.compare(target, ignore, "ne")
    classes = b.select(counted, target, b.const(0, target.dtype, target.shape))
    ones = b.const(1, x.dtype, target.shape)
    if weight is not None:
        ones = pick_rows(b, weight, classes)
    return classes, b.select(counted, ones, b.const(0, x.dtype, target.shape)), dim


def pick_rows(b: Builder, table: Value, indices: Value) -> Value:
    """Elements of a vector."""
    flat = b.reshape(indices, [math.prod(indices.shape)])
    return b.reshape(pick(b, table, 0, flat), indices.shape) if table.shape else table


def _with_dim(b: Builder, x: Value, dim: int) -> Value:
    return b.reshape(x, [*x.shape[:dim], 1, *x.shape[dim:]])


@row("aten.nll_loss_forward", "aten.nll_loss2d_forward")
def nll_loss(t: Call, x: Value, target: Value, weight: Value | None, how: int, ignore: int) -> tuple[Value, ...]:
    b = t.b
    classes, weights, dim = _weights(t, x, target, weight, ignore)
    picked = b.reshape(pick(b, x, dim, _with_dim(b, classes, dim)), target.shape)
    each = b.unary("negate", b.binary("multiply", picked, weights))
    every = range(len(each.shape))
    if how == 0:
        return each, b.const(0, x.dtype)
    count = b.reduce(_wide(b, weights), "sum", every)
    total = b.reduce(_wide(b, each), "sum", every)
    return b.cast(b.binary("divide", total, count) if how == 1 else total, x.dtype), b.cast(count, x.dtype)


@row("aten.nll_loss_backward", "aten.nll_loss2d_backward")
def nll_loss_grad(
    t: Call, grad: Value, x: Value, target: Value, weight: Value | None, how: int, ignore: int, count: Value
) -> Value:
    b = t.b
    classes, weights, dim = _weights(t, x, target, weight, ignore)
    if how == 1:
        grad = b.binary("divide", grad, count)
    each = b.unary("negate", b.binary("multiply", b.expand(grad, target.shape), weights))
    here = b.compare(b.iota(target.dtype, x.shape, dim), _along(b, classes, dim, x), "eq")
    return b.select(here, _along(b, each, dim, x), b.const(0, x.dtype, x.shape))


# --- activations -----------------------------------------------------------------------------------------------------


def _whole(t: Call, x: Value, of: Callable[[Builder, Value], Value]) -> Value:
    """A function of one tensor, in f32 where that is narrow."""
    name = t.name_function()
    t.b.functions[f"{t.op} of {x.name}"] = name
    with t.b.part_of(name):
        return t.b.result_of(name, t.b.cast(of(t.b, _wide(t.b, x)), t.dtype))


def _grown(t: Call, grad: Value, x: Value, of: Callable[[Builder, Value], Value]) -> Value:
    """grad times the derivative at x."""
    function = t.b.functions.get(f"{t.op.replace('_backward', '')} of {x.name}")
    with t.b.part_of(function and f"{function}.grad"):
        return t.b.cast(t.b.binary("multiply", _wide(t.b, grad), of(t.b, _wide(t.b, x))), t.dtype)


def _gelu(b: Builder, x: Value, tanh: bool, slope: bool) -> Value:
    half = b.binary("multiply", x, 0.5)
    if tanh:
        c = math.sqrt(2 / math.pi)
        square = b.binary("multiply", x, x)
        inner = b.binary("multiply", b.binary("add", b.binary("multiply", square, 0.044715), 1), x)
        y = b.unary("tanh", b.binary("multiply", inner, c))
    else:
        y = b.unary("erf", b.binary("multiply", x, math.sqrt(0.5)))
    share = b.binary("multiply", b.binary("add", y, 1), 0.5)
    if not slope:
        return b.binary("multiply", x, share)
    if tanh:
        rest = b.binary("subtract", b.const(1, x.dtype, x.shape), b.binary("multiply", y, y))
        inner_slope = b.binary("multiply", b.binary("add", b.binary("multiply", square, 3 * 0.044715), 1), c)
        return b.binary("add", share, b.binary("multiply", b.binary("multiply", half, rest), inner_slope))
    density = b.unary("exponential", b.binary("multiply", b.binary("multiply", x, x), -0.5))
    return b.binary("add", share, b.binary("multiply", b.binary("multiply", x, density), 1 / math.sqrt(2 * math.pi)))


@row("aten.gelu")
def gelu(t: Call, x: Value, *, approximate: str = "none") -> Value:
    return _whole(t, x, lambda b, v: _gelu(b, v, approximate == "tanh", slope=False))


@row("aten.gelu_backward")
def gelu_grad(t: Call, grad: Value, x: Value, *, approximate: str = "none") -> Value:
    return _grown(t, grad, x, lambda b, v: _gelu(b, v, approximate == "tanh", slope=True))


@row("aten.silu")
def silu(t: Call, x: Value) -> Value:
    return _whole(t, x, lambda b, v: b.binary("multiply", v, b.unary("logistic", v)))


@row("aten.silu_backward")
def silu_grad(t: Call, grad: Value, x: Value) -> Value:
    def slope(b: Builder, v: Value) -> Value:
        s = b.unary("logistic", v)
        rest = b.binary("subtract", b.const(1, v.dtype, v.shape), s)
        return b.binary("multiply", s, b.binary("add", b.binary("multiply", v, rest), 1))

    return _grown(t, grad, x, slope)


# --- norms -----------------------------------------------------------------------------------------------------------


def _last(x: Value, n: int) -> list[int]:
    return list(range(len(x.shape) - n, len(x.shape)))


def _of_rows(b: Builder, x: Value, like: Value) -> Value:
    """What there is of each row, 1 in the dims of the row, as wide as `like`."""
    return b.expand(b.cast(x, like.dtype), like.shape)


@row("aten.native_layer_norm")
def layer_norm(
    t: Call, x: Value, shape: Sequence[int], weight: Value | None, bias: Value | None, eps: float
) -> tuple[Value, ...]:
    b, name, dims = t.b, t.name_function(), _last(x, len(shape))
    n = math.prod(shape)
    with b.part_of(name):
        wide = _wide(b, x)
        mean = b.binary("divide", b.reduce(wide, "sum", dims, True), n)
        off = b.binary("subtract", wide, b.expand(mean, wide.shape))
        var = b.binary("divide", b.reduce(b.binary("multiply", off, off), "sum", dims, True), n)
        rstd = b.unary("rsqrt", b.binary("add", var, eps))
        made = b.binary("multiply", off, b.expand(rstd, wide.shape))
        if weight is not None:
            made = b.binary("multiply", made, _of_rows(b, weight, made))
        if bias is not None:
            made = b.binary("add", made, _of_rows(b, bias, made))
        out = b.result_of(name, b.cast(made, t.dtype))
    kept = tuple(b.cast(v, r[0]) for v, r in zip((mean, rstd), t.results[1:], strict=True) if r)
    for value in (mean, rstd, *kept):
        b.functions[value.name] = name
    return (out, *kept)


@row("aten.native_layer_norm_backward")
def layer_norm_grad(
    t: Call, grad: Value, x: Value, shape: Sequence[int], mean: Value, rstd: Value, weight: Value | None,
    bias: Value | None, wanted: Sequence[bool],
) -> tuple[Value | None, ...]:  # fmt: skip
    b = t.b
    with b.part_of(t.gradient_of(rstd)):
        g, wide = _wide(b, grad), _wide(b, x)
        normal = b.binary("subtract", wide, _of_rows(b, mean, wide))
        normal = b.binary("multiply", normal, _of_rows(b, rstd, wide))
        return _norm_grads(t, g, x, wide, normal, rstd, shape, weight, wanted, centred=True)


def _norm_grads(
    t: Call, g: Value, x: Value, wide: Value, normal: Value, rstd: Value, shape: Sequence[int], weight: Value | None,
    wanted: Sequence[bool], centred: bool,
) -> tuple[Value | None, ...]:  # fmt: skip
    b, dims, n = t.b, _last(wide, len(shape)), math.prod(shape)
    rows = list(range(len(wide.shape) - len(shape)))
    made: list[Value | None] = [None, None, None]
    if wanted[0]:
        scaled = g if weight is None else b.binary("multiply", g, _of_rows(b, weight, g))
        along = b.binary("divide", b.reduce(b.binary("multiply", scaled, normal), "sum", dims, True), n)
        rest = b.binary("subtract", scaled, b.binary("multiply", normal, b.expand(along, wide.shape)))
        if centred:
            mean = b.binary("divide", b.reduce(scaled, "sum", dims, True), n)
            rest = b.binary("subtract", rest, b.expand(mean, wide.shape))
        made[0] = b.cast(b.binary("multiply", rest, _of_rows(b, rstd, wide)), x.dtype)
    if wanted[1] and weight is not None:
        each = b.binary("multiply", g, normal)
        made[1] = b.cast(b.reduce(each, "sum", rows) if rows else each, weight.dtype)
    if len(wanted) > 2 and wanted[2]:
        made[2] = b.cast(b.reduce(g, "sum", rows) if rows else g, weight.dtype if weight else x.dtype)
    return tuple(made)


@row("aten._fused_rms_norm")
def rms_norm(t: Call, x: Value, shape: Sequence[int], weight: Value | None, eps: float | None) -> tuple[Value, ...]:
    b, name, dims = t.b, t.name_function(), _last(x, len(shape))
    eps = eps if eps is not None else 2.0**-52 if x.dtype == "f64" else 2.0**-23
    with b.part_of(name):
        wide = _wide(b, x)
        square = b.reduce(b.binary("multiply", wide, wide), "sum", dims, True)
        rstd = b.unary("rsqrt", b.binary("add", b.binary("divide", square, math.prod(shape)), eps))
        made = b.binary("multiply", wide, b.expand(rstd, wide.shape))
        if weight is not None:
            made = b.binary("multiply", made, _of_rows(b, weight, made))
        out = b.result_of(name, b.cast(made, t.dtype))
    kept = b.cast(rstd, t.results[1][0])  # type: ignore[index]
    b.functions[kept.name] = b.functions[rstd.name] = name
    return out, kept


@row("aten._fused_rms_norm_backward")
def rms_norm_grad(
    t: Call, grad: Value, x: Value, shape: Sequence[int], rstd: Value, weight: Value | None, wanted: Sequence[bool]
) -> tuple[Value | None, ...]:
    b = t.b
    with b.part_of(t.gradient_of(rstd)):
        g, wide = _wide(b, grad), _wide(b, x)
        normal = b.binary("multiply", wide, _of_rows(b, rstd, wide))
        return _norm_grads(t, g, x, wide, normal, rstd, shape, weight, wanted, centred=False)[:2]


@row("aten.native_group_norm")
def group_norm(
    t: Call, x: Value, weight: Value | None, bias: Value | None, n: int, c: int, size: int, groups: int, eps: float
) -> tuple[Value, ...]:
    b, name = t.b, t.name_function()
    per = c // groups * size
    with b.part_of(name):
        wide = b.reshape(_wide(b, x), [n, groups, per])
        mean = b.binary("divide", b.reduce(wide, "sum", [2], True), per)
        off = b.binary("subtract", wide, b.expand(mean, wide.shape))
        var = b.binary("divide", b.reduce(b.binary("multiply", off, off), "sum", [2], True), per)
        rstd = b.unary("rsqrt", b.binary("add", var, eps))
        made = b.reshape(b.binary("multiply", off, b.expand(rstd, wide.shape)), x.shape)
        if weight is not None:
            made = b.binary("multiply", made, b.spread(b.cast(weight, made.dtype), made.shape, [1]))
        if bias is not None:
            made = b.binary("add", made, b.spread(b.cast(bias, made.dtype), made.shape, [1]))
        out = b.result_of(name, b.cast(made, t.dtype))
    kept = tuple(b.cast(b.reshape(v, [n, groups]), x.dtype) for v in (mean, rstd))
    for value in kept:
        b.functions[value.name] = name
    return (out, *kept)


@row("aten.native_group_norm_backward")
def group_norm_grad(
    t: Call, grad: Value, x: Value, mean: Value, rstd: Value, weight: Value | None, n: int, c: int, size: int, groups: int,
    wanted: Sequence[bool],
) -> tuple[Value | None, ...]:  # fmt: skip
    b = t.b
    apart = [n, groups, c // groups, size]
    with b.part_of(t.gradient_of(rstd)):
        g, wide = b.reshape(_wide(b, grad), apart), b.reshape(_wide(b, x), apart)
        m, r = (b.spread(b.cast(v, wide.dtype), apart, [0, 1]) for v in (mean, rstd))
        normal = b.binary("multiply", b.binary("subtract", wide, m), r)
        made: list[Value | None] = [None, None, None]
        scaled = g
        if weight is not None:
            scaled = b.binary("multiply", g, b.spread(b.reshape(b.cast(weight, g.dtype), apart[1:3]), apart, [1, 2]))
        if wanted[0]:
            k = c // groups * size
            along = b.binary("divide", b.reduce(b.binary("multiply", scaled, normal), "sum", [2, 3]), k)
            total = b.binary("divide", b.reduce(scaled, "sum", [2, 3]), k)
            rest = b.binary("subtract", scaled, b.binary("multiply", normal, b.spread(along, apart, [0, 1])))
            rest = b.binary("subtract", rest, b.spread(total, apart, [0, 1]))
            made[0] = b.cast(b.reshape(b.binary("multiply", rest, r), x.shape), x.dtype)
        for i, each in ((1, lambda: b.binary("multiply", g, normal)), (2, lambda: g)):
            if wanted[i]:
                made[i] = b.cast(b.reshape(b.reduce(each(), "sum", [0, 3]), [c]), x.dtype)
        return tuple(made)


# --- attention -------------------------------------------------------------------------------------------------------


def _attended(t: Call, q: Value, mask: Value | None, causal: bool, scale: float | None) -> tuple[list[Value], dict[str, Any]]:
    """What attention reads behind q, k and v, and its attributes; a mask that everybody knows is said as what it is."""
    attrs: dict[str, Any] = {} if scale is None else {"scale": float(scale)}
    if causal:
        attrs["causal"] = True
    if mask is None:
        return [], attrs
    known = t.known_mask(t.node.kwargs.get("attn_mask"))
    if known is not None:
        return [], attrs | known
    shape = [1] * (4 - len(mask.shape)) + list(mask.shape)
    return [t.b.reshape(mask if mask.dtype == "bool" else t.b.cast(mask, q.dtype), shape)], attrs


@row("aten._scaled_dot_product_flash_attention_for_cpu")
def attention(
    t: Call, q: Value, k: Value, v: Value, dropout: float = 0.0, causal: bool = False, *, attn_mask: Value | None = None,
    scale: float | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    further, attrs = _attended(t, q, attn_mask, causal, scale)
    results = [r for r in t.results if r]
    return tuple(t.b.several("attention", [q, k, v, *further], results[:2], "", **attrs))


@row("aten._scaled_dot_product_flash_attention_for_cpu_backward")
def attention_grad(
    t: Call, grad: Value, q: Value, k: Value, v: Value, out: Value, lse: Value, dropout: float, causal: bool, *,
    attn_mask: Value | None = None, scale: float | None = None,
) -> tuple[Value, ...]:  # fmt: skip
    further, attrs = _attended(t, q, attn_mask, causal, scale)
    results = [r for r in t.results if r]
    return tuple(t.b.several("attention_grad", [q, k, v, out, lse, grad, *further], results[:3], "", **attrs))


# --- convolutions ----------------------------------------------------------------------------------------------------


def _each(given: Sequence[int], n: int) -> list[int]:
    return list(given) * n if len(given) == 1 else list(given)


def _layout(first: str, n: int) -> str:
    return first + "".join(map(str, range(n)))


def _spread_back(
    b: Builder, grad: Value, w: Value, dtype: str, shape: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    """The gradient of a convolution by what it reads, which a transposed one gives."""
    n = len(stride)
    k = w.shape[2:]
    w = b.op("reverse", [w], w.dtype, w.shape, dims=list(range(2, 2 + n)))
    layout = "io"
    if groups > 1:
        apart = b.reshape(w, [groups, w.shape[0] // groups, *w.shape[1:]])
        apart = b.transpose(apart, [0, 2, 1, *range(3, 3 + n)])
        w = b.reshape(apart, [groups * apart.shape[1], *apart.shape[2:]])
        layout = "oi"
    low = [(k[i] - 1) * dilation[i] - padding[i] for i in range(n)]
    high = [shape[2 + i] - 1 - (grad.shape[2 + i] - 1) * stride[i] + padding[i] for i in range(n)]
    return b.op(
        "convolution", [grad, w], dtype, shape, "",
        lhs_layout=_layout("bf", n), rhs_layout=_layout(layout, n), out_layout=_layout("bf", n), strides=[1] * n,
        pad_low=low, pad_high=high, lhs_dilation=list(stride), rhs_dilation=list(dilation), feature_groups=groups,
    )  # fmt: skip


@row("aten.convolution")
def convolution(
    t: Call, x: Value, w: Value, bias: Value | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int,
) -> Value:  # fmt: skip
    b, n = t.b, len(w.shape) - 2
    stride, padding, dilation = (_each(v, n) for v in (stride, padding, dilation))
    if transposed:
        made = _spread_back(b, x, w, t.dtype, t.shape, stride, padding, dilation, groups)
    else:
        made = b.op(
            "convolution", [x, w], t.dtype, t.shape, "",
            lhs_layout=_layout("bf", n), rhs_layout=_layout("oi", n), out_layout=_layout("bf", n), strides=stride,
            pad_low=padding, pad_high=padding, rhs_dilation=dilation, feature_groups=groups,
        )  # fmt: skip
    return made if bias is None else b.binary("add", made, b.spread(bias, made.shape, [1]))


@row("aten.convolution_backward")
def convolution_grad(
    t: Call, grad: Value, x: Value, w: Value, bias_sizes: Any, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], transposed: bool, output_padding: Sequence[int], groups: int, wanted: Sequence[bool],
) -> tuple[Value | None, ...]:  # fmt: skip
    if transposed:
        raise NotImplementedError("the gradient of a transposed convolution")
    b, n = t.b, len(w.shape) - 2
    stride, padding, dilation = (_each(v, n) for v in (stride, padding, dilation))
    made: list[Value | None] = [None, None, None]
    if wanted[0]:
        made[0] = _spread_back(b, grad, w, x.dtype, x.shape, stride, padding, dilation, groups)
    if wanted[1]:
        ends = [
            (grad.shape[2 + i] - 1) * stride[i] + 1 + (w.shape[2 + i] - 1) * dilation[i] - x.shape[2 + i] - padding[i]
            for i in range(n)
        ]
        made[1] = b.op(
            "convolution", [x, grad], w.dtype, w.shape, "",
            lhs_layout=_layout("fb", n), rhs_layout=_layout("io", n), out_layout=_layout("fb", n), strides=dilation,
            pad_low=padding, pad_high=ends, rhs_dilation=stride, batch_groups=groups,
        )  # fmt: skip
    if wanted[2]:
        made[2] = b.reduce(grad, "sum", [d for d in range(n + 2) if d != 1])
    return tuple(made)


# --- pooling ---------------------------------------------------------------------------------------------------------


class _Windows:
    """Of a pooling over the last n dims."""

    def __init__(
        self, x: Value, out: Sequence[int], n: int, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
        dilation: Sequence[int] = (1,),
    ) -> None:  # fmt: skip
        self.kernel, self.padding, self.dilation = _each(kernel, n), _each(padding, n), _each(dilation, n)
        self.stride = _each(stride, n) if stride else self.kernel
        size, got = x.shape[-n:], out[-n:]
        spans = [(k - 1) * d + 1 for k, d in zip(self.kernel, self.dilation, strict=True)]
        self.high = [
            (o - 1) * s + span - i - p
            for o, s, span, i, p in zip(got, self.stride, spans, size, self.padding, strict=True)
        ]
        lead = len(x.shape) - n
        self.attrs = {
            "window": [1] * lead + self.kernel,
            "strides": [1] * lead + self.stride,
            "pad_low": [0] * lead + self.padding,
            "pad_high": [0] * lead + self.high,
        }
        self.dilations = [1] * lead + self.dilation


@row("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool(
    t: Call, x: Value, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,), ceil: bool = False,
) -> tuple[Value, ...]:  # fmt: skip
    n = 2 if "2d" in t.op else 3
    w = _Windows(x, t.shape, n, kernel, stride, padding, dilation)
    made = t.b.op("reduce_window", [x], x.dtype, t.shape, kind="max", rhs_dilation=w.dilations, **w.attrs)
    return made, t.b.opaque("max_pool_indices", [x], [("i64", t.shape)])[0]  # the gradient finds them again


@row("aten.max_pool2d_with_indices_backward", "aten.max_pool3d_with_indices_backward")
def max_pool_grad(
    t: Call, grad: Value, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], ceil: bool, indices: Value,
) -> Value:  # fmt: skip
    n = 2 if "2d" in t.op else 3
    w = _Windows(x, grad.shape, n, kernel, stride, padding, dilation)
    if max(w.dilation) > 1:
        raise NotImplementedError("the gradient of pooling with dilation")
    return t.b.op(
        "select_and_scatter", [x, grad, t.b.const(0, x.dtype)], x.dtype, x.shape, select="ge", kind="sum", **w.attrs
    )


def _counts(b: Builder, x: Value, w: _Windows, out: Sequence[int], n: int, padded: bool, divisor: int | None) -> Value:
    """By how many elements a window is divided."""
    if divisor or not (padded and any(h > p for h, p in zip(w.high, w.padding, strict=True)) or any(w.padding + w.high)):
        return b.const(divisor or math.prod(w.kernel), x.dtype, out)
    sizes = x.shape[-n:]
    extra = w.padding if padded else [0] * n
    counts: list[list[int]] = []
    for i in range(n):
        starts = [o * w.stride[i] - w.padding[i] for o in range(out[len(out) - n + i])]
        low, high = -extra[i], sizes[i] + extra[i]
        counts.append([min(s + w.kernel[i], high) - max(s, low) for s in starts])
    whole: Value | None = None
    for i, along in enumerate(counts):
        one = b.constant_of(f"{b.scope}.{b.base}.counts", x.dtype, [len(along)], along)
        wide = b.spread(one, out, [len(out) - n + i])
        whole = wide if whole is None else b.binary("multiply", whole, wide)
    assert whole is not None
    return whole


@row("aten.avg_pool2d", "aten.avg_pool3d", "aten.avg_pool1d")
def avg_pool(
    t: Call, x: Value, kernel: Sequence[int], stride: Sequence[int] = (), padding: Sequence[int] = (0,), ceil: bool = False,
    padded: bool = True, divisor: int | None = None,
) -> Value:  # fmt: skip
    n = int(t.op.split("avg_pool")[1][0])
    w = _Windows(x, t.shape, n, kernel, stride, padding)
    total = t.b.op("reduce_window", [x], x.dtype, t.shape, kind="sum", **w.attrs)
    return t.b.binary("divide", total, _counts(t.b, x, w, t.shape, n, padded, divisor))


@row("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def avg_pool_grad(
    t: Call, grad: Value, x: Value, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], ceil: bool,
    padded: bool, divisor: int | None,
) -> Value:  # fmt: skip
    b, n = t.b, 2 if "2d" in t.op else 3
    w = _Windows(x, grad.shape, n, kernel, stride, padding)
    each = b.binary("divide", grad, _counts(b, x, w, grad.shape, n, padded, divisor))
    lead = len(x.shape) - n
    low = [k - 1 - p for k, p in zip(w.kernel, w.padding, strict=True)]
    high = [
        size + p - ((o - 1) * s + 1)
        for size, p, o, s in zip(x.shape[-n:], w.padding, grad.shape[-n:], w.stride, strict=True)
    ]
    wide = [(o - 1) * s + 1 + a + z for o, s, a, z in zip(grad.shape[-n:], w.stride, low, high, strict=True)]
    spread = b.op(
        "pad", [each, b.const(0, x.dtype)], x.dtype, [*x.shape[:lead], *wide],
        low=[0] * lead + low, high=[0] * lead + high, interior=[0] * lead + [s - 1 for s in w.stride],
    )  # fmt: skip
    return b.op("reduce_window", [spread], x.dtype, x.shape, kind="sum", window=[1] * lead + w.kernel)


def _averages(b: Builder, x: Value, size: int, got: int, dim: int, back: bool) -> Value:
    """x with dim of `size` averaged to `got`, over parts that may overlap: a product with a matrix; or the gradient of that."""
    wanted = size if back else got
    if size == got:
        return x
    ends = [(i * size // got, -(-(i + 1) * size // got)) for i in range(got)]
    matrix = [[1 / (e - s) if s <= j < e else 0.0 for j in range(size)] for s, e in ends]
    w = b.constant_of(f"{b.scope}.{b.base}.averages".lstrip("."), x.dtype, [got, size], matrix)
    others = [d for d in range(len(x.shape)) if d != dim]
    made = b.op(
        "dot_general", [x, w], x.dtype, [*(x.shape[d] for d in others), wanted], "",
        lhs_contract=[dim], rhs_contract=[0 if back else 1],
    )  # fmt: skip
    order = [*others, dim]
    return b.transpose(made, [order.index(d) for d in range(len(x.shape))])


@row("aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_avg_pool(t: Call, x: Value, size: Sequence[int]) -> Value:
    n = len(x.shape) - len(size)
    made = _wide(t.b, x)
    for i, got in enumerate(size):
        made = _averages(t.b, made, x.shape[n + i], got, n + i, back=False)
    return t.b.cast(made, t.dtype)


@row("aten._adaptive_avg_pool2d_backward", "aten._adaptive_avg_pool3d_backward")
def adaptive_avg_pool_grad(t: Call, grad: Value, x: Value) -> Value:
    made = _wide(t.b, grad)
    for d in range(len(x.shape) - (2 if "2d" in t.op else 3), len(x.shape)):
        made = _averages(t.b, made, x.shape[d], grad.shape[d], d, back=True)
    return t.b.cast(made, t.dtype)


# --- batch norms -----------------------------------------------------------------------------------------------------


def _channels(b: Builder, v: Value, like: Value) -> Value:
    """One number of each channel, dim 1, as wide as `like`."""
    return b.spread(b.cast(v, like.dtype), like.shape, [1])


def _batch_norm(
    t: Call, x: Value, weight: Value | None, bias: Value | None, running: tuple[Value, Value] | None, eps: float
) -> tuple[Value, Value, Value, Value]:
    """(result, mean, 1 / deviation, variance): of the batch, or as they run along."""
    b, name = t.b, t.name_function()
    dims = [d for d in range(len(x.shape)) if d != 1]
    n = math.prod(x.shape[d] for d in dims)
    with b.part_of(name):
        wide = _wide(b, x)
        if running is None:
            mean = b.binary("divide", b.reduce(wide, "sum", dims), n)
            off = b.binary("subtract", wide, _channels(b, mean, wide))
            var = b.binary("divide", b.reduce(b.binary("multiply", off, off), "sum", dims), n)
        else:
            mean, var = (b.cast(v, wide.dtype) for v in running)
            off = b.binary("subtract", wide, _channels(b, mean, wide))
        rstd = b.unary("rsqrt", b.binary("add", var, eps))
        made = b.binary("multiply", off, _channels(b, rstd, wide))
        if weight is not None:
            made = b.binary("multiply", made, _channels(b, weight, made))
        if bias is not None:
            made = b.binary("add", made, _channels(b, bias, made))
        out = b.result_of(name, b.cast(made, t.dtype))
    b.functions[rstd.name] = b.functions[mean.name] = name
    return out, mean, rstd, var


def _moved(b: Builder, old: Value, new: Value, momentum: float) -> Value:
    kept = b.binary("multiply", old, 1 - momentum)
    return b.binary("add", kept, b.binary("multiply", b.cast(new, old.dtype), momentum))


@row("aten._native_batch_norm_legit_functional", "aten._batch_norm_with_update_functional")
def batch_norm_step(
    t: Call, x: Value, weight: Value | None, bias: Value | None, mean: Value, var: Value, *rest: Any
) -> tuple[Value, ...]:
    b = t.b
    momentum, eps = rest[-2:]
    training = rest[0] if len(rest) > 2 else True
    if not training:
        old = [b.cast(v, r[0]) for v, r in zip((mean, var), t.results[-2:], strict=True) if r]
        return (*_batch_norm(t, x, weight, bias, (mean, var), eps)[:1], *_nothing(t, 1, len(t.results) - 2), *old)
    out, batch_mean, rstd, batch_var = _batch_norm(t, x, weight, bias, None, eps)
    n = math.prod(x.shape) // x.shape[1]
    wide = b.binary("multiply", batch_var, n / max(n - 1, 1))
    moved = (_moved(b, mean, batch_mean, momentum), _moved(b, var, wide, momentum))
    moved = tuple(b.cast(v, r[0]) for v, r in zip(moved, t.results[-2:], strict=True) if r)
    return (out, *_kept(t, batch_mean, rstd), *_nothing(t, 3, len(t.results) - 2), *moved)


def _kept(t: Call, mean: Value, rstd: Value) -> tuple[Value, Value]:
    """For the gradient, in the dtypes that they are kept in."""
    kept = tuple(t.b.cast(v, r[0]) for v, r in zip((mean, rstd), t.results[1:3], strict=True) if r)
    for value in kept:
        t.b.functions[value.name] = t.b.functions[rstd.name]
    return kept[0], kept[1]


def _nothing(t: Call, first: int, end: int) -> list[Value]:
    """Results that nobody has a use for."""
    return [t.b.const(0, *result) for result in t.results[first:end] if result is not None]


@row("aten._native_batch_norm_legit_no_training")
def batch_norm_infer(
    t: Call, x: Value, weight: Value | None, bias: Value | None, mean: Value, var: Value, momentum: float, eps: float
) -> tuple[Value, ...]:
    return (_batch_norm(t, x, weight, bias, (mean, var), eps)[0], *_nothing(t, 1, len(t.results)))


@row("aten._native_batch_norm_legit.no_stats")
def batch_norm_alone(
    t: Call, x: Value, weight: Value | None, bias: Value | None, training: bool, momentum: float, eps: float
) -> tuple[Value, ...]:
    out, mean, rstd, _ = _batch_norm(t, x, weight, bias, None, eps)
    return (out, *_kept(t, mean, rstd))


@row("aten.native_batch_norm_backward")
def batch_norm_grad(
    t: Call, grad: Value, x: Value, weight: Value | None, running_mean: Value | None, running_var: Value | None,
    mean: Value | None, rstd: Value | None, train: bool, eps: float, wanted: Sequence[bool],
) -> tuple[Value | None, ...]:  # fmt: skip
    b = t.b
    with b.part_of(t.gradient_of(rstd) if train and rstd is not None else None):
        g, wide = _wide(b, grad), _wide(b, x)
        if not train:
            assert running_mean is not None and running_var is not None
            mean, rstd = running_mean, b.unary("rsqrt", b.binary("add", b.cast(running_var, wide.dtype), eps))
        assert mean is not None and rstd is not None
        dims = [d for d in range(len(x.shape)) if d != 1]
        n = math.prod(x.shape[d] for d in dims)
        normal = b.binary("subtract", wide, _channels(b, mean, wide))
        normal = b.binary("multiply", normal, _channels(b, rstd, wide))
        total = b.reduce(g, "sum", dims)
        along = b.reduce(b.binary("multiply", g, normal), "sum", dims)
        made: list[Value | None] = [None, b.cast(along, x.dtype), b.cast(total, x.dtype)]
        if weight is not None:
            made[1:] = [b.cast(along, weight.dtype), b.cast(total, weight.dtype)]
        rest = g
        if train:
            rest = b.binary("subtract", g, _channels(b, b.binary("divide", total, n), g))
            rest = b.binary("subtract", rest, b.binary("multiply", normal, _channels(b, b.binary("divide", along, n), g)))
        scale = b.cast(rstd, g.dtype)
        if weight is not None:
            scale = b.binary("multiply", scale, b.cast(weight, g.dtype))
        made[0] = b.cast(b.binary("multiply", rest, _channels(b, scale, g)), x.dtype)
        return tuple(v if w else None for v, w in zip(made, wanted, strict=True))
