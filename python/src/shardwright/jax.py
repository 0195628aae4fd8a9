"""Plans of JAX functions, and the functions under their plans.

    plan = shardwright.jax.plan(step, state, batch, mesh=mesh, hw="dgx-h100", donate_argnums=0)
    plan.in_specs                       # PartitionSpecs, as the arguments are nested
    fast = plan.jit()                   # step, with the sharding of every value in force
    state = fast(*plan.shard((state, batch)))

The function is lowered by `jax.jit(step).lower`; the plan's shardings are written into that program as
constraints, and `fast` runs it by `jax.export`. So XLA gets every sharding of the plan, not those of arguments and
results alone, of which its own propagation would make something else.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import io
import os
import pickle
import re
import sys
import time
import warnings
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
from jax.extend import mlir
from jax.extend.mlir.dialects import stablehlo
from jax.sharding import NamedSharding, PartitionSpec

import shardwright
from shardwright import _arguments
from shardwright._arguments import call_names, names_in
from shardwright._hlo import Check, check
from shardwright._named import Decided, decisions
from shardwright._mutation import mutable_leaves, refuse_modules, refuse_mutation
from shardwright._options import PathLike, ReadingOptions, StepOptions, lists, refuse_unknown
from shardwright._plan import _as_file, _price_as, _read, _sorted_out, _warn

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Plan", "load", "plan"]

UNPLANNED = (
    "the gradient of a planned function is right but not planned: no figure of the plan has its memory and time; "
    "plan the function that takes the gradient"
)
BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
CALLBACK = re.compile(r"custom_call @(\w*callback\w*)")
DIM = re.compile(r"\[([^\[\]]*)\]")
MOST_HALVINGS, HALVING_S = 4, 10.0  # of a batch that does not fit


def _is_array(leaf: Any) -> bool:
    """What jit takes for an argument; other leaves (functions, names) are a part of the program."""
    return hasattr(leaf, "shape") and hasattr(leaf, "dtype") or isinstance(leaf, (bool, int, float, complex))


def _is_none(leaf: Any) -> bool:
    return leaf is None


def _arrays(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf if _is_array(leaf) else None, tree)


def _others(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: None if _is_array(leaf) else leaf, tree)


def _together(arrays: Any, others: Any) -> Any:
    return jax.tree.map(lambda a, o: o if a is None else a, arrays, others, is_leaf=_is_none)


def _is_key(leaf: Any) -> bool:
    return hasattr(leaf, "dtype") and jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key)


def _shape(leaf: Any) -> jax.ShapeDtypeStruct:
    """As jit takes it, without x64 in 32 bits."""
    leaf = leaf if hasattr(leaf, "dtype") else jnp.asarray(leaf)
    dtype = leaf.dtype if _is_key(leaf) else jax.dtypes.canonicalize_dtype(leaf.dtype)
    return jax.ShapeDtypeStruct(leaf.shape, dtype)


def _type(leaf: jax.ShapeDtypeStruct) -> str:
    return f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]"


def _unplaced(leaf: Any) -> Any:
    """An array is where it is by chance: the plan says where it goes. What a ShapeDtypeStruct says is wanted."""
    if isinstance(leaf, (jax.Array, np.ndarray)):
        return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, weak_type=getattr(leaf, "weak_type", False))
    return leaf


def _as_held(leaf: jax.ShapeDtypeStruct) -> jax.ShapeDtypeStruct:
    """As a program has it: keys of random numbers are integers there."""
    return jax.eval_shape(jax.random.key_data, leaf) if _is_key(leaf) else leaf


def _to_held(value: Any) -> Any:
    return jax.random.key_data(value) if _is_key(value) else value


def _from_held(value: Any, like: jax.ShapeDtypeStruct) -> Any:
    if not _is_key(like):
        return value
    impl: list[Any] = []
    jax.eval_shape(lambda key: impl.append(jax.random.key_impl(key)), like)  # which asks for a key, not for its type
    return jax.random.wrap_key_data(value, impl=impl[0])


def _spec(sharding: str, leaf: jax.ShapeDtypeStruct) -> PartitionSpec:
    """Our spelling, as PartitionSpec has it."""
    if " " in sharding or ":" in sharding:
        raise ValueError(f"no PartitionSpec says {sharding}; expected whole axes, and no partial value")
    dims = [tuple(axis for axis in dim.split(",") if axis) for dim in DIM.findall(sharding[1:-1])]
    if any(dims[len(leaf.shape) :]):
        raise ValueError(f"{sharding} cuts a random key; expected keys to stay whole")
    return PartitionSpec(*(d[0] if len(d) == 1 else d or None for d in dims[: len(leaf.shape)]))


def _signature(step: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(step)
    except (TypeError, ValueError):  # as of what is built in
        return None


def _in_order(
    signature: inspect.Signature | None, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """A call as the function has its parameters: what may come by position does."""
    if signature is None or not kwargs:
        return list(args), dict(kwargs)
    bound = signature.bind(*args, **kwargs)
    return list(bound.args), bound.kwargs


def _of_call(
    signature: inspect.Signature | None, n: int, names: Sequence[str], static: Collection[int]
) -> inspect.Signature | None:
    """The signature of a function of n arguments and those named, one after the other, but for static ones: JAX names
    arguments by it."""
    if signature is None or not (names or static):
        return signature
    given = list(signature.parameters.values())
    several = [p.name for p in given if p.kind is p.VAR_POSITIONAL]
    first = [p.name for p in given if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][:n]
    first += [f"{several[0]}_{i}" for i in range(n - len(first))]
    left = [name for i, name in enumerate((*first, *names)) if i not in static]
    return inspect.Signature([inspect.Parameter(name, inspect.Parameter.POSITIONAL_ONLY) for name in left])


class _Step:
    """The function, split into arrays that come and go and everything else, which stays as it was planned. Arguments are
    those by position and then those by name, in the order of these."""

    def __init__(
        self,
        step: Callable[..., Any],
        args: Sequence[Any],
        donate: tuple[int, ...],
        static: tuple[int, ...],
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        self.step = step
        self.signature = _signature(step)
        args, kwargs = _in_order(self.signature, args, kwargs or {})
        self.n_first, self.keywords = len(args), tuple(kwargs)
        args = [*args, *kwargs.values()]
        n = len(args)
        self.static = {i % n: args[i] for i in static}
        self.moving = [i for i in range(n) if i not in self.static]
        self.donate = tuple(self.moving.index(i % n) for i in donate)
        self.others = tuple(_others(args[i]) for i in self.moving)
        self.args = tuple(_arrays(args[i]) for i in self.moving)
        self.out_others: Any = None
        self.whole = not self.static and not self.keywords and not jax.tree.leaves(self.others)
        refuse_modules(self.others, self.step)

        @functools.wraps(step)  # arguments are named as those of the function
        def on_arrays(*arrays: Any) -> Any:
            called = self.merge(arrays)
            before = mutable_leaves(called)
            out = self.call(called)
            refuse_mutation(before, out, step)
            self.out_others = _others(out)
            return _arrays(out)

        signature = _of_call(self.signature, self.n_first, self.keywords, self.static)
        if signature is not self.signature:
            on_arrays.__signature__ = signature  # type: ignore[attr-defined]
        self.names = call_names(signature, self.args)
        self.on_arrays = on_arrays
        self.jitted = jax.jit(on_arrays, donate_argnums=self.donate, keep_unused=True)
        traced = self.jitted.trace(*jax.tree.map(_unplaced, self.args))
        self.jaxpr = traced.jaxpr.jaxpr
        self.lowered = traced.lower()
        self.leaf_names = [leaf for name, tree in zip(self.names, self.args, strict=True) for leaf in names_in(name, tree)]
        leaves, self.in_tree = jax.tree.flatten(self.args)
        self.leaves = [_shape(leaf) for leaf in leaves]
        outs, self.out_tree = jax.tree.flatten(self.lowered.out_info)
        self.outs = [jax.ShapeDtypeStruct(o.shape, o.dtype) for o in outs]

    def given(self, arrays: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """What it was made of, shapes in place of arrays; or others of them."""
        args = self.merge(jax.tree.map(_unplaced, self.args if arrays is None else arrays))
        kwargs = dict(zip(self.keywords, args[self.n_first :], strict=True))
        donate = tuple(self.moving[i] for i in self.donate)
        return self.step, args[: self.n_first], donate, tuple(self.static), kwargs

    def call(self, args: Sequence[Any]) -> Any:
        return self.step(*args[: self.n_first], **dict(zip(self.keywords, args[self.n_first :], strict=True)))

    def merge(self, arrays: Sequence[Any]) -> list[Any]:
        args: list[Any] = [None] * (len(self.moving) + len(self.static))
        for i, value in self.static.items():
            args[i] = value
        for i, a, o in zip(self.moving, arrays, self.others, strict=True):
            args[i] = _together(a, o)
        return args

    def split(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The arrays of a call; what else it has must be what was planned."""
        args, kwargs = _in_order(self.signature, args, kwargs or {})
        if set(kwargs) != set(self.keywords):
            raise TypeError(f"the plan is for keywords {list(self.keywords)}; got {list(kwargs)}")
        args = [*args, *(kwargs[name] for name in self.keywords)]
        n = len(self.moving) + len(self.static)
        if len(args) != n:
            raise TypeError(f"the plan is for {n} arguments; got {len(args)}")
        for i, planned in self.static.items():
            if args[i] != planned:
                raise ValueError(f"static argument {i} is {args[i]!r}; the plan is for {planned!r}")
        return tuple(_arrays(args[i]) for i in self.moving)


class _Pickler(pickle.Pickler):
    """Devices, of which meshes are made, by their numbers; decorated functions, as by jax.jit, by their names, too."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, jax.Device):
            return _device, (value.id,)
        return value.__qualname__ if hasattr(value, "__wrapped__") and _is_of_module(value) else NotImplemented


def _is_of_module(value: Any) -> bool:
    """Is it what its module has by its name?"""
    found: Any = sys.modules.get(getattr(value, "__module__", ""))
    for part in getattr(value, "__qualname__", "").split("."):
        found = getattr(found, part, None)
    return found is value


def _device(number: int) -> jax.Device:
    for device in jax.devices():
        if device.id == number:
            return device
    raise ValueError(f"the plan is for device {number}, among others; this process has {len(jax.devices())} devices")


def _pickled(given: Any) -> bytes:
    to = io.BytesIO()
    try:
        _Pickler(to).dump(given)
    except (TypeError, AttributeError, pickle.PicklingError) as error:
        raise TypeError(
            f"what was planned cannot be pickled ({error}); expected a function of a module, and arguments that can be; "
            "plan.save and shardwright.jax.load do without"
        ) from None
    return to.getvalue()


class _Call:
    """The jitted function on arrays, called with everything else, too."""

    def __init__(self, step: _Step, jitted: Any) -> None:
        self._step = step
        self._jitted = jitted
        functools.update_wrapper(self, step.step)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _together(self._jitted(*self._step.split(args, kwargs)), self._step.out_others)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted.lower(*self._step.split(args, kwargs))


class Plan(shardwright.Plan):
    """A plan of a function of JAX: what shardwright.Plan tells, and the function under it."""

    _asked: dict[str, Any]  # options that it was made with, for the next one

    def __init__(self, of: shardwright.Plan, step: _Step, mesh: Any) -> None:
        super().__init__(of.problem, of._core, of._cancel)
        self._bind(step, mesh)

    def __getstate__(self) -> dict[str, Any]:
        problem = self.problem.__getstate__()
        del problem["text"]  # that of the function
        step = _pickled((self._step.given(), self._given, self._asked))
        return {**super().__getstate__(), "problem": problem, "step": step}

    def __setstate__(self, state: dict[str, Any]) -> None:
        given, mesh, asked = pickle.loads(state["step"])
        step = _Step(*given)
        problem = shardwright.Problem.__new__(shardwright.Problem)
        problem.__setstate__({**state["problem"], "text": _read(step.lowered)[1]})
        super().__setstate__({**state, "problem": problem})
        self._bind(step, mesh)
        self._asked = asked

    def _bind(self, step: _Step, mesh: Any) -> None:
        self._step = step
        self._given = mesh
        args, outs = self._ends("arguments"), self._ends("outputs")
        if (len(args), len(outs)) != (len(step.leaves), len(step.outs)):
            raise ValueError(
                f"the program has {len(args)} arguments and {len(outs)} results; expected those of the function, "
                f"{len(step.leaves)} and {len(step.outs)}"
            )
        self._pins_of = _arguments.Pins(self.problem, step.names)
        self._asked = {"pins": None, "memory": None}
        self._in = [_spec(s, leaf) for (_, s), leaf in zip(args, step.leaves, strict=True)]
        self._out = [_spec(s, leaf) for (_, s), leaf in zip(outs, step.outs, strict=True)]

    @property
    def in_specs(self) -> tuple[Any, ...]:
        """PartitionSpecs of the arguments that are not static, as these are nested."""
        return jax.tree.unflatten(self._step.in_tree, self._in)

    @property
    def out_specs(self) -> Any:
        """PartitionSpecs of the result, as it is nested."""
        return jax.tree.unflatten(self._step.out_tree, self._out)

    @functools.cached_property
    def jax_mesh(self) -> jax.sharding.Mesh:
        """The mesh that was given, or one of this process's devices in their order."""
        sizes = tuple(self.mesh.axes.values())
        if isinstance(self._given, jax.sharding.Mesh):
            return jax.sharding.Mesh(self._given.devices, self._given.axis_names)  # its axes of one type: XLA's to cut
        devices = jax.devices()
        if len(devices) < self.mesh.size:
            raise ValueError(f"the plan is for {self.mesh.size} devices; this process has {len(devices)}")
        return jax.sharding.Mesh(np.array(devices[: self.mesh.size]).reshape(sizes), tuple(self.mesh.axes))

    def _named(self, specs: list[PartitionSpec]) -> list[NamedSharding]:
        return [NamedSharding(self.jax_mesh, spec) for spec in specs]

    @property
    def in_shardings(self) -> tuple[Any, ...]:
        """NamedShardings of the arguments that are not static, on `jax_mesh`."""
        return jax.tree.unflatten(self._step.in_tree, self._named(self._in))

    @property
    def out_shardings(self) -> Any:
        """NamedShardings of the result, on `jax_mesh`."""
        return jax.tree.unflatten(self._step.out_tree, self._named(self._out))

    def shard(self, args: Sequence[Any], kwargs: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The arguments of a call, arrays among them placed on the mesh as planned; with `kwargs`, (args, kwargs)."""
        if not isinstance(args, (tuple, list)):
            raise TypeError(f"the arguments of a call are {type(args).__name__}; expected a tuple of them")
        step = self._step
        placed = step.merge(jax.device_put(step.split(args, kwargs), self.in_shardings))
        if kwargs is None:
            return tuple(placed)
        return tuple(placed[: step.n_first]), dict(zip(step.keywords, placed[step.n_first :], strict=True))

    def shard_one(self, name: str, value: Any) -> Any:
        """One argument, or a part of one, placed as planned: plan.shard_one("params['w1']", w)."""
        spec_of = dict(zip(self._step.leaf_names, self._named(self._in), strict=True))
        arrays = _arrays(value)
        names = names_in(name, arrays)
        wanted = [leaf for leaf in spec_of if _arguments.is_within(leaf, name)]
        if not wanted:
            raise KeyError(_arguments.no_such("shard_one", name, list(spec_of)))
        if names != wanted:
            raise TypeError(f"{name} holds {', '.join(names) or 'nothing'}; the plan is for {', '.join(wanted)}")
        leaves, tree = jax.tree.flatten(arrays)
        return _together(jax.tree.unflatten(tree, jax.device_put(leaves, [spec_of[n] for n in names])), _others(value))

    def what_if(self, pins: Any = None, *, recompute: str | None = None) -> shardwright.Answer:
        """What the plan would be with these pinned, too; said as `pins` of shardwright.jax.plan. Or with that made again."""
        return super().what_if(self._pins_of.texts(pins), recompute=recompute)

    def again(self, *args: Any, kwargs: Mapping[str, Any] | None = None, **changes: Any) -> Plan:
        """The plan of the same function for other arguments, as of another batch size; without any, for the same ones. Mesh,
        machine, pins and options stay, but for the `changes`: options of shardwright.jax.plan. The search starts from this
        plan, and so ends near to it."""
        step = self._step
        if args or kwargs:
            donate = tuple(step.moving[i] for i in step.donate)
            step = _Step(step.step, args, donate, tuple(step.static), kwargs)
        options = {**self._asked, "mesh": self._given or self.mesh, "hw": self.problem.machine, **changes}
        with _as_file(self._core.json()) as this:
            return _planned(step, **{**options, "start": options.get("start") or this})

    @functools.cached_property
    def checkpoint_names(self) -> dict[str, Decided]:
        """Of each name that the function gives values (jax.ad_checkpoint.checkpoint_name), how many of these the plan keeps,
        how many it makes again, and how many it offloads."""
        return decisions(self._step.jaxpr, self.report().data)

    def checkpoint_policy(self) -> Callable[..., bool]:
        """For jax.checkpoint(layer, policy=plan.checkpoint_policy()): saves or offloads the values of those names of which the
        plan keeps, or offloads, at least as many as it makes again. What has no name is made again."""
        if not self.checkpoint_names:
            raise ValueError("the function names no values; expected some by jax.ad_checkpoint.checkpoint_name(x, 'name')")
        names = self.checkpoint_names.items()
        away = [name for name, x in names if x.offloaded > x.kept and x.offloaded >= x.again]
        kept = [name for name, x in names if x.kept >= x.again and name not in away]
        policies = jax.checkpoint_policies
        if not away:
            return policies.save_only_these_names(*kept)
        return policies.save_and_offload_only_these_names(
            names_which_can_be_saved=kept, names_which_can_be_offloaded=away, offload_src="device", offload_dst="pinned_host"
        )

    @functools.cached_property
    def program(self) -> str:
        """The program with every sharding of the plan as a constraint, and what it makes again behind barriers: StableHLO
        that XLA compiles."""
        return self.emit("sdy")

    @functools.cached_property
    def _exported(self) -> jax.export.Exported:
        """That program, in place of one of the same arguments and results."""
        step = self._step
        if callback := CALLBACK.search(self.program):
            raise NotImplementedError(
                f"the function calls back into Python ({callback[1]}); such a function can be planned, and does not run "
                "under its plan"
            )
        held = [_as_held(leaf) for leaf in step.outs]
        shell = jax.jit(
            lambda *arrays: [jnp.zeros(leaf.shape, leaf.dtype) for leaf in held],
            in_shardings=self._named([_spec_of_held(s, x) for s, x in zip(self._in, step.leaves, strict=True)]),
            out_shardings=self._named([_spec_of_held(s, x) for s, x in zip(self._out, step.outs, strict=True)]),
            keep_unused=True,
        )
        exported = jax.export.export(shell)(*(_as_held(leaf) for leaf in step.leaves))
        program = mlir.serialize_portable_artifact(self.program, stablehlo.get_current_version(), True)
        return dataclasses.replace(exported, mlir_module_serialized=program)

    def jit(self) -> Any:
        """The function on the mesh, with the shardings of all values in force: called, lowered and compiled as what
        jax.jit gives, donations included. What the plan makes again stands in the program a second time; XLA may merge it
        with the first (on hosts it does), which plan.check() says.

        Its reverse-mode derivative is that of the function itself, which is run again for it, with arguments, results
        and gradients cut as the plan has arguments and results. It is right, but nobody planned it: a warning says so
        once. A function that calls back into Python (prints, callbacks) does not run under its plan."""
        step = self._step
        by_rule = self._with_gradient()

        def constrained(*arrays: Any) -> Any:
            leaves, tree = jax.tree.flatten(arrays)
            if tree != step.in_tree:
                raise TypeError(f"the arguments are nested as {tree}; the plan is for {step.in_tree}")
            for name, leaf, planned in zip(step.leaf_names, map(_shape, leaves), step.leaves, strict=True):
                if (leaf.shape, leaf.dtype) != (planned.shape, planned.dtype):
                    raise ValueError(
                        f"{name} is {_type(leaf)}; the plan is for {_type(planned)}; plan.again plans for other shapes"
                    )
            return jax.tree.unflatten(step.out_tree, by_rule(*leaves))

        functools.update_wrapper(constrained, step.step)
        del constrained.__wrapped__
        jitted = jax.jit(
            constrained,
            in_shardings=self.in_shardings,
            out_shardings=self.out_shardings,
            donate_argnums=step.donate,
            keep_unused=True,
        )
        return jitted if step.whole and not jax.tree.leaves(step.out_others) else _Call(step, jitted)

    def _with_gradient(self) -> Any:
        """The program of the plan, on leaves, with the derivative of the function: the program is called by
        jax.export, which has none of its own."""
        step, exported = self._step, self._exported
        ins, outs = self._named(self._in), self._named(self._out)

        def cut(leaves: Sequence[Any], shardings: list[NamedSharding]) -> list[Any]:
            return [jax.lax.with_sharding_constraint(x, s) for x, s in zip(leaves, shardings, strict=True)]

        def as_written(*leaves: Any) -> list[Any]:
            out = step.on_arrays(*jax.tree.unflatten(step.in_tree, cut(leaves, ins)))
            return cut(jax.tree.leaves(out), outs)

        @jax.custom_vjp
        def program(*leaves: Any) -> list[Any]:
            made = exported.call(*(_to_held(leaf) for leaf in leaves))
            return [_from_held(o, like) for o, like in zip(made, step.outs, strict=True)]

        def backward(leaves: tuple[Any, ...], gradients: list[Any]) -> tuple[Any, ...]:
            warnings.warn(UNPLANNED, shardwright.ModelWarning, stacklevel=2)
            return jax.vjp(as_written, *leaves)[1](gradients)

        program.defvjp(lambda *leaves: (program(*leaves), leaves), backward)
        return program

    def check(self, compiled: Any = None, *, tolerance: float = 0.1) -> Check:
        """What XLA compiled (what `plan.jit().lower(*args).compile()` gives, which is made where it is not given)
        beside what was predicted: collectives, memory, flops, and which of them differ by more than `tolerance`."""
        if compiled is None:
            jitted = self.jit()
            inner = jitted._jitted if isinstance(jitted, _Call) else jitted
            compiled = inner.lower(*jax.tree.unflatten(self._step.in_tree, self._step.leaves)).compile()
        hosts = self.jax_mesh.devices.flat[0].platform == "cpu"
        return check(self.report().data, compiled, tolerance, self._bytes_on_hosts if hosts else None)

    def _bytes_on_hosts(self) -> int:
        """What a device holds under the plan as XLA on hosts fuses ops."""
        problem = shardwright.Problem.__new__(shardwright.Problem)
        problem.__setstate__(self.problem.__getstate__() | {"compiler": "xla-cpu", "overlap": "none"})
        return shardwright.Plan(problem, problem._plan_of(self._core.json())).memory_bytes


def _spec_of_held(spec: PartitionSpec, leaf: jax.ShapeDtypeStruct) -> PartitionSpec:
    rank = len(_as_held(leaf).shape)
    return PartitionSpec(*spec, *[None] * (rank - len(spec)))


def _numbers(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


@lists(StepOptions, shardwright.Problem.__init__, shardwright.Problem.plan)
def plan(
    step: Callable[..., Any],
    *args: Any,
    mesh: Any = None,
    hw: PathLike | shardwright.Machine = "dgx-h100",
    donate_argnums: int | Sequence[int] = (),
    static_argnums: int | Sequence[int] = (),
    pins: Any = None,
    memory: int | str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    **options: Unpack[StepOptions],
) -> Plan:
    """The best plan of step(*args): of arrays, or shapes (jax.ShapeDtypeStruct), nested as JAX takes them.

    mesh        of JAX, or its axes: {"x": 2, "y": 4}; None: the profile's first
    pins        shardings that arguments must have, PartitionSpecs, NamedShardings on such a mesh or texts:
                    {"params['w1']": P(None, "y")}                   by names, which are those of plan.arguments
                    {"params*": P("x")}                              by patterns of names
                    {"params": {"w1": P(None, "y"), "w2": None}}     nested as an argument is
                    ({"w1": P(None, "y"), "w2": None}, P("x"))       nested as all of them are
                None pins nothing, P.UNCONSTRAINED leaves a dim open, and what stands for a tree is of all its leaves.
                Values in between are pinned by the names that reports have for them
    roles       what arguments are, said in the same ways: "parameter", "input", "state" or None; else it is guessed
    kwargs      arguments that step takes by name. step's own may also stand among the options, plan(step, p, x=x), but
                for those that are named as an option is: the option is meant. They come behind the others in in_specs,
                and in numbers
    memory      a device's, in bytes or as "80GB"
    trips       how often loops run of which the program does not say it: {"0.while": 100}, by the names of plan.explain;
                {"*": n}: all. Else they count once, with a warning
    compiler    whose kernels the program is priced as; "none": each op by itself. None: that of the plan to start from,
                else the profile's, else "xla"
    overlap     what runs beside what, by which plans are timed: "none", or "compiler". None: as the plan to start from,
                else as the compiler does it, which is none on hosts

    Donated arguments are state, whose memory the results take over. All other options are those of shardwright.plan.
    A step that changes its arguments in place, as modules of flax.nnx are changed, is refused: it is to return them.
    """
    named, asked = _for_step(plan, step, options)
    made = _Step(step, args, _numbers(donate_argnums), _numbers(static_argnums), {**named, **(kwargs or {})})
    return _planned(made, mesh=mesh, hw=hw, pins=pins, memory=memory, **asked)


def _for_step(
    call: Callable[..., Any], step: Callable[..., Any], options: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Keywords of a call that are the step's, and its options."""
    signature = _signature(step)
    by_name = () if signature is None else [p.name for p in signature.parameters.values() if p.kind in BY_NAME]
    known = inspect.signature(call).parameters
    own = {name: value for name, value in options.items() if name in by_name and name not in known}
    asked = {name: value for name, value in options.items() if name not in own}
    refuse_unknown(call, asked)
    return own, asked


def _planned(made: _Step, *, mesh: Any, hw: Any, pins: Any, memory: Any, **options: Any) -> Plan:
    reading, search = _sorted_out(plan, options)
    problem = _problem(made, mesh, hw, reading)
    _warn(problem, 1)
    texts = _arguments.Pins(problem, made.names).texts(pins)
    try:
        found = Plan(problem.plan(pins=texts, memory=memory, even="always", **search), made, mesh)
    except (shardwright.InfeasibleError, shardwright.ResourceError) as error:
        fits = error.none_fits and _batch_that_fits(made, problem, mesh, hw, reading, memory)
        if fits:
            error.args = (f"{error}\n  note: {fits}",)
        raise
    found._asked = {"pins": pins, "memory": memory, **options, "start": None}
    return found


def _batch_that_fits(
    made: _Step, problem: shardwright.Problem, mesh: Any, hw: Any, reading: dict[str, Any], memory: Any
) -> str | None:
    """The largest that does, of halves of the one given; None: none was found, or there are no inputs that have one."""
    kinds = [a["kind"] for a in problem.baseline("replicated").report().data["arguments"]]
    inputs = [leaf for leaf, kind in zip(made.leaves, kinds, strict=True) if kind == "input" and leaf.shape]
    batch = part = inputs[0].shape[0] if inputs else 1
    until_s = time.monotonic() + HALVING_S
    for left in range(MOST_HALVINGS, 0, -1):
        if part % 2 or time.monotonic() >= until_s:
            break
        part //= 2
        leaves = [
            jax.ShapeDtypeStruct((part, *leaf.shape[1:]), leaf.dtype)
            if kind == "input" and leaf.shape[:1] == (batch,)
            else leaf
            for leaf, kind in zip(made.leaves, kinds, strict=True)
        ]
        try:
            smaller = _problem(_Step(*made.given(jax.tree.unflatten(made.in_tree, leaves))), mesh, hw, reading)
            smaller._says_what_fits = False
            limit_s = max(0.1, (until_s - time.monotonic()) / left)
            found = smaller.plan(memory=memory, even="always", gap=100, time_limit=limit_s)
        except (shardwright.InfeasibleError, shardwright.ResourceError):
            continue
        except Exception:  # the function takes no other batch
            break
        unit, name = (2**30, "GiB") if found.memory_bytes >= 2**30 else (2**20, "MiB")
        held = f"{found.memory_bytes / unit:.3g} {name} per device"
        return f"the largest batch that would do is {part}, as far as found: {found.seconds:.3g} s, {held}"
    return None


@lists(ReadingOptions, shardwright.Problem.__init__)
def load(
    path: PathLike,
    step: Callable[..., Any],
    *args: Any,
    mesh: Any = None,
    hw: PathLike | shardwright.Machine | None = None,
    donate_argnums: int | Sequence[int] = (),
    static_argnums: int | Sequence[int] = (),
    kwargs: Mapping[str, Any] | None = None,
    **options: Unpack[ReadingOptions],
) -> Plan:
    """A plan that was saved (plan.save), of the same function and arguments; refused for others."""
    named, asked = _for_step(load, step, options)
    made = _Step(step, args, _numbers(donate_argnums), _numbers(static_argnums), {**named, **(kwargs or {})})
    reading, _ = _sorted_out(load, asked)
    axes, profile = _price_as(path, reading)
    hw = hw or (profile if profile in shardwright.profiles() else "uniform")
    problem = _problem(made, mesh or axes, hw, reading)
    _warn(problem)
    return Plan(problem.read_plan(path), made, mesh)


def _problem(made: _Step, mesh: Any, hw: Any, options: dict[str, Any]) -> shardwright.Problem:
    roles = _arguments.role_words(options.pop("roles", None), made.names, made.leaf_names)
    return shardwright.Problem(made.lowered, hw=hw, mesh=mesh, roles=roles, **options)
