"""The table of ops: each row on PyTorch's own samples (OpInfo), values and gradients beside PyTorch's."""

import itertools
import os
import warnings

import pytest
import torch
from torch._decomp import core_aten_decompositions
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils import _pytree as pytree
from torch_values import differences

from shardwright.torch.ops import ROWS

warnings.simplefilter("ignore")
CORE = {
    str(op)
    for name in dir(torch.ops.aten)
    if hasattr(packet := getattr(torch.ops.aten, name), "overloads")
    for op in (getattr(packet, overload) for overload in packet.overloads())
    if torch.Tag.core in op.tags
}
NAMES = {op.split(".")[1] for op in CORE}
SAMPLES = 2  # of an op, with gradients

RANDOM = "random numbers, or memory that nobody has written"
# Ops of core ATen without a row, and why; those of the second kind cannot have one, as shapes or flow depend on data.
WITHOUT = {
    "aten._cdist_forward.default": "distances",
    "aten._embedding_bag.default": "bags of several rows",
    "aten._fft_c2r.default": "complex numbers",
    "aten._fft_r2c.default": "complex numbers",
    "aten._pdist_forward.default": "distances",
    "aten.col2im.default": "patches",
    "aten.grid_sampler_2d.default": "images at points",
    "aten.upsample_bilinear2d.vec": "images in other sizes",
}
BY_DATA = {
    "aten._local_scalar_dense.default",
    "aten.masked_scatter.default",
    "aten.nonzero.default",
    "aten.randperm.default",
}
NOT_OF_TENSORS = {op for op in CORE if op.split(".")[1].startswith("sym_")} | {"aten.atan2.out"}
DECOMPOSED = {"aten._native_batch_norm_legit.default", "aten.adaptive_avg_pool1d.default"}


def test_every_op_of_core_aten_has_a_row_or_a_reason():
    lacking = CORE - set(ROWS) - NOT_OF_TENSORS - DECOMPOSED
    assert lacking == set(WITHOUT) | BY_DATA
    assert len(WITHOUT) <= 0.05 * len(CORE)


def test_rows_are_of_ops_that_there_are():
    decomposed = {str(op) for op in core_aten_decompositions()}
    for name in ROWS:
        space, packet, overload = name.split(".")
        if space != "transformers":
            assert hasattr(getattr(getattr(torch.ops, space), packet, None), overload), name
    assert decomposed & set(ROWS)


def sampled():
    for op in op_db:
        of_core = op.aten_name in NAMES or op.name.split(".")[-1] in NAMES
        if of_core and torch.float32 in op.dtypes and not op.name.startswith(("_refs", "ops.")):
            yield pytest.param(op, id=f"{op.name}{'.' if op.variant_test_name else ''}{op.variant_test_name}")


UNTRIED = {  # what is not compared, and why
    "bernoulli": RANDOM, "empty": RANDOM, "empty_like": RANDOM, "empty_strided": RANDOM, "empty_permuted": RANDOM,
    "rand_like": RANDOM, "randn": RANDOM, "randn_like": RANDOM, "nn.functional.dropout": RANDOM, "randint": RANDOM,
    "randint_like": RANDOM, "uniform": RANDOM, "multinomial": RANDOM,
    "masked_scatter": "shapes by data", "nonzero": "shapes by data", "index_put": "samples with masks: shapes by data",
    "max_pool2d_with_indices_backward": "places of greatest elements, which gradients find again",
    "grid_sampler_2d": "no row", "sparse.mm": "sparse tensors",
}  # fmt: skip


@pytest.mark.parametrize("op", sampled())
def test_a_row_computes_what_pytorch_does(op):
    tool = os.environ.get("SHARDWRIGHT_TOOL") or pytest.skip("SHARDWRIGHT_TOOL is not set")
    if op.name in UNTRIED:
        pytest.skip(UNTRIED[op.name])
    with_gradient = op.supports_autograd
    samples = itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=with_gradient), 0, None, 3)
    for sample in itertools.islice(samples, SAMPLES):
        args = (sample.input, *sample.args, sample.kwargs)

        def call(*given):
            out = op.op(*given[:-1], **given[-1])
            leaves = [x for x in pytree.tree_leaves(given) if isinstance(x, torch.Tensor) and x.requires_grad]
            outs = [x for x in pytree.tree_leaves(out) if isinstance(x, torch.Tensor) and x.requires_grad]
            if not leaves or not outs:
                return out
            weights = [torch.arange(1, x.numel() + 1, dtype=x.dtype).reshape(x.shape) / x.numel() for x in outs]
            return out, torch.autograd.grad(outs, leaves, weights, allow_unused=True)

        opaque, different = differences(tool, call, args, rtol=1e-4, atol=1e-5)
        assert not opaque and not different, (opaque, different, args)
