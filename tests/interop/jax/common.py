"""What the checks share: the command line, and calls of the tool."""

import argparse
import fractions
import os
import pathlib
import subprocess


def options(**more):
    """--tool, --folder, names; `more`: further options and their defaults."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--tool", required=True)
    parser.add_argument("--folder", required=True, type=pathlib.Path)
    for name, default in more.items():
        parser.add_argument(f"--{name}", default=default)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def share():
    """The share of its cases that a check tries: N or 1/N (tests/stages.txt); by hand all."""
    return fractions.Fraction(os.environ.get("SW_TEST_SHARE", "1"))


def seed():
    """Of random cases, and of which are tried where not all are."""
    return int(os.environ.get("SW_TEST_SEED", "1"))


def call(*words):
    """(exit status, what it printed)"""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def must(*words):
    status, said = call(*words)
    if status:
        raise RuntimeError(f"{' '.join(map(str, words))}: exit {status}\n{said[-2000:]}")
    return said
