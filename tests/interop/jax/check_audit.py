"""`shardwright run --audit` on the models and ops of JAX (models.py, ops.py): every collective of their programs is left
out, shifted and mis-reduced, with the arguments that `run` makes up. Of all these faults 98 % must be noticed or shown
to have no effect, and so must those of a language model whose loss takes single elements of a row, all of them.

Arguments are pinned as in check_ops.py, so that there are collectives.

    check_audit.py --tool SHARDWRIGHT --folder WORK [NAME...]
"""

import concurrent.futures
import functools
import json
import os
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
from jax._src import config

from check_ops import pinned
from common import call, options as command_line, seed, share
from manual_programs import IN_TILES, MANUAL
from models import MODELS, Numbers, adam, gpt_forward, gpt_params, moments_of
from ops import CASES, LOWERED

LEAST_SEEN = 0.98
SEEN = ("noticed", "no_effect")


def token_loss():
    """Indices by way of x < 0 ? x + n : x, joined with iotas to index vectors."""
    n = Numbers()
    params = gpt_params(n)

    def loss(params, tokens, targets):
        scores = jax.nn.log_softmax(gpt_forward(params, tokens))
        return -jnp.mean(jnp.take_along_axis(scores, targets[..., None], -1))

    return functools.partial(adam, loss), (params, moments_of(params), n.index(96, 8, 16), n.index(96, 8, 16))


TOKEN_LOSS = "model token_loss"


def programs():
    """name -> a function that gives its text"""

    def text_of(name, function, arguments):
        with config.use_shardy_partitioner(name not in IN_TILES):
            traced = jax.jit(function, keep_unused=True).trace(*arguments)
            text = traced.lower(lowering_platforms=(LOWERED[name],) if name in LOWERED else None).as_text()
        return text if name in MANUAL else pinned(text)

    found = {f"model {name}": (lambda make=make, name=name: text_of(name, *make())) for name, make in MODELS.items()}
    found[TOKEN_LOSS] = lambda: text_of(TOKEN_LOSS, *token_loss())
    found.update({name: (lambda name=name: text_of(name, *CASES[name])) for name in CASES})
    return found


def audit(name, text, tool, folder):
    """The audit of one program, or what went wrong."""
    folder = folder / re.sub(r"\W+", "_", name)
    folder.mkdir(parents=True, exist_ok=True)
    program, plan = folder / "program.mlir", folder / "plan.json"
    program.write_text(text)
    rc, said = call(tool, "plan", program, "--hw", "local", "--mesh", "x=2,y=2", "--quiet", "--work-limit", 1_000_000_000, "-o", plan)
    if rc:
        return f"plan: exit {rc}: {said.strip()[-300:]}"
    rc, said = call(tool, "run", program, "--plan", plan, "--audit", "--json")
    try:
        made = json.JSONDecoder().raw_decode(said[said.index("{"):])[0]
    except ValueError:
        return f"run: exit {rc}: {said.strip()[-600:]}"
    return made["audit"] if made["matches"] else "differs from one device"


def describe(fault):
    words = f"collective {fault['collective']} ({fault['op']}) {fault['fault']}: {fault['verdict']}"
    return words + (f", {fault['value']} changes" if "value" in fault else "")


def main():
    options = command_line()
    known = programs()
    every = max(1, round(1 / share()))
    names = options.names or [n for k, n in enumerate(known) if (k + seed()) % every == 0 or n == TOKEN_LOSS]
    sums, wrong = {}, 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # JAX traces on one thread, runs go on beside it
        done = {n: pool.submit(audit, n, known[n](), options.tool, options.folder / "audit") for n in names}
    for name, future in done.items():
        found = future.result()
        if isinstance(found, str):
            print(f"FAIL {name}: {found}")
            wrong += 1
            continue
        for verdict in (*SEEN, "undecided", "missed"):
            sums[verdict] = sums.get(verdict, 0) + found[verdict]
        missed = [f for f in found["list"] if f["verdict"] not in SEEN]
        for fault in missed:
            print(f"     {name}: {describe(fault)}")
        if name == TOKEN_LOSS:
            print(f"     {name}: {found['faults']} faults, {len(missed)} missed")
            wrong += len(missed) > 0
    faults, seen = sum(sums.values()), sum(sums.get(v, 0) for v in SEEN)
    print(f"{len(names)} programs, {faults} faults: " + ", ".join(f"{n} {v}" for v, n in sums.items()))
    if wrong or seen < LEAST_SEEN * faults:
        print(f"FAIL: {seen} of {faults} faults are noticed or without effect, {wrong} programs failed")
        sys.exit(1)


if __name__ == "__main__":
    main()
