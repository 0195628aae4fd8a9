"""What a step does in this process: bytes of its collectives, and the memory that it holds."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import torch
import torch.distributed
from torch._subclasses.fake_tensor import FakeTensor
from torch.distributed.tensor import DTensor
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

# Of an operand's bytes, those that a process of a group of n receives.
RECEIVED = {
    "all_gather_into_tensor": ("all_gather", lambda n: n - 1),
    "all_reduce": ("all_reduce", lambda n: 2 * (n - 1) / n),
    "reduce_scatter_tensor": ("reduce_scatter", lambda n: (n - 1) / n),
    "all_to_all_single": ("all_to_all", lambda n: (n - 1) / n),
    "shard_dim_alltoall": ("all_to_all", lambda n: (n - 1) / n),
    "broadcast": ("broadcast", lambda n: 1),
}
LIBRARIES = ("_c10d_functional", "_dtensor")
COPIES = "resharded copies"


@dataclasses.dataclass(frozen=True)
class Where:
    """What a collective is for: an op that makes `value`, or a copy of that value from placements to others."""

    value: str
    op: str = ""
    to: tuple[Any, ...] = ()
    source: tuple[Any, ...] = ()


@dataclasses.dataclass
class Seen:
    """Of one step in this process. `collectives`: where, name, and bytes received, one after the other; `sources`: how a
    value was held of which a copy was wanted, by its name and the placements wanted; `peak_bytes`: most that was held at
    once, of that `at_peak` by what it is for."""

    collectives: list[tuple[Where, str, float]] = dataclasses.field(default_factory=list)
    sources: dict[tuple[str, tuple[Any, ...]], tuple[Any, ...]] = dataclasses.field(default_factory=dict)
    peak_bytes: int = 0
    peak_at: Where = Where("")
    at_peak: dict[str, int] = dataclasses.field(default_factory=dict)


class Watch(TorchDispatchMode):
    """Fills in a Seen. `where` is set by who runs the step, before each op; `classes`: what a value is for, by the names that
    stand in `where`."""

    def __init__(self, seen: Seen, classes: dict[str, str]) -> None:
        super().__init__()
        self.seen, self.classes = seen, classes
        self.where = Where("")
        self._held: dict[str, int] = {}
        self._known: set[int] = set()
        self._all = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if any(issubclass(t, DTensor) for t in types):
            return NotImplemented  # it comes back as what DTensor makes of it
        outs = func(*args, **(kwargs or {}))
        library, _, name = func._schema.name.partition("::") if hasattr(func, "_schema") else ("", "", "")
        if library in LIBRARIES and name in RECEIVED:
            kind, share = RECEIVED[name]
            n = _members(args[-1])
            received = share(n) * args[0].numel() * args[0].element_size()
            self.seen.collectives.append((self.where, kind, received))
        for made in pytree.tree_leaves(outs):
            if isinstance(made, torch.Tensor):
                self.holds(made)
        return outs

    def holds(self, tensor: torch.Tensor, what: str | None = None) -> None:
        """Until its storage is freed."""
        if isinstance(tensor, (FakeTensor, DTensor)) or tensor.is_meta or type(tensor) is not torch.Tensor:
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._known:
            return
        if what is None:
            what = COPIES if self.where.to else self.classes.get(self.where.value, "temporaries")
        size = storage.nbytes()
        self._known.add(key)
        self._held[what] = self._held.get(what, 0) + size
        self._all += size
        weakref.finalize(storage, self._freed, key, what, size).atexit = False
        if self._all > self.seen.peak_bytes:
            self.seen.peak_bytes, self.seen.peak_at, self.seen.at_peak = self._all, self.where, dict(self._held)

    def _freed(self, key: int, what: str, size: int) -> None:
        self._known.discard(key)
        self._held[what] -= size
        self._all -= size


def _members(group: Any) -> int:
    if isinstance(group, str):
        group = torch.distributed.distributed_c10d._resolve_process_group(group)
    return int(group.size())
