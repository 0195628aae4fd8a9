"""What the tests share: the tree, the tool built beside the package, and eight devices of this host for JAX."""

import os
import pathlib
import subprocess

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ["XLA_FLAGS"] = " ".join(
    [
        os.environ.get("XLA_FLAGS", ""),
        "--xla_force_host_platform_device_count=8",
        "--xla_backend_optimization_level=0",  # collectives do not depend on what takes most of the time
        "--xla_llvm_disable_expensive_passes=true",
    ]
)

import pytest

TREE = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def tree():
    return TREE


@pytest.fixture(scope="session")
def tool():
    """(exit status, standard output, standard error) of a command line."""
    path = os.environ.get("SHARDWRIGHT_TOOL")
    if not path:
        pytest.skip("SHARDWRIGHT_TOOL is not set; expected the path of the command-line tool")

    def run(*words, **options):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, **options)
        return done.returncode, done.stdout, done.stderr

    return run
