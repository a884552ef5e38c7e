"""Each example runs, and says what its page says that it says."""

import pathlib
import subprocess
import sys

import pytest
from guide import recipes

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_its_last_lines_expect(path, tmp_path):
    made = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    expected = [line[4:] for line in path.read_text().splitlines() if line.startswith("#>")]
    assert expected and made.stdout.splitlines() == expected


def test_what_the_guide_shows_is_what_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, session, controller = recipes("python.md", "python")
    names = {}
    exec(program, names)
    assert "longhaul" in capsys.readouterr().out
    page = pathlib.Path("wan.html").read_text()
    assert page.startswith("<!doctype html>") and "</html>" in page and len(page) > 100_000
    statement, said = session.splitlines()
    with pytest.raises(names["longhaul"].SpecError) as caught:
        exec(statement.removeprefix(">>> "), names)
    # A class needs its source in a file.
    pathlib.Path("guide_controller.py").write_text("import longhaul\n" + controller)
    monkeypatch.syspath_prepend(tmp_path)
    import guide_controller

    assert guide_controller.own.sweep(flow={"bytes": "1MB"}).run(iterations=1).arms == ["rfc", "gentle"]
    assert said == f"longhaul.SpecError: {caught.value}"
