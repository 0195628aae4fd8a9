"""Plans of steps of PyTorch."""

from __future__ import annotations

import functools
import json
import warnings
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import torch
import torch.distributed
import torch.fx

import shardwright
from shardwright._options import PathLike, Pins, ReadingOptions, SearchOptions, StepOptions, lists
from shardwright._plan import _price_as, _sorted_out, _warn
from shardwright.torch._again import draws
from shardwright.torch.apply import Applied, values_of
from shardwright.torch.check import Check, check, classes
from shardwright.torch.compare import Comparison, compare
from shardwright.torch.convert import Model, convert
from shardwright.torch.forms import FORMS
from shardwright.torch.placements import placements
from shardwright.torch.recompute import ContextFn, contexts_of, wrap
from shardwright.torch.step import Step, step_of
from shardwright.torch.trace import Traced, trace

if TYPE_CHECKING:
    from torch.distributed.device_mesh import DeviceMesh
    from typing_extensions import Unpack


VIEWS = ("reshape", "transpose", "slice", "broadcast_in_dim")  # that take no place where ops run one by one


class Plan(shardwright.Plan):
    """A plan of a step of PyTorch: what shardwright.Plan tells, and DTensor placements by the names that the model has."""

    def __init__(
        self, of: shardwright.Plan, step: Step, traced: Traced, model: Model, search: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(of.problem, of._core, of._cancel)
        self._step, self._traced, self._model, self.searched = step, traced, model, dict(search or {})
        self._applied: Applied | None = None

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a plan of a step of PyTorch cannot be pickled; expected plan.save, and shardwright.torch.load")

    @property
    def model(self) -> str:
        """The step as a model in JSON (docs/model-format.md)."""
        return self._model.text

    @property
    def opaque(self) -> dict[str, int]:
        """Ops of the step that have no row in the table of ops, and how often: they are planned whole and count no work."""
        return dict(self._model.opaque)

    def placements(self, name: str | None = None) -> Any:
        """DTensor placements, one for each axis of the mesh, of every parameter, buffer, state of an optimizer and input, by
        name; of one argument, or of a module's, if a name is given."""
        found = {n: placements(n, s, self.mesh) for n, s in self.arguments.items() if name is None or _is_within(n, name)}
        if name is None:
            return found
        if not found:
            raise KeyError(f"no argument or module is named {name}; there are {', '.join(list(self.arguments)[:8])}, ...")
        return found[name] if name in found else found

    def device_mesh(self, device_type: str = "cpu") -> DeviceMesh:
        """The mesh, of the processes of this job (torch.distributed.init_device_mesh)."""
        from torch.distributed.device_mesh import init_device_mesh

        return init_device_mesh(device_type, tuple(self.mesh.axes.values()), mesh_dim_names=tuple(self.mesh.axes))

    def apply(self, model: Any = None, mesh: DeviceMesh | None = None, *, optimizer: Any = None) -> Applied:
        """The step under the plan, on the processes of this job: a function as the step is, over DTensors.

        model       the one that was planned, or another of its shapes (one planned without weights, say); a dict of them, by the
                    names that the step has for them, where there are several. Every process holds the same weights
        mesh        of the plan's axes; None: device_mesh()
        optimizer   whose state goes on; without it that of the plan's, or from 0

        Refused before anything changes where names, shapes or the mesh are others. Where the step draws random numbers, as
        dropout does, a ModelWarning says that they are not those of one process. What the plan makes again, the step does, but for
        what draws random numbers."""
        mesh = mesh or self.device_mesh()
        axes = dict(zip(mesh.mesh_dim_names or (), mesh.shape, strict=False))
        if axes != self.mesh.axes:
            raise shardwright.InputError(f"the mesh has {axes}; the plan is for {self.mesh.axes}")
        models = self._models(model)
        optimizers = self._step.optimizers if optimizer is None else [optimizer]
        values = values_of(self._traced.arguments, models, optimizers)
        drawn = sorted({str(node.target) for node in self._traced.graph.graph.nodes if draws(node)})
        if drawn:
            said = f"the step draws random numbers ({', '.join(drawn)}): they are not those that one process draws"
            warnings.warn(said, shardwright.ModelWarning, stacklevel=2)
        self._applied = Applied(self._of_all(mesh), mesh, values, _keys(models, values))
        return self._applied

    def _models(self, given: Any) -> Mapping[str, torch.nn.Module]:
        """By the prefixes of their names; None: those of the step."""
        if given is None:
            return self._step.models
        named = given if isinstance(given, Mapping) else {"": given}
        return {f"{name}." if name else "": model for name, model in named.items()}

    def check(self) -> Check:
        """Of the first step that was made under this plan, in this process: bytes of its collectives and the memory that it
        held, beside what was planned, with reasons where they differ."""
        if self._applied is None or self._applied.seen is None:
            raise shardwright.InputError("no step was made under this plan; expected plan.apply, and a call of what it gives")
        applied = self._applied
        return check(applied._plan, applied._step, applied.seen, applied.whole, applied.mesh.device_type)

    @functools.cached_property
    def _eager(self) -> dict[str, Any]:
        """The report on the plan where ops run one by one, as `apply` runs them: each of the step's is a function of a library."""
        problem = shardwright.Problem.__new__(shardwright.Problem)
        problem.__setstate__(self.problem.__getstate__() | {"compiler": "eager", "overlap": "none", "text": self._one_by_one()})
        return shardwright.Report(problem._plan_of(self._core.json())).data

    def _one_by_one(self) -> str:
        model = json.loads(self.model)
        node_of = {op["outputs"][0]["name"]: self._model.nodes[op["outputs"][0]["name"]] for op in model["ops"]}
        at_work = {node_of[op["outputs"][0]["name"]] for op in model["ops"] if op["op"] not in VIEWS}
        for op in model["ops"]:
            node = node_of[op["outputs"][0]["name"]]
            if node in at_work:
                op.setdefault("function", f"op.{node}")
        return json.dumps(model)

    @functools.cached_property
    def _classes(self) -> dict[str, str]:
        """What values are for, by name."""
        return classes(self._eager)

    def checkpoint(self, model: Any = None) -> list[str]:
        """Checkpoint (torch.utils.checkpoint, op by op) the layers of the model, or of a dict of models as of `apply`, of which
        the plan makes something again: in place. Their paths. A layer is a module in a list of such."""
        return wrap(self, self._models(model))

    def checkpoint_contexts(self, name: str) -> ContextFn:
        """The same of one module, by its path: checkpoint(module, x, use_reentrant=False, context_fn=...)."""
        return contexts_of(self, name)

    def _of_all(self, mesh: DeviceMesh) -> Plan:
        """The plan of the first process: searches that end by the clock may find others."""
        ours = [self._core.json(), self.model]
        first = list(ours)
        torch.distributed.broadcast_object_list(first, int(mesh.mesh.flatten()[0]), mesh._flatten().get_group())
        if first[1] != self.model:
            raise shardwright.InputError("the first process of the mesh planned another step; expected one in all processes")
        if first[0] == ours[0]:
            return self
        return Plan(shardwright.Plan(self.problem, self.problem._plan_of(first[0])), self._step, self._traced, self._model)

    def compare(self, axis: str | None = None, **search: Unpack[SearchOptions]) -> Comparison:
        """The plan beside DDP, FSDP2, and the tensor-parallel plan that transformers has for its model (base_model_tp_plan)
        over `axis` of the mesh (None: the last one), with data parallelism over the others: alone, and with FSDP2 over these.
        All are priced alike. Of the library's plan the shardings of parameters, states and inputs are required, and the rest
        is the best that a search finds (shardwright plan --complete). Options of searches are the plan's, but for those given."""
        return compare(self, axis, {**self.searched, **search})

    def parallelize(self, model: torch.nn.Module, mesh: DeviceMesh | None = None) -> torch.nn.Module:
        """The model itself, in place, under hooks of parallelize_module and fully_shard: the form of `apply` for one's own loop,
        in which each process has its part of the batch (along axes that these do not take: all of it). Where these calls are not
        the plan, or the model is another, an InputError says so before anything changes."""
        text = self.emit("parallelize")
        values_of([a for a in self._traced.arguments if a.kind in ("parameter", "buffer")], {"": model}, [])
        said: dict[str, Any] = {}
        exec(compile(text, "<plan>", "exec"), said)
        return said["parallelize"](model, mesh or self.device_mesh())

    def emit(self, kind: str, *, uneven: bool = False) -> str:
        """As shardwright.Plan.emit, and in forms of PyTorch's world: "parallelize", a function of parallelize_module and
        fully_shard, where these do what the plan does (an InputError says what they do not); "autoparallel", the placements that
        AutoParallel saves; "spmd_types", types of that package. The last two follow their readers' sources, and were not
        tried with these."""
        return FORMS[kind](self) if kind in FORMS else super().emit(kind, uneven=uneven)

    def explain(
        self, name: str | None = None, *, top: int | None = None, peak: bool = False, alone: bool = False
    ) -> shardwright.Explanation:
        """As shardwright.Plan.explain; the name may also be that of a module, 'model.layers.3.mlp'."""
        if name is not None and name in self._modules:
            name = f"{name}.**"
        return super().explain(name, top=top, peak=peak, alone=alone)

    @functools.cached_property
    def _modules(self) -> set[str]:
        """Of which there are parameters or buffers."""
        paths: set[str] = set()
        for argument in self._traced.arguments:
            if argument.kind in ("parameter", "buffer"):
                words = argument.name.split(".")
                paths |= {".".join(words[:i]) for i in range(1, len(words))}
        return paths


def _keys(models: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, str]:
    """Of state_dicts, and what plans call what is there: a shared parameter has two keys and one name."""
    keys: dict[str, str] = {}
    for prefix, model in models.items():
        of = {id(v): prefix + n for n, v in [*model.named_parameters(), *model.named_buffers()]}
        found = {prefix + key: of.get(id(value), prefix + key) for key, value in model.state_dict(keep_vars=True).items()}
        keys |= {key: name for key, name in found.items() if name in names}
    return keys


def _is_within(name: str, of: str) -> bool:
    return name.startswith(of) and (len(name) == len(of) or name[len(of)] in ".[")


def _problem(step: Step, model: Model, hw: Any, mesh: Any, reading: Mapping[str, Any]) -> shardwright.Problem:
    problem = shardwright.Problem(model.text, hw=hw, mesh=mesh, **reading)
    problem.name = step.name
    return problem


def _traced(step: Step) -> tuple[Traced, Model]:
    traced = trace(step.call, step.args, step.kwargs, step.input_names, step.models, step.optimizers)
    return traced, convert(traced, step.name)


@lists(StepOptions, shardwright.Problem.__init__, shardwright.Problem.plan)
def plan(
    step: Any,
    inputs: Any = (),
    *,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    optimizer: Any = None,
    model: Any = None,
    mesh: Any = None,
    hw: PathLike | shardwright.Machine = "dgx-h100",
    pins: Pins = None,
    memory: int | str | None = None,
    even: str = "arguments",
    **options: Unpack[StepOptions],
) -> Plan:
    """The best plan of a model, or of a step of training that calls one.

    step        a torch.nn.Module, or a function; the models and optimizers that it uses are found among its arguments and
                its variables, and their parameters, buffers and states are arguments of the plan, by their names
    inputs      what it is called with: a tensor, a tuple of arguments, or a dict of those by name. Shapes and dtypes
                count alone, so that tensors on the meta device do, for the model too: torch.device("meta")
    loss        of a model: a function of what it returns (and of the targets). The plan is then of a step of training. Without
                it the loss that a model returns is taken where there is an optimizer, and the plan is of inference where not
    optimizer   one over the model's parameters, or a function that makes it of them: torch.optim.AdamW. Without it a
                step with a loss returns loss and gradients
    model       those that a function uses, where they are not found: one, or a dict of them
    mesh, hw, pins, memory and all other options are those of shardwright.plan

    Nothing is computed, and nothing that is given is changed."""
    reading, search = _sorted_out(plan, options)
    used = step_of(step, inputs, targets, loss, optimizer, model)
    traced, made = _traced(used)
    problem = _problem(used, made, hw, mesh, reading)
    _warn(problem)
    found = problem.plan(pins=pins, memory=memory, even=even, **search)
    search = {**search, "memory": memory, "even": even}
    return Plan(found, used, traced, made, {k: v for k, v in search.items() if k != "start"})


def export(
    step: Any,
    inputs: Any = (),
    *,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    optimizer: Any = None,
    model: Any = None,
) -> str:
    """The step as a model in JSON, of which `shardwright plan` and shardwright.plan make plans. Arguments are those of
    shardwright.torch.plan."""
    return _traced(step_of(step, inputs, targets, loss, optimizer, model))[1].text


@lists(ReadingOptions, shardwright.Problem.__init__)
def load(
    path: PathLike,
    step: Any,
    inputs: Any = (),
    *,
    loss: Callable[..., Any] | None = None,
    targets: Any = None,
    optimizer: Any = None,
    model: Any = None,
    hw: PathLike | shardwright.Machine | None = None,
    **options: Unpack[ReadingOptions],
) -> Plan:
    """A plan that was saved (plan.save), of the same step and inputs; refused for others."""
    reading, _ = _sorted_out(load, options)
    used = step_of(step, inputs, targets, loss, optimizer, model)
    traced, made = _traced(used)
    mesh, profile = _price_as(path, reading)
    hw = hw or (profile if profile in shardwright.profiles() else "uniform")
    problem = _problem(used, made, hw, mesh, reading)
    return Plan(problem.read_plan(path), used, traced, made)
