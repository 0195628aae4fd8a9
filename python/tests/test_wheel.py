"""The wheel: one file for all Pythons, under the licence that it names, with what it needs."""

import os
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

import pytest

import shardwright

WHEEL = os.environ.get("SHARDWRIGHT_WHEEL", "")
SDIST = os.environ.get("SHARDWRIGHT_SDIST", "")


@pytest.fixture
def wheel():
    if not WHEEL:
        pytest.skip("SHARDWRIGHT_WHEEL is not set; expected the path of the wheel")
    with zipfile.ZipFile(WHEEL) as opened:
        yield opened


def test_it_is_for_the_stable_interface(wheel):
    assert re.search(r"-cp310-abi3-linux_\w+\.whl$", WHEEL)
    extensions = [n for n in wheel.namelist() if n.endswith(".so")]
    assert extensions == ["shardwright/_core.abi3.so"]


def test_its_version_is_that_of_the_wheel(wheel):
    assert pathlib.PurePath(WHEEL).name.startswith(f"shardwright-{shardwright.__version__}-")


def test_its_licence_is_true(wheel, tmp_path):
    metadata = wheel.read(next(n for n in wheel.namelist() if n.endswith("/METADATA"))).decode()
    assert "\nLicense-Expression: Apache-2.0\n" in metadata and "\nRequires-Dist: " not in metadata.replace(
        "; extra ==", "\n"
    ).split("\nProvides-Extra")[0]
    names = {pathlib.PurePath(n).name for n in wheel.namelist()}
    assert {"LICENSE", "NOTICE", "py.typed", "_core.pyi", "dgx-h100.json"} <= names
    assert not any(n.endswith((".c", ".h")) for n in wheel.namelist())
    library = pathlib.Path(wheel.extract("shardwright/_core.abi3.so", tmp_path))
    linked = subprocess.run(["ldd", library], capture_output=True, text=True, check=True).stdout
    assert "glpk" not in linked and "not found" not in linked
    assert b"glp_" not in library.read_bytes()


def test_only_the_module_is_seen(wheel, tmp_path):
    library = wheel.extract("shardwright/_core.abi3.so", tmp_path)
    seen = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in seen.splitlines()] == ["PyInit__core"]


TYPED = """import shardwright
import shardwright.jax

def step(x: float) -> float:
    return x

plan = shardwright.plan("model.mlir", hw="h100", mesh={"x": 2}, gap=0.5, pins={"x": "[[x]]"}, memory="80GB")
seconds: float = plan.seconds
shardwright.plan("model.mlir", gaps=0.5)
shardwright.load("plan.json", "model.mlir", compiler=3)
of_step = shardwright.jax.plan(step, 1.0, memory=10**9, trips={"*": 3}, donate_argnums=0)
shardwright.jax.plan(step, 1.0, even="never")
shardwright.jax.load("plan.json", step, 1.0, gap=1)
of_step.secondz
"""


def test_type_checkers_know_every_option(tmp_path):
    (tmp_path / "typed.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "typed.py"]
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path).stdout
    wrong = {int(line.split(":")[1]): line for line in said.splitlines() if ": error: " in line}
    assert list(wrong) == [9, 10, 12, 13, 14], said
    assert '"gaps" for "plan"' in wrong[9] and 'has incompatible type "int"' in wrong[10] and '"secondz"' in wrong[14]


def test_profiles_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARDWRIGHT_DATA", raising=False)
    assert shardwright.Machine("dgx-h100").devices == 8


def test_it_can_be_made_for_any_linux(wheel, tree, tmp_path):
    """What it links of the machine goes into the wheel, but for what every Linux of that age has (PEP 600)."""
    repair = [sys.executable, "-m", "auditwheel", "repair", "-w", tmp_path, WHEEL]
    subprocess.run(repair, check=True, capture_output=True)
    (made,) = tmp_path.glob("*.whl")
    assert re.search(r"-cp310-abi3-manylinux_2_\d+_\w+\.whl$", made.name)
    with zipfile.ZipFile(made) as opened:
        inside = [n for n in opened.namelist() if ".so" in n]
        assert {n.split("/")[0] for n in inside} == {"shardwright", "shardwright.libs"}
        assert any("libyajl" in n for n in inside)
        opened.extractall(tmp_path / "there")
    (tmp_path / "mlp.json").write_bytes((tree / "models/small/mlp.json").read_bytes())
    command = [sys.executable, "-S", "-c", PLANS]
    there = {"PYTHONPATH": str(tmp_path / "there"), "LD_LIBRARY_PATH": ""}
    said = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, env=there).stdout.split()
    assert float(said[0]) > 0 and said[1].startswith(str(tmp_path / "there"))


PLANS = "import shardwright; print(shardwright.plan('mlp.json', hw='local', mesh='x=2').seconds, shardwright.__file__)"


def test_it_plans_where_nothing_else_is(wheel, tree, tmp_path):
    """The wheel, which was made of the source distribution, in an environment of its own."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", WHEEL], check=True)
    (tmp_path / "mlp.json").write_bytes((tree / "models/small/mlp.json").read_bytes())
    said = subprocess.run([python, "-c", PLANS], check=True, capture_output=True, text=True, cwd=tmp_path).stdout.split()
    assert float(said[0]) > 0 and said[1].startswith(str(tmp_path / "venv"))


def test_what_a_source_distribution_holds(tree):
    with tarfile.open(SDIST) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
    assert {"LICENSE", "NOTICE", "PKG-INFO", "engine/LICENSE", "engine/NOTICE", "engine/VERSION"} <= names
    for folder in ("src", "include", "cmake", "hwprofiles"):
        for file in (tree / folder).rglob("*"):
            assert file.is_dir() or f"engine/{file.relative_to(tree)}" in names, file


BUILDS = "import backend; backend.build_wheel('dist')"


def test_what_a_build_lacks_is_told(tree, tmp_path):
    def told(**environment):
        command = [sys.executable, "-B", "-c", BUILDS]
        done = subprocess.run(command, cwd=tree / "python", capture_output=True, text=True, env=environment)
        assert done.returncode == 1 and done.stdout == ""
        return done.stderr

    said = told(PATH=str(tmp_path))
    assert "not found: a C compiler, pkg-config, yajl, openblas\n" in said
    assert "apt install gcc libc6-dev libopenblas-dev libyajl-dev pkg-config\n" in said
    without_yajl = tmp_path / "pkg-config"
    without_yajl.write_text('#!/bin/sh\n[ "$2" != yajl ]\n')
    without_yajl.chmod(0o755)
    said = told(PATH=f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert "not found: yajl\n" in said and "apt install libyajl-dev\n" in said


def test_it_is_configured_from_the_tree_too(tree, tmp_path):
    """As `pip install ./python` does it, which finds the engine beside the package and not inside."""
    command = ["cmake", "-S", tree / "python", "-B", tmp_path, "-G", "Ninja"]
    define = {"SKBUILD_SABI_COMPONENT": "Development.SABIModule", "Python_EXECUTABLE": sys.executable}
    subprocess.run(command + [f"-D{name}={value}" for name, value in define.items()], check=True, capture_output=True)
    assert f"{tree}/src/plan/search.c" in (tmp_path / "build.ninja").read_text()
