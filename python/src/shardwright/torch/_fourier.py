"""Rows of the table of ops: Fourier transforms, and complex numbers as pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from shardwright.torch.model import Builder, Value
from shardwright.torch.ops import Call, row

PART = {"c64": "f32", "c128": "f64"}


def _scale(n: int, how: int) -> float:
    """Of sums of n: none, by the root of n, by n."""
    return (1.0, 1 / math.sqrt(n), 1 / n)[how]


def _scaled(b: Builder, x: Value, by: float) -> Value:
    if by == 1:
        return x
    if x.dtype not in PART:
        return b.binary("multiply", x, by)
    part = PART[x.dtype]
    re, im = (b.binary("multiply", b.unary(op, x, part), by) for op in ("real", "imag"))
    return b.op("complex", [re, im], x.dtype, x.shape)


def _along(b: Builder, x: Value, dim: int, kind: str, n: int, dtype: str) -> Value:
    """Of one dim, which is the last for that; n is its size as PyTorch knows it: of the real side."""
    order = [d for d in range(len(x.shape)) if d != dim] + [dim]
    back = [order.index(d) for d in range(len(order))]
    moved = b.transpose(x, order)
    size = n // 2 + 1 if kind == "rfft" else n
    made = b.op("fft", [moved], dtype, [*moved.shape[:-1], size], kind, fft_type=kind, fft_length=[n])
    return b.transpose(made, back)


def _complex(b: Builder, x: Value, dims: Sequence[int], forward: bool) -> Value:
    for dim in dims:
        x = _along(b, x, dim, "fft" if forward else "ifft", x.shape[dim], x.dtype)
    return x


@row("aten._fft_c2c")
def fft(t: Call, x: Value, dims: Sequence[int], how: int, forward: bool) -> Value:
    n = math.prod(x.shape[d] for d in dims)
    return _scaled(t.b, _complex(t.b, x, dims, forward), _scale(n, how) * (1 if forward else n))


@row("aten._fft_r2c")
def rfft(t: Call, x: Value, dims: Sequence[int], how: int, onesided: bool) -> Value:
    b, n = t.b, math.prod(x.shape[d] for d in dims)
    if not onesided:
        return _scaled(b, _complex(b, b.cast(x, t.dtype), dims, True), _scale(n, how))
    made = _along(b, x, dims[-1], "rfft", x.shape[dims[-1]], t.dtype)
    return _scaled(b, _complex(b, made, dims[:-1], True), _scale(n, how))


@row("aten._fft_c2r")
def irfft(t: Call, x: Value, dims: Sequence[int], how: int, last: int) -> Value:
    b, n = t.b, math.prod(t.shape[d] for d in dims)
    made = _along(b, _complex(b, x, dims[:-1], False), dims[-1], "irfft", last, t.dtype)
    return _scaled(b, made, _scale(n, how) * n)


@row("aten.view_as_real", "aten.view_as_real_copy")
def view_as_real(t: Call, x: Value) -> Value:
    parts = [t.b.reshape(t.b.unary(op, x, PART[x.dtype]), t.shape[:-1] + (1,)) for op in ("real", "imag")]
    return t.b.op("concatenate", parts, t.dtype, t.shape, dim=len(x.shape))


@row("aten.view_as_complex", "aten.view_as_complex_copy")
def view_as_complex(t: Call, x: Value) -> Value:
    last = len(x.shape) - 1
    parts = [t.b.reshape(t.b.slice(x, last, i, i + 1), t.shape) for i in range(2)]
    return t.b.op("complex", parts, t.dtype, t.shape)


@row("aten.complex")
def complex_(t: Call, re: Value, im: Value) -> Value:
    part = PART[t.dtype]
    return t.b.op("complex", [t.tensor(re, part), t.tensor(im, part)], t.dtype, t.shape)


@row("aten.real", "aten.imag")
def part(t: Call, x: Value) -> Value:
    return t.b.unary("imag" if "imag" in t.op else "real", x, t.dtype)


@row("aten._conj", "aten._conj_copy", "aten._conj_physical", "aten.conj_physical", "aten._neg_view", "aten.resolve_conj")
def conjugate(t: Call, x: Value, *_: Any) -> Value:
    if "neg_view" in t.op:
        return t.b.unary("negate", x)
    if x.dtype not in PART or "resolve" in t.op:
        return x
    p = PART[x.dtype]
    return t.b.op("complex", [t.b.unary("real", x, p), t.b.unary("negate", t.b.unary("imag", x, p))], x.dtype, x.shape)
