"""The commands of the guide for which this environment is made, and its recipes, run."""

import os
import pathlib
import subprocess
import sys

import pytest
from guide import ROOT, commands, recipes

BLOCKS = commands("python")


@pytest.fixture
def there(tmp_path, monkeypatch):
    """A folder with the trace `a` that the page about traces makes."""
    import longhaul
    import pyarrow
    import pyarrow.parquet

    results = longhaul.Experiment.builtin("dsack").with_arms("windows-11-21h2").set("flow.bytes", "1MB").run(iterations=1)
    (tmp_path / "a").mkdir()
    pyarrow.parquet.write_table(pyarrow.table(results.trace(1, "windows-11-21h2")), tmp_path / "a" / "trace.parquet")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_that_needs_this_environment_is_found():
    assert [page for page, _ in BLOCKS] == ["python", "python", "traces"]


@pytest.mark.parametrize("script", [script for _, script in BLOCKS])
def test_a_command_of_the_guide_runs(script, there):
    (wheel,) = (ROOT / "target" / "python" / "wheels").glob("*.whl")
    path = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "WHEEL": str(wheel)}
    made = subprocess.run(["sh", "-ec", script], capture_output=True, text=True, env=environment, timeout=300)
    assert made.returncode == 0, made.stdout + made.stderr


def test_the_recipes_for_traces_run(there, capsys):
    (recipe,) = recipes("traces.md", "python")
    exec(recipe, {})
    assert "losses" in capsys.readouterr().out


def test_the_recipes_for_tables_run(tmp_path, monkeypatch, capsys):
    import duckdb
    import longhaul

    keys = {"path": {"rtt": "25ms"}, "flow": {"bytes": "1MB"}}
    longhaul.Experiment.builtin("wan").sweep(keys).run(iterations=2, series=True, out=tmp_path / "kept")
    monkeypatch.chdir(tmp_path)
    for recipe in recipes("results.md", "python"):
        exec(recipe, {})
    assert "goodput_mbps" in capsys.readouterr().out
    (query,) = recipes("results.md", "sql")
    assert duckdb.sql(query).fetchall()
