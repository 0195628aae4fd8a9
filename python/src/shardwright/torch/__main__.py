"""python -m shardwright.torch export SCRIPT.py:FUNCTION [-o MODEL.json]

The function returns the arguments of shardwright.torch.export as a tuple, and options as a dict at its end:

    def job():
        return model, {"input_ids": ids, "labels": ids}, {"optimizer": torch.optim.AdamW}
"""

from __future__ import annotations

import argparse
import pathlib
import runpy
import sys

import shardwright
from shardwright.torch import export


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m shardwright.torch", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=["export"])
    parser.add_argument("job", help="SCRIPT.py:FUNCTION")
    parser.add_argument("-o", "--output", default="-", help="where the model goes; - is standard output")
    asked = parser.parse_args(words)
    script, _, function = asked.job.rpartition(":")
    if not script:
        parser.error(f"{asked.job} names no function; expected SCRIPT.py:FUNCTION")
    names = runpy.run_path(script, run_name="__shardwright__")
    if function not in names:
        parser.error(f"{script} has no {function}")
    given = names[function]()
    given = given if isinstance(given, tuple) else (given,)
    try:
        text = export(*given[:2], **(given[2] if len(given) > 2 else {}))
    except shardwright.Error as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if asked.output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(asked.output).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
