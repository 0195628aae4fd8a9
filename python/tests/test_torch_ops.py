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

from shardwright.torch.ops import ROWS, table_of_ops

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

# Ops of core ATen without a row: shapes or flow depend on data.
BY_DATA = {
    "aten._local_scalar_dense.default",
    "aten.masked_scatter.default",
    "aten.nonzero.default",
    "aten.randperm.default",
}
NOT_OF_TENSORS = {op for op in CORE if op.split(".")[1].startswith("sym_")} | {"aten.atan2.out"}
DECOMPOSED = {"aten._native_batch_norm_legit.default", "aten.adaptive_avg_pool1d.default", "aten.col2im.default"}
WRITTEN = {  # out before autograd sees them (_written.py)
    "aten._cdist_forward.default", "aten._pdist_forward.default", "aten.grid_sampler_2d.default",
    "aten.upsample_bilinear2d.vec", "aten.upsample_nearest2d.vec",
}  # fmt: skip


def test_every_op_of_core_aten_has_a_row_or_a_reason():
    lacking = CORE - set(ROWS) - NOT_OF_TENSORS - DECOMPOSED - WRITTEN
    assert lacking == BY_DATA


def test_the_table_of_the_docs_is_that_of_the_code(tree):
    assert (tree / "python/torch-ops.md").read_text() == table_of_ops()


def test_rows_are_of_ops_that_there_are():
    decomposed = {str(op) for op in core_aten_decompositions()}
    for name in ROWS:
        space, packet, overload = name.split(".")
        if space != "transformers":
            assert hasattr(getattr(getattr(torch.ops, space), packet, None), overload), name
    assert decomposed & set(ROWS)


FURTHER = {"cdist", "nn.functional.pdist", "nn.functional.embedding_bag", "nn.functional.interpolate", "nn.functional.grid_sample"}


def sampled():
    for op in op_db:
        of_core = op.aten_name in NAMES or op.name.split(".")[-1] in NAMES or op.name in FURTHER or op.name.startswith("fft.")
        if of_core and torch.float32 in op.dtypes and not op.name.startswith(("_refs", "ops.")):
            yield pytest.param(op, id=f"{op.name}{'.' if op.variant_test_name else ''}{op.variant_test_name}")


RANDOM = {  # numbers, or memory that nobody has written: shapes are compared
    "bernoulli", "empty", "empty_like", "empty_strided", "empty_permuted", "rand_like", "randn", "randn_like", "randint",
    "randint_like", "uniform", "nn.functional.dropout",
}  # fmt: skip
UNTRIED = {  # what is not tried, and why
    "multinomial": "which of a tensor's elements, by chance", "masked_scatter": "shapes by data", "nonzero": "shapes by data",
    "max_pool2d_with_indices_backward": "places of greatest elements, which gradients find again", "sparse.mm": "sparse tensors",
    "grid_sampler_2d": "called as the op of ATen; grid_sample is tried",
}  # fmt: skip


STANDS = {"cdist": lambda: torch.cdist, "nn.functional.pdist": lambda: torch.nn.functional.pdist}  # in a trace


def is_untried(op, sample):
    """Samples of ops of which others are tried."""
    if op.name == "index_put":  # masks: shapes by data
        return any(x.dtype is torch.bool for x in sample.args[0] if isinstance(x, torch.Tensor))
    if op.name == "nn.functional.grid_sample":  # volumes; and grids whose gradient is 0 where there is none
        return sample.input.dim() > 4 or sample.kwargs.get("mode") == "nearest"
    return op.name == "nn.functional.pdist" and sample.input.shape[0] < 2


def test_most_samples_are_tried():
    shares = []  # of each op's samples
    for op in (parameter.values[0] for parameter in sampled()):
        samples = list(itertools.islice(op.sample_inputs("cpu", torch.float32), 0, None, 3))
        shares.append(1.0 if op.name in UNTRIED else sum(is_untried(op, s) for s in samples) / max(len(samples), 1))
    assert sum(shares) <= 0.05 * len(shares)


@pytest.mark.parametrize("op", sampled())
def test_a_row_computes_what_pytorch_does(op):
    tool = os.environ.get("SHARDWRIGHT_TOOL") or pytest.skip("SHARDWRIGHT_TOOL is not set")
    if op.name in UNTRIED:
        pytest.skip(UNTRIED[op.name])
    with_gradient = op.supports_autograd
    samples = itertools.islice(op.sample_inputs("cpu", torch.float32, requires_grad=with_gradient), 0, None, 3)
    for sample in itertools.islice((s for s in samples if not is_untried(op, s)), SAMPLES):
        args = (sample.input, *sample.args, sample.kwargs)

        def call(*given):
            out = STANDS.get(op.name, lambda: op.op)()(*given[:-1], **given[-1])
            leaves = [x for x in pytree.tree_leaves(given) if isinstance(x, torch.Tensor) and x.requires_grad]
            outs = [x for x in pytree.tree_leaves(out) if isinstance(x, torch.Tensor) and x.requires_grad]
            if not leaves or not outs:
                return out
            weights = [torch.arange(1, x.numel() + 1).to(x.dtype).reshape(x.shape) / x.numel() for x in outs]
            return out, torch.autograd.grad(outs, leaves, weights, allow_unused=True)

        opaque, different = differences(tool, call, args, rtol=1e-4, atol=1e-5, shapes_alone=op.name in RANDOM)
        assert not opaque and not different, (opaque, different, args)
