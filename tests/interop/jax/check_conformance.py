"""What tests/conformance expects, asked of Shardy itself and of mlir-opt: every sharding, every rule, every program that a
pass gives, and that what is refused is refused there. With ACCEPT=1 the expectations are written as they say.

    check_conformance.py --tool SHARDWRIGHT --folder WORK [AREA...]
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "conformance"))

import cases
from common import options as command_line
from shardy import Refused, layer_of, shardy

ACCEPT = os.environ.get("ACCEPT") == "1"


def in_words_of(case, text, which):
    """What `text`, which MLIR printed, says of values, by the names that the case has for them. which: 1 shardings, 2 rules."""
    own = cases.walk(case.source)[0]
    if len(own) != len(cases.walk(text)[0]):
        raise ValueError("the pass makes or drops values: use 'gives'")
    return cases.said(cases.walk(text, own)[which]) or ["nothing"]


def mlir_says(case):
    """What mlir-opt's sharding propagation gives of the program, elementwise ops of StableHLO being those of TOSA; None
    without mlir-opt."""
    tool = shutil.which("mlir-opt-22")
    text = re.sub(r"stablehlo\.(\w+) (%\w+) : (.*)", r"tosa.\1 \2 : (\3) -> \3", case.source)
    text = re.sub(r"stablehlo\.(\w+) (%\w+, %\w+) : (.*)", r"tosa.\1 \2 : (\3, \3) -> \3", text).replace("exponential", "exp")
    sweeps = f"sharding-propagation{{traversal={case.run[case.run.index('--strategy') + 1]}}}"
    if not tool:
        return None
    done = subprocess.run([tool, "-", f"--pass-pipeline=builtin.module(func.func({sweeps}))"], input=text,
                          capture_output=True, text=True)
    if done.returncode:
        raise Refused(done.stderr)
    return cases.split_axes(done.stdout, cases.split_axes(case.source)[0])[1] or ["nothing"]


def passes_of(case):
    """`opt --pass a,b`: sdy-a, sdy-b."""
    listed = case.run[case.run.index("--pass") + 1]
    return [f"sdy-{name}" for name in listed.split(",")]


def ask(case):
    """What Shardy says: ('expect', lines), ('gives', program) or ('error', message); None where it has no say."""
    if case.unasked:
        return None
    try:
        if case.run[0] == "opt" and "--pass" in case.run:
            return "gives", shardy(case.source, *passes_of(case))
        if case.run[0] != "propagate":
            return None
        if "shard=-" in case.run:
            lines = mlir_says(case)
            return ("expect", lines) if lines else None
        if case.accepted or "func.func" not in case.source:
            return "accepted", shardy(case.source)
        if "--show-rules" in case.run:
            text = shardy(case.source, "sdy-populate-op-sharding-rules")
            return "expect", in_words_of(case, text, 2)
        text = shardy(case.source, layer_of(case.run))
        return ("gives", text) if "--origins" in case.run else ("expect", in_words_of(case, text, 1))
    except Refused as refused:
        return "error", str(refused)


def agrees(case, kind, said):
    if case.error or kind == "error":
        return bool(case.error) and kind == "error"
    if kind == "gives":
        return case.gives is not None and cases.normal(case.gives) == cases.normal(said)
    if kind == "expect" and "--show-rules" in case.run:
        return cases.canonical_rules(case.wants) == cases.canonical_rules(said)
    return case.accepted if kind == "accepted" else case.wants == said


def refused(case, lines, said, tool):
    """`lines` with our message before the line that it names."""
    case.error = None
    text = lines
    for _ in range(2):  # the message may name another line, which has moved by then
        case.source = "\n".join(text) + "\n"
        place, _, what = cases.execute(tool, case)[2].split("\n")[0].split(": ", 2)
        _, line, column = place.split(":")
        at = int(line) - 1 - (text is not lines)
        text = lines[:at] + [f"// error: {column}: {what}"] + lines[at:]
    return text


def written(case, kind, said, tool):
    """The lines of the case with the expectation in them."""
    drop = ("// expect:", "// gives:", "// error:")
    lines = [x for x in case.source.rstrip("\n").split("\n") if not x.startswith(drop)]
    if kind == "expect":
        return lines + [f"// expect: {line}" for line in said]
    if kind == "gives":
        inner = said.strip().split("\n")
        if inner[0].startswith("module"):
            inner = [x[2:] for x in inner[1:-1]]
        return lines + ["// gives:"] + inner
    if kind == "error":
        return refused(case, lines, said, tool)
    return lines


def main():
    args = command_line()
    asked = wrong = 0
    files = {}
    for case in cases.read_areas(args.names):
        try:
            answer = ask(case)
        except ValueError as error:
            print(f"{case.place}: {error}")
            answer, wrong = None, wrong + 1
        lines = case.lines
        if answer:
            asked += 1
            if ACCEPT and (answer[0] == "error" or not (case.has_expectation() and agrees(case, *answer))):
                lines = written(case, *answer, args.tool)
            elif not agrees(case, *answer):
                wrong += 1
                print(f"{case.place}: Shardy says otherwise: {answer[0]}")
                said = answer[1].split("\n") if isinstance(answer[1], str) else answer[1]
                print("\n".join(f"    {line}" for line in said[:40]))
        files.setdefault(case.path, []).append("\n".join(lines).rstrip("\n").strip("\n"))
    if ACCEPT:
        for path, texts in files.items():
            path.write_text("\n\n// -----\n\n".join(texts) + "\n")
    print(f"{asked} expectations asked of Shardy, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
