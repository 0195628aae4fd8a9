"""Arguments of a function by their paths, as a program names them, and what a person says of them:

    {"params['w1']": P(None, "y")}                 by the name
    {"params*": "parameter"}                       by a pattern
    {"params": {"w1": P(None, "y"), "w2": None}}   nested as the argument is; None says nothing
    ({"w1": P(None, "y")}, P("x"))                 nested as all of them are; what stands for a tree is of all its leaves
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
from jax.sharding import NamedSharding, PartitionSpec
from jax.tree_util import all_leaves, keystr, tree_flatten_with_path

import shardwright

MOST_LISTED = 8
ROLES = ("parameter", "input", "state")


def call_names(signature: inspect.Signature | None, args: Sequence[Any]) -> list[str]:
    """What programs of JAX call the arguments of a call, without the paths in them."""
    if signature is None:
        return [f"args[{i}]" for i in range(len(args))]
    names: list[str] = []
    for name, value in signature.bind(*args).arguments.items():
        several = signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL
        names += [f"{name}[{i}]" for i in range(len(value))] if several else [name]
    return names


def names_in(name: str, tree: Any) -> list[str]:
    """Of its leaves."""
    return [name + keystr(path) for path, _ in tree_flatten_with_path(tree)[0]]


def _children(name: str, tree: Any) -> list[tuple[str, Any]]:
    """One level of it; a leaf has none."""
    found = tree_flatten_with_path(tree, is_leaf=lambda node: node is not tree)[0]
    return [(name + keystr(path), child) for path, child in found if path]


def is_within(leaf: str, name: str) -> bool:
    return leaf.startswith(name) and (len(leaf) == len(name) or leaf[len(name)] in "[.")


def no_such(what: str, name: str, names: Sequence[str]) -> str:
    """That no argument is named so, and what there is: like it, and then others."""
    words = ["".join(c if c.isalnum() or c == "_" else " " for c in n) for n in (name, *names)]
    close = difflib.get_close_matches(name, names, 3)
    if not close:  # the same key in another tree
        last = words[0].split()[-1:]
        close = [n for n, w in zip(names, words[1:], strict=True) if w.split()[-1:] == last][:3]
    listed = (close + [n for n in names if n not in close])[:MOST_LISTED]
    more = f" and {len(names) - len(listed)} more" if len(names) > len(listed) else ""
    return f"{what}: no argument is named {name}; there are {', '.join(listed)}{more}"


class Spread:
    """What is said, leaf by leaf: `of_leaf` by the names of arguments, and `others`: names that no argument has, as
    patterns and values in between are."""

    def __init__(self, what: str, said: Any, names: Sequence[str], leaves: Sequence[str], is_word: Callable[[Any], bool]):
        self.what, self.leaves, self.is_word = what, leaves, is_word
        self.of_leaf: dict[str, Any] = {}
        self.others: dict[str, Any] = {}
        if isinstance(said, Mapping):
            for name, value in said.items():
                self._named(name, value)
        elif isinstance(said, Sequence) and not is_word(said):
            if len(said) > len(names):
                raise ValueError(f"{what}: {len(said)} are said of {len(names)} arguments ({', '.join(names)})")
            for name, value in zip(names, said, strict=False):
                self._nested(name, value)
        else:
            raise TypeError(f"{what} is {said!r}; expected a dict by names of arguments, or a tuple as these are nested")

    def _named(self, name: Any, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{self.what}: {name!r} is no name; expected one such as {', '.join(self.leaves[:2])}")
        if any(is_within(leaf, name) for leaf in self.leaves):
            self._nested(name, value)
        elif isinstance(value, Mapping):
            raise shardwright.UsageError(no_such(self.what, name, self.leaves))
        elif value is not None:
            self.others[name] = value

    def _nested(self, name: str, value: Any) -> None:
        if value is None:
            return
        within = [leaf for leaf in self.leaves if is_within(leaf, name)]
        if self.is_word(value) or within == [name]:
            if not within:
                raise shardwright.UsageError(no_such(self.what, name, self.leaves))
            self.of_leaf.update(dict.fromkeys(within, value))
        elif all_leaves([value]):
            raise TypeError(f"{self.what}: {name} is said to be {value!r}")
        else:
            for child, inner in _children(name, value):
                self._nested(child, inner)


# --- roles -----------------------------------------------------------------------------------------------------------


def _is_role(word: Any) -> bool:
    return isinstance(word, str)


def role_words(roles: Any, names: Sequence[str], leaves: Sequence[str]) -> Any:
    """Roles by name and pattern, as shardwright.plan has them; what is no mapping and no tree is a file of them."""
    if roles is None or isinstance(roles, str) or hasattr(roles, "__fspath__"):
        return roles
    spread = Spread("roles", roles, names, leaves, _is_role)
    said = {**spread.others, **spread.of_leaf}
    for name, role in said.items():
        if not isinstance(role, str) or role.partition(" ")[0] not in ROLES:
            raise ValueError(f"roles: {name} is said to be {role!r}; expected 'parameter', 'input', 'state' or None")
    return said


# --- pins ------------------------------------------------------------------------------------------------------------


def _is_spec(value: Any) -> bool:
    return isinstance(value, (str, PartitionSpec, NamedSharding))


class Pins:
    """Pins of a call's arguments, and of values in between, as texts for a problem."""

    def __init__(self, problem: shardwright.Problem, names: Sequence[str]) -> None:
        self._problem, self._names = problem, names
        self._leaves = [name for name, _ in problem._core.arguments]

    def texts(self, pins: Any) -> list[str]:
        if pins is None:
            return []
        if isinstance(pins, str):
            return [pins]
        if isinstance(pins, (list, tuple)) and pins and all(isinstance(pin, str) for pin in pins):
            return list(pins)
        spread = Spread("pins", pins, self._names, self._leaves, _is_spec)
        shapes = dict(self._problem._core.arguments)
        texts = [f"{name}={self._spelled(spec, [(name, shapes[name])])}" for name, spec in spread.of_leaf.items()]
        for name, spec in spread.others.items():
            try:
                values = self._problem._core.find(name)
            except shardwright.UsageError as error:
                raise type(error)(f"{no_such('pins', name, self._leaves)}; nor is it a value in between: {error}") from None
            texts.append(f"{name}={self._spelled(spec, values)}")
        return texts

    def _spelled(self, spec: Any, values: Sequence[tuple[str, tuple[int, ...]]]) -> str:
        if isinstance(spec, str):
            return spec
        if isinstance(spec, NamedSharding):
            axes = dict(spec.mesh.shape)
            if axes != self._problem.mesh.axes:
                raise shardwright.InputError(
                    f"pins: {values[0][0]} is to be on a mesh of {axes}; the plan's is {self._problem.mesh.axes}"
                )
            spec = spec.spec
        if not isinstance(spec, (PartitionSpec, list, tuple)):
            raise TypeError(f"pins: {values[0][0]} is said to be {spec!r}; expected a PartitionSpec, or a sharding as text")
        dims = [_axes_of(dim) for dim in spec]
        for name, sizes in values:
            self._check(name, sizes, spec, dims)
        return "[" + ",".join("[?]" if dim is None else "[" + ",".join(dim) + "]" for dim in dims) + "]"

    def _check(self, name: str, sizes: tuple[int, ...], spec: Any, dims: Sequence[tuple[str, ...] | None]) -> None:
        mesh = self._problem.mesh.axes
        if len(dims) > len(sizes):
            raise shardwright.InputError(f"pins: {name} has {len(sizes)} dims, {list(sizes)}; {spec} is of {len(dims)}")
        seen: set[str] = set()
        for k, axes in enumerate(dims):
            for axis in axes or ():
                if axis not in mesh:
                    raise shardwright.InputError(
                        f"pins: dim {k} of {name}: axis {axis!r} is not in the mesh, which has {', '.join(mesh)}"
                    )
                if axis in seen:
                    raise shardwright.InputError(f"pins: {name}: {spec} names axis {axis!r} twice")
                seen.add(axis)


def _axes_of(dim: Any) -> tuple[str, ...] | None:
    """None: the dim is open."""
    if dim is PartitionSpec.UNCONSTRAINED:
        return None
    return () if dim is None else (dim,) if isinstance(dim, str) else tuple(dim)
