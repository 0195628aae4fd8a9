"""torch_llama.py: a model of Hugging Face is planned without weights, and trains under its plan on four processes.

    python examples/torch_llama.py                                        # the plan, a page, and a comparison
    python -m torch.distributed.run --nproc-per-node 4 examples/torch_llama.py --train    # two steps, beside one process

Both work on a laptop: planning needs shapes alone, and the processes talk by gloo.
"""

import argparse

import torch
import transformers

import shardwright.torch

CONFIG = transformers.LlamaConfig(
    hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=256
)
MESH = {"x": 2, "y": 2}


def batch():
    ids = torch.randint(0, 256, (8, 16), generator=torch.Generator().manual_seed(1))
    return {"input_ids": ids, "labels": ids}


def optimizer_of(parameters):
    return torch.optim.AdamW(parameters, lr=1e-2, eps=1e-4)


def show():
    # 1. The model, on the meta device: 405 billion parameters would take no more room than these.
    with torch.device("meta"):
        model = transformers.LlamaForCausalLM(CONFIG)
    # 2. A plan of the whole step: forward, loss, backward, optimizer. So little memory is given that parameters must be cut.
    plan = shardwright.torch.plan(model, batch(), optimizer=optimizer_of, mesh=MESH, memory="1500kB", even="always", gap=5)
    print(plan)
    # 3. Where parameters are, as DTensor says it, why, and what one would do without a plan.
    print(plan.placements("model.layers.0.mlp"))
    print(plan.explain("model.layers.0.mlp.down_proj.weight", alone=True))
    print(plan.compare(work_limit=100_000_000))
    # 4. A page to look at, and the plan for the job.
    plan.report().save("torch_llama.html")
    plan.save("torch_llama.json")


def train():
    torch.distributed.init_process_group("gloo")
    torch.manual_seed(0)  # the same weights on every process
    model, one = transformers.LlamaForCausalLM(CONFIG), transformers.LlamaForCausalLM(CONFIG)
    one.load_state_dict(model.state_dict())
    # 5. The same step, under the plan: called with the whole batch, it computes on each process what the plan says.
    plan = shardwright.torch.load("torch_llama.json", model, batch(), optimizer=optimizer_of)
    step, optimizer = plan.apply(model), optimizer_of(one.parameters())
    for _ in range(2):
        loss = step(**batch())
        alone = one(**batch()).loss
        alone.backward()
        optimizer.step()
        optimizer.zero_grad()
        if torch.distributed.get_rank() == 0:
            print(f"loss {loss.item():.6f} on four processes, {alone.item():.6f} on one")
    # 6. The parameters, by the names of the model.
    trained = step.full_state_dict()
    off = max(float((trained[name] - value).abs().max()) for name, value in one.state_dict().items())
    if torch.distributed.get_rank() == 0:
        print(f"parameters differ by {off:.1g} at most")
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true", help="under the plan that was saved")
    train() if parser.parse_args().train else show()
