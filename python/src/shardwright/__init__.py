"""shardwright: how to split every tensor of a model over the devices of a machine, and a proof of how good that is.

    plan = shardwright.plan("model.mlir", hw="dgx-h100", mesh={"x": 2, "y": 4})
    print(plan)
    plan.arguments["w1"]          # '[[],[y]]'
    plan.what_if({"w1": "[[],[]]"})
    plan.emit("sdy")      # the program with the shardings of every value

`shardwright.jax` does it for functions of JAX. docs/python.md has more.
"""

from importlib.metadata import version as _version

from shardwright._core import Error, InfeasibleError, InputError, InternalError, ResourceError, UsageError, profiles
from shardwright._plan import Answer, Explanation, Machine, Mesh, ModelWarning, Plan, Problem, Report, load, plan

__version__ = _version("shardwright")

__all__ = [
    "Answer",
    "Error",
    "Explanation",
    "InfeasibleError",
    "InputError",
    "InternalError",
    "Machine",
    "Mesh",
    "ModelWarning",
    "Plan",
    "Problem",
    "Report",
    "ResourceError",
    "UsageError",
    "__version__",
    "load",
    "plan",
    "profiles",
]
