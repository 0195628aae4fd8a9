"""Objects that a step changes in place, as modules of flax.nnx: under a plan it is a copy that changes, and is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax

FUNCTIONAL = (
    "a plan is of a function that returns what it changes: split modules into a graph and a state outside of it, "
    "graphdef, state = nnx.split((model, optimizer)), plan step(state, batch), which merges them by "
    "model, optimizer = nnx.merge(graphdef, state), and return nnx.state((model, optimizer)), donate_argnums=0"
)


def _kinds() -> tuple[type, ...]:
    """Of objects that change; flax is not imported for that."""
    nnx = sys.modules.get("flax.nnx")
    names = ("Module", "Object", "Pytree", "Variable")
    return tuple(kind for name in names if isinstance(kind := getattr(nnx, name, None), type)) if nnx else ()


def _objects(tree: Any, kinds: tuple[type, ...]) -> list[Any]:
    """The outermost objects of these kinds."""
    return [x for x in jax.tree.leaves(tree, is_leaf=lambda node: isinstance(node, kinds)) if isinstance(x, kinds)]


def _named(step: Callable[..., Any]) -> str:
    return getattr(step, "__name__", type(step).__name__)


def refuse_modules(others: Any, step: Callable[..., Any]) -> None:
    """Modules that JAX does not take for trees of arrays."""
    kinds = _kinds()
    found = _objects(others, kinds) if kinds else []
    if found and not all(jax.tree_util.tree_leaves(x) != [x] for x in found):
        raise TypeError(f"{_named(step)} takes a {type(found[0]).__name__}, whose arrays JAX does not see; {FUNCTIONAL}")


def mutable_leaves(args: Sequence[Any]) -> list[tuple[Any, list[Any]]]:
    """Each object that may change, with what it holds now."""
    kinds = _kinds()
    return [(x, jax.tree.leaves(x)) for x in _objects(args, kinds)] if kinds else []


def refuse_mutation(
    before: Sequence[tuple[Any, list[Any]]], out: Any, step: Callable[..., Any]
) -> None:
    """An object has changed, and what it holds now does not come back."""
    returned = {id(leaf) for leaf in jax.tree.leaves(out)}
    for changed, held in before:
        was = {id(leaf) for leaf in held}
        if any(id(leaf) not in was and id(leaf) not in returned for leaf in jax.tree.leaves(changed)):
            raise TypeError(f"{_named(step)} changes a {type(changed).__name__} in place; {FUNCTIONAL}")
