"""What libraries of models do when they run, and not when they are traced, or the other way round."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shardwright.torch import _flex, _written


@contextlib.contextmanager
def as_traced(models: Iterable[Any], kwargs: Mapping[str, Any]) -> Iterator[None]:
    """Models as they train: without caches, and, where nobody says positions, with one sequence in each row, which
    transformers finds out by looking at values."""
    undo: list[tuple[Any, str, Any]] = []

    def patch(holder: Any, name: str, value: Any) -> None:
        undo.append((holder, name, getattr(holder, name)))
        setattr(holder, name, value)

    try:
        for model in models:
            for module in model.modules():
                config = getattr(module, "config", None)
                if getattr(config, "use_cache", False) is True:
                    patch(config, "use_cache", False)
        masks = sys.modules.get("transformers.masking_utils")
        if masks and "position_ids" not in kwargs and hasattr(masks, "find_packed_sequence_indices"):
            patch(masks, "find_packed_sequence_indices", lambda position_ids: None)
        for holder, name, instead in [*_written.written_out(), *_flex.written_out()]:
            patch(holder, name, instead)
        yield
    finally:
        for holder, name, value in reversed(undo):
            setattr(holder, name, value)
