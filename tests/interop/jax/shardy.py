"""Shardy's passes, from JAX's wheel, on texts."""

import os
import re

os.environ["JAX_PLATFORMS"] = "cpu"

import jax._src.interpreters.mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.passmanager import PassManager


class Refused(Exception):
    pass


def pipeline(passes):
    """The passes in order; those on functions where they belong."""
    for text in (",".join(passes), f"func.func({','.join(passes)})"):
        try:
            return PassManager.parse(f"builtin.module({text})")
        except ValueError:
            continue
    return PassManager.parse(f"builtin.module({','.join(one_by_one(passes))})")


def one_by_one(passes):
    for name in passes:
        try:
            PassManager.parse(f"builtin.module({name})")
            yield name
        except ValueError:
            yield f"func.func({name})"


def shardy(text, *passes):
    """The program after the passes, as MLIR prints it."""
    context = jax_mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        context.attach_diagnostic_handler(lambda said: True)
        try:
            module = ir.Module.parse(text)
            if passes:
                pipeline(passes).run(module.operation)
        except ir.MLIRError as error:
            raise Refused(str(error)) from None
        return str(module)


def shardy_apart(text, *passes):
    """The same in a process of its own; None where that ends otherwise than by itself."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        with os.fdopen(writer, "w") as out:
            try:
                out.write("+" + shardy(text, *passes))
            except Refused as refused:
                out.write("-" + str(refused))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    if status or not said:
        return None
    if said[0] == "-":
        raise Refused(said[1:])
    return said[1:]


def layer_of(command):
    """The pass that does what a command of `shardwright propagate` does."""
    strategy = command[command.index("--strategy") + 1] if "--strategy" in command else "sdy"
    name = "sdy-user-priority" if strategy == "sdy" else strategy
    asked = {"--conservative": "conservative-propagation=true", "--origins": "debug-sharding-origins=true"}
    options = " ".join(said for option, said in asked.items() if option in command)
    return f"{name}-propagate" + (f"{{{options}}}" if options else "")
