"""What a traced step gives when the tool executes its model, beside what PyTorch gives."""

import json
import pathlib
import subprocess
import tempfile

import numpy as np
import torch
from torch.utils import _pytree as pytree

from shardwright.torch.convert import convert
from shardwright.torch.trace import trace

WIDE = {torch.bfloat16: torch.float32}


def array(tensor):
    return tensor.detach().to(WIDE.get(tensor.dtype, tensor.dtype)).contiguous().resolve_conj().numpy()


def execute(tool, text, arguments):
    """Outputs of a model by name; arguments are tensors by name."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        for part in ("in", "out"):
            (path / part).mkdir()
        (path / "m.json").write_text(text)
        for name, value in arguments.items():
            np.save(path / "in" / f"{name}.npy", array(value))
        done = subprocess.run(
            [tool, "run", path / "m.json", "--inputs", path / "in", "--outputs", path / "out", "-q"],
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise RuntimeError(f"exit status {done.returncode}: {done.stderr or done.stdout}")
        return {o["name"]: np.load(path / "out" / f"{o['name']}.npy") for o in json.loads(text)["outputs"]}


def of_function(call, args):
    """The model of a function of tensors; other leaves of args stay as they are."""
    names = [f"x{i}" for i, leaf in enumerate(leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor))]
    model = convert(trace(call, tuple(args), {}, names, {}), "function")
    tensors = [leaf for leaf in pytree.tree_leaves(args) if isinstance(leaf, torch.Tensor)]
    return model, dict(zip(names, tensors, strict=True))


def differences(tool, call, args, rtol=2e-5, atol=2e-6, shapes_alone=False):
    """(ops without a row, [what differs]): of the results of call(*args)."""
    model, named = of_function(call, args)
    got = execute(tool, model.text, named)
    wanted = [leaf for leaf in pytree.tree_leaves(call(*args)) if isinstance(leaf, torch.Tensor)]
    found = []
    names = [name for name in model.outputs if name.startswith("result")]
    for name, want in zip(names, map(array, wanted), strict=True):
        have = got[name]
        if have.shape != want.shape:
            found.append(f"{name}: {have.shape} for {want.shape}")
        elif not shapes_alone and not np.allclose(have.astype(want.dtype), want, rtol=rtol, atol=atol * max(1, _size(want)), equal_nan=True):
            found.append(f"{name}: {np.abs(have - want).max() if have.dtype.kind == 'f' else (have != want).sum()} off")
    return model.opaque, found


def _size(values):
    finite = np.abs(values[np.isfinite(values)]) if values.dtype.kind in "fc" else np.zeros(0)
    return float(finite.max()) if finite.size else 0.0
