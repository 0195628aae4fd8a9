"""What a plan makes again, in a step of PyTorch: which nodes of its graph, and the same as policies of
torch.utils.checkpoint.

    plan.checkpoint(model)          # the model's layers, checkpointed as the plan has it
"""

from __future__ import annotations

import functools
import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.fx
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from shardwright.torch._again import draws
from shardwright.torch.trace import is_backward, scope_of

if TYPE_CHECKING:
    from shardwright.torch.plan import Plan

ContextFn = Callable[[], tuple[Any, Any]]


def _readers(node: torch.fx.Node) -> Iterator[torch.fx.Node]:
    """Tuples, and views that cost nothing, seen through."""
    for user in node.users:
        yield from _readers(user) if _is_free(user) else (user,)


def _is_item(node: torch.fx.Node) -> bool:
    return node.target is operator.getitem


def _is_free(node: torch.fx.Node) -> bool:
    return _is_item(node) or bool(getattr(node.target, "is_view", False))


def made_again(plan: Plan) -> set[torch.fx.Node]:
    """Nodes of the forward pass all of whose results, as far as it is known, the plan makes again for the backward pass. What
    draws random numbers would draw others."""
    ops = plan.report().data["ops_in_order"]
    again = {op["again_of"] for op in ops if "again_of" in op}
    found: set[torch.fx.Node] = set()
    for node in plan._traced.graph.graph.nodes:
        values = [name for name in plan._model.values.get(node.name, ()) if name]
        if node.op == "call_function" and values and not is_backward(node) and not draws(node):
            found |= {node} if all(name in again for name in values) else set()
        elif _is_item(node) and node.args[0] in found:
            found.add(node)
    return found


class _Module:
    """By op, of each call of it in the module's forward pass: is its result kept for the backward pass?"""

    def __init__(self, plan: Plan, name: str, again: set[torch.fx.Node]) -> None:
        self.kept: dict[Any, list[bool]] = defaultdict(list)
        for node in plan._traced.graph.graph.nodes:
            within = scope_of(node) == name or scope_of(node).startswith(f"{name}.")
            if node.op == "call_function" and within and not is_backward(node) and not _is_free(node):
                late = any(is_backward(reader) for reader in _readers(node))
                self.kept[node.target].append(late and node not in again)

    def contexts(self) -> tuple[Any, Any]:
        """For checkpoint(..., context_fn=...): one forward pass and its repetition, each of which counts its calls."""
        seen: dict[bool, Counter[Any]] = {False: Counter(), True: Counter()}

        def policy(context: Any, op: Any, *args: Any, **kwargs: Any) -> CheckpointPolicy:
            calls = self.kept.get(op, [])
            at = seen[context.is_recompute][op]
            seen[context.is_recompute][op] += 1
            kept = calls[at] if at < len(calls) else 2 * sum(calls) > len(calls)
            return CheckpointPolicy.MUST_SAVE if kept else CheckpointPolicy.PREFER_RECOMPUTE

        return create_selective_checkpoint_contexts(policy)


def contexts_of(plan: Plan, name: str) -> ContextFn:
    """Of the module of that path."""
    return _Module(plan, name, made_again(plan)).contexts


LISTS = (torch.nn.ModuleList, torch.nn.Sequential)


def layers(model: torch.nn.Module, lists: tuple[type, ...] = LISTS) -> dict[str, torch.nn.Module]:
    """Modules in lists of them, the outermost ones, by path."""
    found: dict[str, torch.nn.Module] = {}
    for path, module in model.named_modules():
        within = any(f"{path}.".startswith(f"{outer}.") for outer in found)
        if isinstance(module, lists) and not within:
            found |= {f"{path}.{name}" if path else name: child for name, child in module.named_children()}
    return found


def wrap(plan: Plan, models: Mapping[str, torch.nn.Module]) -> list[str]:
    """Checkpoint the layers of which the plan makes something again; their paths."""
    again = made_again(plan)
    wrapped: list[str] = []
    for prefix, model in models.items():
        for path, layer in layers(model).items():
            name = prefix + path
            if not any(scope_of(node) == name or scope_of(node).startswith(f"{name}.") for node in again):
                continue
            contexts = _Module(plan, name, again).contexts
            layer.forward = functools.partial(  # type: ignore[method-assign]
                checkpoint, layer.forward, use_reentrant=False, context_fn=contexts
            )
            wrapped.append(name)
    return wrapped
