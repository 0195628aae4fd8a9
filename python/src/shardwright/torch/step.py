"""What is planned: a step with the models and optimizers that it changes, or a model of which a step is made."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils import _pytree as pytree

import shardwright


@dataclasses.dataclass
class Step:
    """A function, what it is called with, and what it uses besides."""

    call: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    models: dict[str, torch.nn.Module]  # by what the names of their parameters start with
    optimizers: list[torch.optim.Optimizer]
    name: str
    input_names: list[str]


def step_of(
    planned: Any, inputs: Any, targets: Any, loss: Callable[..., Any] | None, optimizer: Any, models: Any
) -> Step:
    args, kwargs = _as_call(inputs)
    if isinstance(planned, torch.nn.Module):
        return _of_model(planned, args, kwargs, _as_call(targets)[0], loss, optimizer)
    if loss is not None or targets is not None:
        raise TypeError("a step has its loss inside; expected loss= and targets= with a model alone")
    if not callable(planned):
        raise TypeError(f"{type(planned).__name__} cannot be planned; expected a torch.nn.Module or a function, a step of training")
    found, optimizers = _used_by(planned, args, kwargs)
    if models is not None:
        found = dict(models) if isinstance(models, Mapping) else {"": models}
    if optimizer is not None:
        optimizers = list(optimizer) if isinstance(optimizer, (list, tuple)) else [optimizer]
    if not found:
        raise TypeError(f"{_name(planned)} uses no model that is seen from outside; expected model=")
    names = _names(planned, args, kwargs)
    prefixes = {"": next(iter(found.values()))} if len(found) == 1 else {f"{n}." if n else "": m for n, m in found.items()}
    return Step(planned, args, kwargs, prefixes, optimizers, _name(planned), names)


def _as_call(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A tensor, the positional arguments as a tuple or list, or those by name as a dict."""
    if inputs is None:
        return (), {}
    if isinstance(inputs, (tuple, list)):
        return tuple(inputs), {}
    return ((), dict(inputs)) if isinstance(inputs, Mapping) else ((inputs,), {})


def _name(planned: Any) -> str:
    return getattr(planned, "__name__", type(planned).__name__)


def _names(called: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
    """Of the tensors of a call: what the function calls them, and where they are inside of that."""
    try:
        bound = inspect.signature(called).bind(*args, **kwargs)
        names = [name for name in bound.arguments if name not in ("args", "kwargs")][: len(args)]
    except (TypeError, ValueError):
        names = []
    names += [f"args[{i}]" for i in range(len(names), len(args))]
    named = [*zip(names, args, strict=True), *kwargs.items()]
    return [
        name + pytree.keystr(path)
        for name, value in named
        for path, leaf in pytree.tree_flatten_with_path(value)[0]
        if isinstance(leaf, torch.Tensor)
    ]


def _used_by(
    step: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[dict[str, torch.nn.Module], list[torch.optim.Optimizer]]:
    """Models and optimizers of a function: its arguments, its variables from outside, and the object it is a method of."""
    seen: dict[str, Any] = {}
    function = inspect.unwrap(getattr(step, "__func__", step))
    if inspect.isfunction(function):
        variables = inspect.getclosurevars(function)
        seen |= variables.globals | variables.nonlocals
    owner = getattr(step, "__self__", None)
    if owner is not None:
        seen |= vars(owner) if hasattr(owner, "__dict__") else {}
        seen["self"] = owner
    try:
        seen |= inspect.signature(step).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        seen |= kwargs
    values = [(n, v) for name, value in seen.items() for n, v in _flat(name, value)]
    models = {n: v for n, v in values if isinstance(v, torch.nn.Module)}
    unique = {id(m): n for n, m in reversed(models.items())}
    inside = {id(part) for m in models.values() for part in m.modules() if part is not m}
    models = {n: m for n, m in models.items() if unique[id(m)] == n and id(m) not in inside}
    optimizers = {id(v): v for _, v in values if isinstance(v, torch.optim.Optimizer)}
    return models, list(optimizers.values())


def _flat(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        return [(f"{name}{i}", v) for i, v in enumerate(value)]
    return [(f"{name}.{k}", v) for k, v in value.items()] if isinstance(value, dict) else [(name, value)]


# --- of a model alone ------------------------------------------------------------------------------------------------


def _of_model(
    model: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], targets: tuple[Any, ...],
    loss: Callable[..., Any] | None, optimizer: Any,
) -> Step:  # fmt: skip
    names = _names(model.forward, args, kwargs)
    names += ["target" if len(targets) == 1 else f"targets[{i}]" for i in range(len(targets))]
    n = len(args)
    if loss is None and optimizer is None:
        if targets:
            raise TypeError("targets are for a loss; expected loss=")

        def infer(*given: Any, **named: Any) -> Any:
            with torch.no_grad():
                return _tensors(model(*given, **named))

        return Step(infer, args, kwargs, {"": model}, [], _name(model), names)
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        optimizer = optimizer(p for p in model.parameters() if p.requires_grad)

    def train(*given: Any, **named: Any) -> Any:
        out = model(*given[:n], **named)
        value = _loss_of(out) if loss is None else loss(out, *given[n:])
        value.backward()
        if optimizer is None:
            return value, {name: p.grad for name, p in model.named_parameters() if p.grad is not None}
        optimizer.step()
        optimizer.zero_grad()
        return value

    optimizers = [] if optimizer is None else [optimizer]
    return Step(train, (*args, *targets), kwargs, {"": model}, optimizers, _name(model), _in_order(names, n, kwargs, targets))


def _in_order(names: list[str], n: int, kwargs: Mapping[str, Any], targets: Sequence[Any]) -> list[str]:
    """Targets are called with behind the arguments by position, before those by name."""
    by_name = sum(isinstance(v, torch.Tensor) for v in pytree.tree_leaves(dict(kwargs)))
    first = len(names) - len(targets) - by_name
    return names[:first] + names[len(names) - len(targets) :] + names[first : first + by_name]


def _loss_of(out: Any) -> torch.Tensor:
    value = out.get("loss") if isinstance(out, Mapping) else getattr(out, "loss", None)
    value = out if value is None else value
    if not isinstance(value, torch.Tensor) or value.dim():
        raise shardwright.InputError(
            f"the model gives {type(out).__name__}, which is no loss; expected loss=, a function of it, or labels among the inputs"
        )
    return value


def _tensors(out: Any) -> Any:
    """What a model returns, as a nest of what everybody knows."""
    if isinstance(out, Mapping):
        return {k: _tensors(v) for k, v in out.items() if v is not None}
    return tuple(_tensors(v) for v in out) if isinstance(out, (list, tuple)) else out
