"""Masks of attention that a model makes of positions alone: they are computed once, here, and found to be causal, or a
window, or nothing, as libraries of attention have them."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.fx
from torch.utils import _pytree as pytree

MOST_ELEMENTS = 2**29


def known(node: torch.fx.Node) -> dict[str, Any] | None:
    """Attributes of attention that say the mask; None: it depends on arguments, or is another."""
    if "shardwright mask" not in node.meta:
        node.meta["shardwright mask"] = _known(node)
    return node.meta["shardwright mask"]


def _known(node: torch.fx.Node) -> dict[str, Any] | None:
    mask = node.meta["val"]
    if math.prod(mask.shape) > MOST_ELEMENTS or mask.dim() < 2:
        return None
    value = _value(node)
    if value is None:
        return None
    if value.dtype != torch.bool:
        if not bool(((value == 0) | (value <= torch.finfo(value.dtype).min)).all()):
            return None
        value = value == 0
    value = value.reshape(-1, *value.shape[-2:])
    if not bool((value == value[:1]).all()):
        return None
    return _of_band(value[0])


def _of_band(seen: torch.Tensor) -> dict[str, Any] | None:
    """Keys that a query sees, if they are those around its own position."""
    queries, keys = seen.shape
    if bool(seen.all()):
        return {}
    off = torch.arange(keys)[None, :] - torch.arange(queries)[:, None]
    left, right = int(-off[seen].min()), int(off[seen].max())
    if left < 0 or right < 0 or not bool((seen == ((off >= -left) & (off <= right))).all()):
        return None
    causal = {"causal": True} if right == 0 else {}
    if left >= queries - 1 and causal:
        return causal
    return causal | {"window": [left, -1 if right >= keys - 1 else right]}


def _value(wanted: torch.fx.Node) -> torch.Tensor | None:
    """What a node gives, where no argument has to do with it."""
    needed: set[torch.fx.Node] = set()
    left = [wanted]
    while left:
        node = left.pop()
        if node in needed:
            continue
        if node.op == "placeholder" or torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            return None
        needed.add(node)
        left += node.all_input_nodes
    values: dict[torch.fx.Node, Any] = {}
    with torch.no_grad():
        for node in wanted.graph.nodes:
            if node not in needed:
                continue
            if node.op == "get_attr":
                values[node] = getattr(wanted.graph.owning_module, str(node.target))
            else:
                args, kwargs = pytree.tree_map(
                    lambda x: values[x] if isinstance(x, torch.fx.Node) else x, (node.args, node.kwargs)
                )
                values[node] = node.target(*args, **kwargs)  # type: ignore[operator]
            if node is wanted:
                break
    return values[wanted]
