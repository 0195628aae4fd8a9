"""python -m shardwright.torch export SCRIPT.py:FUNCTION [-o MODEL.json], or ops [-o TABLE.md]

ops prints the table of ops. For export the function returns the arguments of shardwright.torch.export as a tuple, and options as a dict at its end:

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
from shardwright.torch.ops import table_of_ops


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m shardwright.torch", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("what", choices=["export", "ops"])
    parser.add_argument("job", nargs="?", help="SCRIPT.py:FUNCTION")
    parser.add_argument("-o", "--output", default="-", help="where the model, or the table, goes; - is standard output")
    asked = parser.parse_args(words)
    if asked.what == "ops":
        return _written(table_of_ops(), asked.output)
    if asked.job is None:
        parser.error("export wants SCRIPT.py:FUNCTION")
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
    return _written(text, asked.output)


def _written(text: str, output: str) -> int:
    if output == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(output).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
