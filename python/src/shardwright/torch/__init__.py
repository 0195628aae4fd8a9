"""Plans of models and training steps of PyTorch, without weights, accelerators or processes.

    plan = shardwright.torch.plan(model, {"input_ids": ids, "labels": ids}, optimizer=torch.optim.AdamW, mesh={"x": 2, "y": 4})
    plan.placements()                        # DTensor placements of parameters, states and inputs, by name
    plan.explain("model.layers.3.mlp")
    step = plan.apply(model)                 # in each process of a job: the step, over DTensors
    loss = step(input_ids=ids, labels=ids)
    print(plan.check())                      # bytes of collectives and memory of that step, beside what was planned

The step runs once on fake tensors, and every ATen op of it (forward, loss, backward, optimizer) becomes ops of a model by a table
of rows (ops.py). `python -m shardwright.torch export script.py:function -o model.json` writes that model.
"""

from shardwright.torch.apply import Applied
from shardwright.torch.check import Check
from shardwright.torch.compare import Comparison
from shardwright.torch.convert import register_rule
from shardwright.torch.plan import Plan, export, load, plan

__all__ = ["Applied", "Check", "Comparison", "Plan", "export", "load", "plan", "register_rule"]
