"""The Python lines of docs/python.md run as they stand there, one after the other."""

import re

import pytest


@pytest.mark.filterwarnings("ignore::shardwright.ModelWarning")
def test_python_md(tree, tmp_path, monkeypatch, capsys):
    page = (tree / "docs/python.md").read_text()
    blocks = [(page[: m.start()].count("\n") + 1, m[1]) for m in re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S)]
    assert len(blocks) >= 10
    for name in ("docs", "models", "tests"):
        (tmp_path / name).symlink_to(tree / name)
    monkeypatch.chdir(tmp_path)
    names = {}
    for line, block in blocks:
        exec(compile("\n" * line + block, str(tree / "docs/python.md"), "exec"), names)
    said = capsys.readouterr().out
    assert "predicted time" in said and "what if" in said and "work of a device, flops" in said
