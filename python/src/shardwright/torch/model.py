"""The JSON model of a traced step: values and ops as docs/model-format.md has them."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

DTYPES = {
    torch.float64: "f64",
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.float8_e4m3fn: "f8e4m3fn",
    torch.float8_e5m2: "f8e5m2",
    torch.float8_e4m3fnuz: "f8e4m3fnuz",
    torch.float8_e5m2fnuz: "f8e5m2fnuz",
    torch.float8_e8m0fnu: "f8e8m0fnu",
    torch.int8: "i8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
    torch.uint8: "u8",
    torch.uint16: "u16",
    torch.uint32: "u32",
    torch.uint64: "u64",
    torch.bool: "bool",
    torch.complex64: "c64",
    torch.complex128: "c128",
}
FLOATS = ("f64", "f32", "f16", "bf16")
NARROW = ("f16", "bf16", "f8e4m3fn", "f8e5m2", "f8e4m3fnuz", "f8e5m2fnuz", "f8e8m0fnu")


@dataclasses.dataclass(frozen=True, eq=False)
class Value:
    name: str
    dtype: str
    shape: tuple[int, ...]


def _element(value: Any) -> Any:
    if isinstance(value, list):
        return [_element(v) for v in value]
    if isinstance(value, complex):
        return [_element(value.real), _element(value.imag)]
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return value


class Builder:
    """A model in the making. Ops are named after the scope and what they do; dims of attrs are not negative."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.values: list[dict[str, Any]] = []
        self.ops: list[dict[str, Any]] = []
        self.outputs: list[Any] = []
        self.scope, self.base, self.location = "", "", None  # type: tuple[str, str, str | None]
        self.function: str | None = None
        self.functions: dict[str, str] = {}  # of which a value is a result
        self.source: dict[str, tuple[Value, tuple[int, ...]]] = {}  # of transposes
        self.seeds = 0  # of random numbers, so far
        self._count: dict[str, int] = {}
        self._outputs: set[str] = set()

    def unique(self, name: str) -> str:
        """The name, with a number behind it where it is taken."""
        while True:
            n = self._count.get(name, 0)
            self._count[name] = n + 1
            if n == 0:
                return name
            name = f"{name}.{n}"

    def argument(self, name: str, kind: str, dtype: str, shape: Sequence[int]) -> Value:
        made = Value(self.unique(name), dtype, tuple(shape))
        self.values.append({"name": made.name, "kind": kind, "dtype": dtype, "shape": list(shape)})
        return made

    def constant_of(self, name: str, dtype: str, shape: Sequence[int], elements: Any) -> Value:
        """Of given elements."""
        made = Value(self.unique(name), dtype, tuple(shape))
        self.values.append(
            {"name": made.name, "kind": "constant", "dtype": dtype, "shape": list(shape), "value": _element(elements)}
        )
        return made

    def op(
        self,
        op: str,
        inputs: Sequence[Value],
        dtype: str,
        shape: Sequence[int],
        part: str | None = None,
        /,
        **attrs: Any,
    ) -> Value:
        """An op of one result."""
        return self.several(op, inputs, [(dtype, tuple(shape))], part, **attrs)[0]

    def several(
        self,
        op: str,
        inputs: Sequence[Value],
        results: Sequence[tuple[str, tuple[int, ...]]],
        part: str | None = None,
        /,
        **attrs: Any,
    ) -> list[Value]:
        stem = ".".join(word for word in (self.scope, self.base, part if part is not None else op) if word)
        outs = [Value(self.unique(stem), dtype, tuple(shape)) for dtype, shape in results]
        written: dict[str, Any] = {
            "op": op,
            "inputs": [v.name for v in inputs],
            "outputs": [{"name": v.name, "dtype": v.dtype, "shape": list(v.shape)} for v in outs],
        }
        if attrs:
            written["attrs"] = attrs
        if self.function:
            written["function"] = self.function
        if self.location:
            written["location"] = self.location
        self.ops.append(written)
        return outs

    @contextlib.contextmanager
    def part_of(self, function: str | None) -> Iterator[None]:
        """Ops of a library's function."""
        was, self.function = self.function, function
        try:
            yield
        finally:
            self.function = was

    def result_of(self, function: str, value: Value) -> Value:
        """The value, by the name of the function whose result it is, where the last op has made it."""
        last = self.ops[-1]
        if len(last["outputs"]) > 1 or last["outputs"][0]["name"] != value.name:
            value = self.op("reshape", [value], value.dtype, value.shape, shape=list(value.shape))
            last = self.ops[-1]
        last["outputs"][0]["name"] = function
        self.functions[function] = function
        return Value(function, value.dtype, value.shape)

    # --- ops that many rows need

    def const(self, value: Any, dtype: str, shape: Sequence[int] = ()) -> Value:
        if dtype == "bool":
            value = bool(value)
        elif dtype in FLOATS or dtype in NARROW:
            value = float(value)
        else:
            value = complex(value) if dtype in ("c64", "c128") else int(value)
        return self.op("constant", [], dtype, shape, value=_element(value), shape=list(shape), dtype=dtype)

    def cast(self, x: Value, dtype: str) -> Value:
        if x.dtype == dtype:
            return x
        if dtype == "bool":
            return self.op("compare", [x, self.const(0, x.dtype, x.shape)], "bool", x.shape, direction="ne")
        if x.dtype in ("c64", "c128") and dtype not in ("c64", "c128"):
            part = "f32" if x.dtype == "c64" else "f64"
            return self.cast(self.op("real", [x], part, x.shape), dtype)
        return self.op("convert", [x], dtype, x.shape, dtype=dtype)

    def expand(self, x: Value, shape: Sequence[int]) -> Value:
        """To a shape that it broadcasts to, as PyTorch does: from the last dim on."""
        shape = tuple(shape)
        if x.shape == shape:
            return x
        first = len(shape) - len(x.shape)
        return self.op(
            "broadcast_in_dim", [x], x.dtype, shape, "wide", shape=list(shape), dims=list(range(first, len(shape)))
        )

    def spread(self, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
        """x's dim i becomes dim dims[i]."""
        return self.op("broadcast_in_dim", [x], x.dtype, shape, "wide", shape=list(shape), dims=list(dims))

    def reshape(self, x: Value, shape: Sequence[int]) -> Value:
        return x if x.shape == tuple(shape) else self.op("reshape", [x], x.dtype, shape, shape=list(shape))

    def transpose(self, x: Value, permutation: Sequence[int]) -> Value:
        """Of a transpose it is one of what that reads."""
        permutation = tuple(permutation)
        if x.name in self.source:
            x, before = self.source[x.name]
            permutation = tuple(before[p] for p in permutation)
        if permutation == tuple(range(len(permutation))):
            return x
        made = self.op("transpose", [x], x.dtype, [x.shape[p] for p in permutation], permutation=list(permutation))
        self.source[made.name] = (x, permutation)
        return made

    def unary(self, op: str, x: Value, dtype: str | None = None) -> Value:
        return self.op(op, [x], dtype or x.dtype, x.shape)

    def binary(self, op: str, a: Value, b: Any, dtype: str | None = None, **attrs: Any) -> Value:
        """Of one shape; b may be a number."""
        if not isinstance(b, Value):
            b = self.const(b, a.dtype, a.shape)
        return self.op(op, [a, b], dtype or a.dtype, a.shape, **attrs)

    def compare(self, a: Value, b: Any, direction: str) -> Value:
        return self.binary("compare", a, b, "bool", direction=direction)

    def select(self, p: Value, a: Value, b: Value) -> Value:
        return self.op("select", [p, a, b], a.dtype, a.shape)

    def iota(self, dtype: str, shape: Sequence[int], dim: int) -> Value:
        return self.op("iota", [], dtype, shape, shape=list(shape), dtype=dtype, dim=dim)

    def reduce(self, x: Value, kind: str, dims: Sequence[int], keep: bool = False) -> Value:
        dims = sorted(dims)
        shape = [1 if i in dims else n for i, n in enumerate(x.shape) if keep or i not in dims]
        extra = {"keep_dims": True} if keep else {}
        return self.op("reduce", [x], x.dtype, shape, kind, kind=kind, dims=dims, **extra)

    def slice(self, x: Value, dim: int, start: int, limit: int, step: int = 1) -> Value:
        starts, limits, steps = [0] * len(x.shape), list(x.shape), [1] * len(x.shape)
        starts[dim], limits[dim], steps[dim] = start, limit, step
        shape = [-(-(b - a) // s) for a, b, s in zip(starts, limits, steps, strict=True)]
        if tuple(shape) == x.shape:
            return x
        return self.op("slice", [x], x.dtype, shape, start=starts, limit=limits, strides=steps)

    def generic(
        self, inputs: Sequence[Value], dtype: str, shape: Sequence[int], loops: list[Any], maps: list[str], **more: Any
    ) -> Value:
        """An op with loops and maps of its own (docs/model-format.md): `more` are its other fields."""
        made = self.op("generic", inputs, dtype, shape, "")
        self.ops[-1] |= {"loops": loops, "maps": maps, **more}
        return made

    def opaque(self, target: str, inputs: Sequence[Value], results: Sequence[tuple[str, tuple[int, ...]]]) -> list[Value]:
        return self.several("opaque", inputs, results, "", target=target)

    # --- the end

    def output(self, value: Value, name: str, alias: str | None = None) -> None:
        """A result; with an alias it is what the next step finds in that argument."""
        while name in self._outputs:
            name += "'"
        self._outputs.add(name)
        written = {"value": value.name, "name": name}
        if alias is not None:
            written["alias"] = alias
        self.outputs.append(written)

    def _drop_unread(self) -> None:
        """Ops whose results nobody wants."""
        read = {o["value"] for o in self.outputs}
        kept = []
        for op in reversed(self.ops):
            if any(out["name"] in read for out in op["outputs"]):
                kept.append(op)
                read.update(op["inputs"])
        self.ops = kept[::-1]
        self.values = [v for v in self.values if v["kind"] != "constant" or v["name"] in read]

    def text(self) -> str:
        self._drop_unread()
        lines = [
            '{"format": "shardwright-model", "version": 1, "name": ' + json.dumps(self.name) + ",",
            '"values": [\n' + ",\n".join(map(json.dumps, self.values)) + "],",
            '"ops": [\n' + ",\n".join(map(json.dumps, self.ops)) + "],",
            '"outputs": ' + json.dumps(self.outputs) + "}",
        ]
        return "\n".join(lines) + "\n"
