"""Real programs (SHARDWRIGHT_PROGRAMS_DIR), planned on 2x4: XLA must compile the program of one device in StableHLO, and
Shardy's verifier accept the program with explicit reshards.

    check_programs.py --tool SHARDWRIGHT --folder WORK [NAME...]

Programs that call what only their own compiler knows (custom calls) are counted as such: XLA stops at the name.
"""

import os
import pathlib
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

from check_ops import compile_partitioned, verify_sdy
from common import call, options as command_line

FOREIGN = re.compile(r'call_target_name = "([^"]*)"')
MOST_BYTES = 1 << 20  # of a text; more takes XLA minutes


def check(program, tool, folder):
    """(fine, what there is to say)"""
    spmd = folder / f"{program.stem}.mlir"
    rc, said = call(tool, "plan", program, "--hw", "dgx-h100", "--mesh", "x=2,y=4", "--quiet", "--work-limit", 4_000_000_000,
                     f"--emit=spmd={spmd}", "--dialect", "stablehlo", "-o", folder / "plan.json")
    if rc:
        return rc == 3, f"no plan: {said.strip().splitlines()[-1][:200]}"
    verify_sdy(tool, folder, program)
    text = spmd.read_text()
    foreign = sorted(set(FOREIGN.findall(text)))
    if foreign:
        return True, f"not compiled, it calls {', '.join(foreign)}"
    if len(text) > MOST_BYTES:
        return True, f"not compiled, its text has {len(text)} bytes"
    compile_partitioned(text, 8)
    return True, "compiled"


def main():
    options = command_line()
    programs = os.environ.get("SHARDWRIGHT_PROGRAMS_DIR", pathlib.Path(__file__).parents[4] / "shared" / "programs")
    files = sorted(f for f in pathlib.Path(programs).glob("*.mlir") if not options.names or f.stem in options.names)
    if not files:
        print(f"skipped: no programs in {programs}")
        sys.exit(77)
    folder = options.folder / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for file in files:
        try:
            fine, said = check(file, options.tool, folder)
        except Exception as problem:
            fine, said = False, f"{type(problem).__name__}: {problem}"
        failed += not fine
        print(f"{'ok  ' if fine else 'FAIL'} {file.stem}: {said}"[:600])
        sys.stdout.flush()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
