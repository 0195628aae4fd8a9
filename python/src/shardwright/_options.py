"""The options of `plan` and `load`, by name and type, and what is said of a name that is none of them."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Union

PathLike = Union[str, "os.PathLike[str]"]
Pins = Union[Mapping[str, Any], str, Iterable[str], None]
Roles = Union[Mapping[str, Any], "os.PathLike[str]", Sequence[Any], None]  # a path may be text; of functions trees, too
F = TypeVar("F", bound=Callable[..., Any])


class ReadingOptions(TypedDict, total=False):
    """How a model is read, and as what it is priced: options of `Problem`."""

    compiler: str | None
    overlap: str | None
    devices: int | None
    changes: Sequence[str]
    keep: str | None
    attention: str | None
    roles: Roles
    rules: PathLike | None
    sizes: Mapping[str, int] | None
    trips: Mapping[str, int] | None


class SearchOptions(TypedDict, total=False):
    """How a plan is searched for: options of `Problem.plan`, whatever the plan is for."""

    time_limit: float
    work_limit: int
    gap: float
    simplicity: float
    threads: int
    seed: int
    solver: str
    start: PathLike | None
    args_whole: bool
    cut_heavy_ops: bool
    batch_dim: str | None
    recompute: str
    schedule: PathLike | None


class StepOptions(ReadingOptions, SearchOptions, total=False):
    """Of plans of functions, whose calls name the other ones."""


class PlanOptions(StepOptions, total=False):
    """Of plans of models."""

    pins: Pins
    memory: int | str | None
    even: str


def lists(options: Any, *takers: Callable[..., Any]) -> Callable[[F], F]:
    """Of a function whose **options are handed on to `takers`: its signature lists them, with the defaults there."""
    taken = {name: p for taker in takers for name, p in inspect.signature(taker).parameters.items()}

    def listed(function: F) -> F:
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        listing = own + [taken[name] for name in options.__annotations__]
        function.__signature__ = signature.replace(parameters=listing)  # type: ignore[attr-defined]
        return function

    return listed


def refuse_unknown(function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    """A TypeError for what is none of the function's options, with the names that are like it."""
    known = [name for name, p in inspect.signature(function).parameters.items() if p.kind is p.KEYWORD_ONLY]
    for name in options:
        if name not in known:
            close = difflib.get_close_matches(name, known)
            hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"expected one of {', '.join(known)}"
            raise TypeError(f"{function.__name__}() has no option {name!r}; {hint}")


def split(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the problem, and those of the search."""
    reading = {name: value for name, value in options.items() if name in ReadingOptions.__annotations__}
    return reading, {name: value for name, value in options.items() if name not in reading}
