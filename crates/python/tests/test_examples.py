"""Each example runs, and says what its page says that it says."""

import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs_and_says_what_its_last_lines_expect(path, tmp_path):
    made = subprocess.run([sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert made.returncode == 0, made.stderr
    expected = [line[4:] for line in path.read_text().splitlines() if line.startswith("#>")]
    assert expected and made.stdout.splitlines() == expected


def blocks_of_the_guide():
    text = (EXAMPLES.parents[2] / "docs" / "guide" / "python.md").read_text()
    return [part.split("```")[0] for part in text.split("```python\n")[1:]]


def test_what_the_guide_shows_is_what_happens(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    program, session = blocks_of_the_guide()
    names = {}
    exec(program, names)
    assert "longhaul" in capsys.readouterr().out
    statement, said = session.splitlines()
    with pytest.raises(names["longhaul"].SpecError) as caught:
        exec(statement.removeprefix(">>> "), names)
    assert said == f"longhaul.SpecError: {caught.value}"
