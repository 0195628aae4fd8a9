"""The build backend: scikit-build-core's, with what it cannot do for a package whose engine lies beside it.

A source distribution has the engine inside, in `engine`, so that it builds by itself. What a build needs and does not find
is said before CMake says it in its own way."""

from __future__ import annotations

import os
import pathlib
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401: what a frontend calls besides
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

HERE = pathlib.Path(__file__).resolve().parent
INSIDE = HERE / "engine"
ENGINE = INSIDE if INSIDE.exists() else HERE.parent
PARTS = ("CMakeLists.txt", "VERSION", "LICENSE", "NOTICE", "cmake", "hwprofiles", "include", "src")
OWN = ("CMakeLists.txt", "VERSION", "LICENSE", "NOTICE", "README.md", "backend.py", "pyproject.toml", "src")

# What a build asks for, and the Debian packages that have it.
HEADERS = {"Python.h": "python3-dev", "zlib.h": "zlib1g-dev"}
LIBRARIES = {"yajl": "libyajl-dev", "openblas": "libopenblas-dev"}


def _runs(*command: str, text: str = "") -> bool:
    try:
        return subprocess.run(command, input=text, text=True, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def missing() -> dict[str, str]:
    """What the build needs and does not find, each with its Debian package."""
    compiler = next((c for c in (os.environ.get("CC"), "cc", "gcc", "clang") if c and shutil.which(shlex.split(c)[0])), None)
    lacks = {} if compiler else {"a C compiler": "gcc libc6-dev"}
    if compiler:
        look = [*shlex.split(compiler), "-E", "-I", sysconfig.get_path("include"), "-x", "c", "-"]
        lacks |= {name: package for name, package in HEADERS.items() if not _runs(*look, text=f"#include <{name}>\n")}
    if not shutil.which("pkg-config"):
        lacks["pkg-config"] = "pkg-config"
    return lacks | {name: package for name, package in LIBRARIES.items() if not _runs("pkg-config", "--exists", name)}


def _refuse_without_tools() -> None:
    lacks = missing()
    if lacks:
        raise SystemExit(
            f"shardwright is built from C sources here, and these are not found: {', '.join(lacks)}\n"
            f"  on Debian and Ubuntu: apt install {' '.join(sorted(lacks.values()))}\n"
            "  elsewhere: the same, by the names they have there; or a wheel of shardwright, which needs none of them"
        )


def build_wheel(wheel_directory: str, *rest: Any) -> str:
    _refuse_without_tools()
    return _build.build_wheel(wheel_directory, *rest)


def build_editable(wheel_directory: str, *rest: Any) -> str:
    _refuse_without_tools()
    return _build.build_editable(wheel_directory, *rest)


def _copy(parts: tuple[str, ...], source: pathlib.Path, to: pathlib.Path) -> None:
    for part in parts:
        if (source / part).is_dir():
            shutil.copytree(source / part, to / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source / part, to / part)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    here, to = os.getcwd(), os.path.abspath(sdist_directory)
    with tempfile.TemporaryDirectory() as folder:
        laid = pathlib.Path(folder)
        (laid / "engine").mkdir()
        _copy(OWN, HERE, laid)
        _copy(PARTS, ENGINE, laid / "engine")
        os.chdir(laid)
        try:
            return _build.build_sdist(to, config_settings)
        finally:
            os.chdir(here)
