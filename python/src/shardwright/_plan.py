"""Machines, meshes, problems, plans and reports: what the command line has, as objects."""

from __future__ import annotations

import contextlib
import gzip
import html
import json
import os
import pathlib
import re
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from shardwright import _core
from shardwright._options import PathLike, Pins, PlanOptions, ReadingOptions, Roles, lists, refuse_unknown, split

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class ModelWarning(UserWarning):
    """What the reader of a model has to say of it."""


def _bytes(memory: int | str | None) -> int:
    if memory is None:
        return 0
    return _core.parse_bytes(memory) if isinstance(memory, str) else int(memory)


class Mesh:
    """Devices along named axes, the last axis the fastest: Mesh("x=2,y=4"), Mesh({"x": 2, "y": 4}), Mesh((2, 4)), or
    a mesh of JAX."""

    def __init__(self, mesh: Any) -> None:
        shape = getattr(mesh, "shape", mesh)  # of JAX's
        if isinstance(mesh, Mesh):
            text = str(mesh)
        elif isinstance(shape, str):
            text = shape
        elif isinstance(shape, Mapping):
            text = ",".join(f"{name}={size}" for name, size in shape.items())
        else:
            text = "x".join(str(int(size)) for size in shape)
        self._text, axes = _core.mesh(text)
        self.axes: dict[str, int] = dict(axes)

    @property
    def size(self) -> int:
        """How many devices."""
        size = 1
        for n in self.axes.values():
            size *= n
        return size

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Mesh({self._text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesh) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


class Machine:
    """A hardware profile: one of `shardwright.profiles()`, or a file. `changes` are numbers of it to change first, as
    --hw-set has them ("levels.*.**.*bytes_per_s*=0.5"); `devices`: how many, of a profile of any size."""

    def __init__(self, hw: PathLike | Machine, *, changes: Sequence[str] = (), devices: int | None = None) -> None:
        if isinstance(hw, Machine):
            changes, devices = (*hw.changes, *changes), devices or hw._devices or None
            hw = hw.hw
        self.hw: str = os.fspath(hw)
        self.changes: tuple[str, ...] = tuple(changes)
        self._devices: int = devices or 0
        about = _core.machine(self.hw, self.changes, self._devices)
        self.name: str = about["name"]
        self.compiler: str | None = about["compiler"]
        self.devices: int = about["devices"]
        self.memory_bytes: int = about["memory_bytes"]
        self.meshes: list[Mesh] = [Mesh(m) for m in about["meshes"]]

    def __repr__(self) -> str:
        return f"Machine({self.name!r})"


def _read(model: Any) -> tuple[str, bytes]:
    """Its name for messages, and its text."""
    if isinstance(model, bytes):
        return "<model>", model
    if isinstance(model, str) and ("\n" in model or model.lstrip().startswith("{")):
        return "<model>", model.encode()
    if hasattr(model, "as_text"):  # what jax.jit(f).lower(...) gives
        text = model.as_text(debug_info=True)
        named = re.search(r"module @(?:jit_)?(\w+)", text)
        return named[1] if named else "<lowered>", text.encode()
    text = pathlib.Path(model).read_bytes()
    return os.fspath(model), gzip.decompress(text) if text[:2] == b"\x1f\x8b" else text


@contextlib.contextmanager
def _as_file(plan: str) -> Iterator[str]:
    """The JSON of a plan, for what reads files of such."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        file.write(plan)
        file.flush()
        yield file.name


def _role_words(roles: Roles) -> list[str]:
    """{"params*": "parameter", "cache": "state 1"} as [name, role, output or "", ...]."""
    words: list[str] = []
    for name, role in roles.items() if isinstance(roles, Mapping) else ():
        kind, _, output = role.partition(" ")
        words += [name, kind, output]
    return words


def _words(pairs: Mapping[str, int]) -> list[str]:
    return [str(word) for pair in pairs.items() for word in pair]


def _pin_texts(pins: Pins) -> list[str]:
    """As NAME=SHARDING; a sharding is in any spelling, a PartitionSpec among them."""
    if pins is None:
        return []
    if isinstance(pins, str):
        return [pins]
    if not isinstance(pins, Mapping):
        return list(pins)
    return [f"{name}={spec if isinstance(spec, str) else _spelled(spec)}" for name, spec in pins.items()]


def _spelled(spec: Any) -> str:
    """A PartitionSpec, or a sequence like one, in our spelling."""
    dims = [() if d is None else (d,) if isinstance(d, str) else tuple(d) for d in spec]
    return "[" + ",".join("[" + ",".join(d) + "]" for d in dims) + "]"


def _interruptible(call: Callable[[], T], cancel: _core.Cancel) -> T:
    """The call, on a thread of its own, so that this one hears Ctrl-C; the first ends it with the best that it has."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    result: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()  # a join that Ctrl-C ends may take the thread for finished

    def run() -> None:
        try:
            result.append(call())
        except BaseException as error:  # it is raised where the call was made
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=run, name="shardwright", daemon=True).start()
    interrupted = False
    try:
        done.wait()
    except KeyboardInterrupt:
        interrupted = True
        cancel.set()
        done.wait()
    if failure and interrupted:
        raise KeyboardInterrupt from failure[0]
    if failure:
        raise failure[0]
    return result[0]


class _Unchanging:
    """What does not change: a copy of it is itself."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: Any) -> Self:
        return self


class Problem(_Unchanging):
    """A model on a machine: what plans are of. `Problem.plan` searches for one. Without a `compiler` it is priced as the
    profile says, else as XLA runs StableHLO and inductor JSON models. `overlap`: what runs beside what, by which plans are
    timed: "none", or "compiler", which is the default where the compiler does it."""

    def __init__(
        self,
        model: Any,
        *,
        hw: PathLike | Machine = "dgx-h100",
        mesh: Any = None,
        compiler: str | None = None,
        overlap: str | None = None,
        devices: int | None = None,
        changes: Sequence[str] = (),
        keep: str | None = None,
        attention: str | None = None,
        roles: Roles = None,
        rules: PathLike | None = None,
        sizes: Mapping[str, int] | None = None,
        trips: Mapping[str, int] | None = None,
    ) -> None:
        name, text = _read(model)
        self._open(
            name,
            text,
            Machine(hw, changes=changes, devices=devices),
            mesh=None if mesh is None else str(Mesh(mesh)),
            keep=keep,
            attention=attention,
            roles=dict(roles) if isinstance(roles, Mapping) else roles,
            rules=rules,
            compiler=compiler,
            overlap=overlap,
            sizes=dict(sizes or {}),
            trips=dict(trips or {}),
        )

    def _open(self, name: str, text: bytes, machine: Machine, **options: Any) -> None:
        self.name, self._text, self.machine, self._options = name, text, machine, options
        roles = options["roles"]
        self._core = _core.Problem(
            name,
            text,
            machine.hw,
            machine.changes,
            _words(options["sizes"]),
            machine._devices,
            mesh=options["mesh"],
            keep=options["keep"],
            attention=options["attention"],
            roles=None if roles is None or isinstance(roles, Mapping) else os.fspath(roles),
            rules=None if options["rules"] is None else os.fspath(options["rules"]),
            compiler=options["compiler"],
            overlap=options["overlap"],
            trips=_words(options["trips"]),
            said_roles=_role_words(roles),
        )
        self._says_what_fits = True  # where nothing does
        self.mesh = Mesh(self._core.mesh)
        self.warnings = [said for said in self._core.said.split("\x1e") if said]

    def __getstate__(self) -> dict[str, Any]:
        return {"name": self.name, "text": self._text, "machine": self.machine, **self._options}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._open(**state)

    def plan(
        self,
        *,
        pins: Pins = None,
        memory: int | str | None = None,
        even: str = "never",
        time_limit: float = 60,
        work_limit: int = 0,
        gap: float = 0.1,
        simplicity: float = 0.3,
        threads: int = 1,
        seed: int = 0,
        solver: str = "auto",
        start: PathLike | None = None,
        args_whole: bool = False,
        cut_heavy_ops: bool = False,
        batch_dim: str | None = None,
        recompute: str = "as-written",
        schedule: PathLike | None = None,
    ) -> Plan:
        """Search. The options are those of `shardwright plan --help`, in the same units: `gap` and `simplicity` are in percent,
        `memory` is bytes or "80GB". `recompute`: what is made again for what reads it late, instead of being kept ("as-written",
        "none", "search", "full", "full=megatron", "selective=megatron", "selective=torchtitan"); `schedule`: a file with what
        runs, or a plan that has it. Ctrl-C ends it with the best plan so far (`plan.interrupted`)."""
        cancel = _core.Cancel()
        texts = _pin_texts(pins)
        from_plan = None if start is None else os.fspath(start)
        found = _interruptible(
            lambda: self._core.search(
                cancel,
                texts,
                even,
                solver,
                from_plan,
                _bytes(memory),
                time_limit,
                work_limit,
                gap / 100,
                simplicity / 100,
                threads,
                seed,
                args_whole,
                cut_heavy_ops,
                batch_dim,
                recompute,
                None if schedule is None else os.fspath(schedule),
                self._says_what_fits,
            ),
            cancel,
        )
        return Plan(self, found, cancel)

    def baseline(self, rule: str, *, memory: int | str | None = None) -> Plan:
        """The plan made by a rule without search: "replicated", "data-parallel", "megatron" or "fsdp"."""
        return Plan(self, self._core.baseline(rule, _bytes(memory)))

    def read_plan(self, path: PathLike) -> Plan:
        """A plan of this model that was saved."""
        return Plan(self, self._core.read_plan(os.fspath(path)))

    def _plan_of(self, text: str) -> _core.Plan:
        """That a plan's JSON says."""
        with _as_file(text) as path:
            return self._core.read_plan(path)

    def __repr__(self) -> str:
        return f"Problem({self.name!r}, hw={self.machine.name!r}, mesh={str(self.mesh)!r})"


class _Told:
    """The texts of a plan's report, as the plan gave them: what a report needs of it."""

    def __init__(self, plan: _core.Plan | _Told) -> None:
        self._tables = (plan.table(False), plan.table(True))
        self._json, self._page = plan.report(), plan.page()

    def table(self, full: bool, /) -> str:
        return self._tables[full]

    def report(self) -> str:
        return self._json

    def page(self) -> str:
        return self._page


def _in_units(amount: float, units: tuple[tuple[str, float], ...]) -> str:
    """In the largest of the units in which it is not below one; the last one where there is none."""
    unit, size = next((of for of in units if amount >= of[1]), units[-1])
    return f"{amount / size:.3g} {unit}"


class Report(_Unchanging):
    """What a plan does and costs: text to print, `data` as docs/report-format.md has it, a page in notebooks."""

    def __init__(self, plan: _core.Plan | _Told) -> None:
        self._plan = plan
        self._data: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[type[Report], tuple[_Told]]:
        return Report, (self._plan if isinstance(self._plan, _Told) else _Told(self._plan),)

    @property
    def data(self) -> dict[str, Any]:
        """The report as JSON: docs/report-format.md says what is in it."""
        if self._data is None:
            self._data = json.loads(self._plan.report())
        return self._data

    def table(self, *, full: bool = False) -> str:
        """The table of the command line; `full`: a row for each argument."""
        return self._plan.table(full)

    @property
    def html(self) -> str:
        """One page that loads nothing."""
        return self._plan.page()

    def save(self, path: PathLike) -> None:
        """As a page when the name ends in .html, else as JSON."""
        as_page = os.fspath(path).endswith(".html")
        pathlib.Path(path).write_text(self.html if as_page else self._plan.report(), encoding="utf-8")

    def _summary(self) -> str:
        """Words, time, memory and gap: what one wants to see of it in a line."""
        data = self.data
        time = _in_units(data["total_s"], (("s", 1), ("ms", 1e-3), ("us", 1e-6)))
        memory = _in_units(data["memory"]["peak_bytes"], (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)))
        gap = f", gap {100 * data['gap']:.2g} %" if "gap" in data else ""
        return f"{data['in_words']}; {time}, {memory} a device{gap}"

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<Report on {self.data['model']!r}: {self._summary()}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:40em;border:1px solid #8888"></iframe>'
        )


class Answer:
    """What a plan would be with further pins: `data` as docs/plan-format.md has it."""

    def __init__(self, text: str, data: dict[str, Any]) -> None:
        self._text = text
        self.data = data

    @property
    def made(self) -> bool:
        """Is there such a plan?"""
        return bool(self.data["made"])

    @property
    def change(self) -> float:
        """Of the predicted time, as a fraction; infinite where there is no plan."""
        return float(self.data["change"]) if self.made else float("inf")

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__


class Explanation(str):
    """Text to read; `data` has the same as docs/explain.schema.json says."""

    data: dict[str, Any]

    def __new__(cls, text: str, data: dict[str, Any]) -> Explanation:
        made = super().__new__(cls, text)
        made.data = data
        return made

    def __getnewargs__(self) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        return str(self), self.data


class Plan(_Unchanging):
    """A sharding for every argument and output, a strategy for every op, and what that costs.

    Plans can be pickled: what comes back has the same plan and report, and is read, not searched for, so that it answers
    no `what_if`. Files that the problem was read with (a profile, roles, rules) are read again."""

    def __init__(
        self, problem: Problem, core: _core.Plan, cancel: _core.Cancel | None = None, report: Report | None = None
    ) -> None:
        self.problem = problem
        self._core = core
        self._cancel = cancel or _core.Cancel()
        self._one_question = threading.Lock()
        self._report = report or Report(core)
        self._interrupted = core.interrupted
        self._saved: dict[str, Any] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {
            "problem": self.problem,
            "plan": self._core.json(),
            "report": self._report,
            "interrupted": self._interrupted,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        problem = state["problem"]
        Plan.__init__(self, problem, problem._plan_of(state["plan"]), report=state["report"])
        self._interrupted = state["interrupted"]

    # --- what it is

    @property
    def mesh(self) -> Mesh:
        """What it is for."""
        return self.problem.mesh

    @property
    def interrupted(self) -> bool:
        """Was the search ended by Ctrl-C?"""
        return self._interrupted

    def _ends(self, key: str) -> list[tuple[str, str]]:
        """Names and shardings, in order."""
        if self._saved is None:
            self._saved = json.loads(self._core.json())
        return [(end["name"], end["sharding"]) for end in self._saved[key]]

    @property
    def arguments(self) -> dict[str, str]:
        """The sharding of each argument by its name, as '[[x],[]]'."""
        return dict(self._ends("arguments"))

    @property
    def outputs(self) -> dict[str, str]:
        """The same of outputs."""
        return dict(self._ends("outputs"))

    @property
    def seconds(self) -> float:
        """Predicted time of one run."""
        return float(self._report.data["total_s"])

    @property
    def bound_seconds(self) -> float | None:
        """A lower bound of that time; None where nobody searched."""
        return self._figure("bound_s")

    def _figure(self, key: str) -> float | None:
        value = self._report.data.get(key)
        return None if value is None else float(value)

    @property
    def samples_per_second(self) -> float | None:
        """Of each device; None without inputs."""
        return self._figure("samples_per_s_per_device")

    @property
    def tokens_per_second(self) -> float | None:
        """Of each device; None where no input is whole numbers [batch, seq]."""
        return self._figure("tokens_per_s_per_device")

    @property
    def flops_utilisation(self) -> float | None:
        """Model flops utilisation: what the model's contractions take at the devices' peak, of the time; None without such."""
        return self._figure("model_flops_utilisation")

    @property
    def made_again(self) -> dict[str, Any] | None:
        """What runs a second time for less memory, what that saves, and what is kept for what runs late, as a report has it
        (docs/report-format.md); None: nothing is."""
        return self._report.data.get("made_again")

    @property
    def memory_bytes(self) -> int:
        """Most that a device holds at once."""
        return int(self._report.data["memory"]["peak_bytes"])

    # --- what is told of it

    def report(self) -> Report:
        """What it does and costs."""
        return self._report

    def what_if(self, pins: Pins = None, *, recompute: str | None = None) -> Answer:
        """What the plan would be with these pinned, too, or with that made again (`recompute`, as of `Problem.plan`), or
        both."""
        text = "; ".join(([] if recompute is None else [f"recompute={recompute}"]) + list(_pin_texts(pins)))
        with self._one_question:
            found = _interruptible(
                lambda: (self._core.what_if(text, False), self._core.what_if(text, True)), self._cancel
            )
        return Answer(found[0].rstrip("\n"), json.loads(found[1]))

    def explain(
        self, name: str | None = None, *, top: int | None = None, peak: bool = False, alone: bool = False
    ) -> Explanation:
        """Why the plan is as it is, as `shardwright explain` says it (docs/explain.md): of a value, or a pattern of values;
        of the `top` dearest kinds of communication (10 where nothing else is asked for); of the memory. `alone`: prices of
        alternatives with all else as it is, and none by a search, which plans that no search made here have no other way."""
        if top is None:
            top = 0 if name is not None or peak else 10
        with self._one_question:
            try:
                said = _interruptible(lambda: self._core.explain(name, top, peak, alone), self._cancel)
            except _core.UsageError as e:
                raise KeyError(str(e)) from None
        return Explanation(said[0], json.loads(said[1]))

    def emit(self, kind: str, *, uneven: bool = False) -> str:
        """The plan in another form (docs/emitted-forms.md): "sdy", "sdy-ops", "hlo", "shard", "spmd",
        "spmd-stablehlo", "spmd-sdy", "jax" or "dtensor". Forms whose readers pad what is cut unevenly refuse such
        arguments and outputs, unless `uneven`; plan with even="always" for them."""
        return self._core.emit(kind, uneven)

    def save(self, path: PathLike) -> None:
        """As JSON (docs/plan-format.md): what `shardwright run` and `Problem.read_plan` take."""
        pathlib.Path(path).write_text(self._core.json(), encoding="utf-8")

    def __str__(self) -> str:
        return str(self._report)

    def __repr__(self) -> str:
        return f"<Plan of {self.problem.name!r} on {self.mesh}: {self._report._summary()}>"

    def _repr_html_(self) -> str:
        return self._report._repr_html_()


def _price_as(path: PathLike, options: dict[str, Any]) -> tuple[str, str]:
    """What a saved plan was made for: (mesh, profile); options that do not say it are its compiler, overlap and trips."""
    mesh, profile, compiler, overlap, trips = _core.plan_is_for(os.fspath(path))
    for key, was in (("compiler", compiler), ("overlap", overlap), ("trips", trips)):
        if options.get(key) is None:
            options[key] = was
    return mesh, profile


def _sorted_out(call: Callable[..., Any], options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options of the call: of its problem, and of its search; what starts from a plan is priced as that one was."""
    refuse_unknown(call, options)
    reading, search = split(options)
    if search.get("start") is not None:
        _price_as(search["start"], reading)
    return reading, search


def _warn(problem: Problem, level: int = 0) -> None:
    """What the reader of the model had to say, where the caller of plan or load stands; `level`: calls in between."""
    for said in problem.warnings:
        warnings.warn(said, ModelWarning, stacklevel=3 + level)


@lists(PlanOptions, Problem.__init__, Problem.plan)
def plan(model: Any, *, hw: PathLike | Machine = "dgx-h100", mesh: Any = None, **options: Unpack[PlanOptions]) -> Plan:
    """Search for the best plan of a model: a file (JSON or MLIR, maybe gzipped), its text, or what
    `jax.jit(f).lower(...)` gives. Options are those of `Problem` (how it is read: compiler, overlap, devices, changes, keep,
    attention, roles, rules, sizes, trips) and of `Problem.plan` (pins, memory, even, time_limit, ...)."""
    reading, search = _sorted_out(plan, options)
    problem = Problem(model, hw=hw, mesh=mesh, **reading)
    _warn(problem)
    return problem.plan(**search)


@lists(ReadingOptions, Problem.__init__)
def load(path: PathLike, model: Any, *, hw: PathLike | Machine | None = None, **options: Unpack[ReadingOptions]) -> Plan:
    """A saved plan of the model, on the mesh and for the compiler it was made for; `hw`: the profile it was made for, where
    one of that name is known."""
    reading, _ = _sorted_out(load, options)
    mesh, profile = _price_as(path, reading)
    profile = profile.split(" with ")[0]
    known = profile if profile in _core.profiles() else "uniform"
    problem = Problem(model, hw=known if hw is None else hw, mesh=mesh, **reading)
    _warn(problem)
    return problem.read_plan(path)
