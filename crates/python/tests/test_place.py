"""Shards at URLs of fsspec."""

import os
import signal
import subprocess
import sys

import fsspec
import longhaul
import pytest
from longhaul import _place

WORDS = ["wan", "--arms", "linux,longhaul", "--iterations", "40", "--set", "path.rtt=25ms", "--set", "path.loss=0.001", "--set", "flow.bytes=16MB"]


def shards(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.parquet")}


def remote(url):
    system, path = fsspec.core.url_to_fs(url)
    return {found.removeprefix(path).lstrip("/"): system.cat_file(found) for found in system.find(path)}


@pytest.fixture
def memory():
    yield "memory://results"
    fsspec.filesystem("memory").rm("/results", recursive=True)


def test_a_url_has_the_bytes_of_a_folder_and_is_gone_on_from(experiment, memory, tmp_path):
    local = experiment.run(iterations=10, series=True, out=tmp_path)
    made = experiment.run(iterations=10, series=True, out=memory)
    assert remote(memory) == shards(tmp_path) and len(remote(memory)) == 3
    for table in ["runs", "flows", "series", "rows"]:
        one, other = getattr(local, table), getattr(made, table)
        assert {name: one[name] for name in one.column_names} == {name: other[name] for name in other.column_names}
    again = experiment.run(iterations=10, out=memory)
    assert (again.made, again.resumed) == (0, 40)
    del made, again
    more = experiment.run(iterations=12, out=memory)
    assert (more.made, more.resumed) == (8, 40) and len(remote(memory)) == 5


def test_what_an_interrupted_sweep_completed_is_at_the_url(memory):
    keys = {"path": {"rtt": ["25ms", "50ms"], "loss": 0.001}, "flow": {"bytes": "16MB"}}
    experiment = longhaul.Experiment.builtin("wan").with_arms("linux", "longhaul").sweep(keys)

    def interrupt(done, total):
        if done == total // 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(longhaul.Interrupted) as caught:
        experiment.run(iterations=40, out=memory, progress=interrupt)
    assert len(caught.value.results.flows) > 0
    assert 0 < experiment.run(iterations=40, out=memory).resumed < 160


def test_a_file_url_is_its_folder(experiment, tmp_path):
    experiment.run(iterations=2, out=f"file://{tmp_path}/a%20b")
    assert len(shards(tmp_path / "a b")) == 2
    assert experiment.run(iterations=2, out=tmp_path / "a b").made == 0


def test_parts_of_batch_systems_go_straight_to_a_url(tmp_path):
    there, here = tmp_path / "there", tmp_path / "here"
    for part, out in [(2, f"local://{there}"), (1, f"local://{there}"), (2, f"local://{there}"), (1, here), (2, here)]:
        words = [sys.executable, "-m", "longhaul", "unit", str(part), "of", "2", WORDS[0], str(out), *WORDS[1:]]
        assert subprocess.run(words, check=True, capture_output=True, text=True).stdout.endswith(", 0 failed\n")
    assert shards(there) == shards(here) and len(shards(here)) == 4


def test_another_shard_of_the_same_name_is_refused(memory):
    at = _place.Remote(memory)
    at.create("runs", "a.parquet", b"one")
    at.create("runs", "a.parquet", b"one")
    with pytest.raises(longhaul.StoreError, match="runs/a.parquet` at memory://results has the name of a unit"):
        at.create("runs", "a.parquet", b"other")


def test_fsspec_is_asked_for_by_a_url_alone(experiment, tmp_path, monkeypatch):
    program = f"import sys, longhaul; longhaul.Experiment.builtin('smb').run(iterations=1, out={str(tmp_path)!r}); assert 'fsspec' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    with pytest.raises(longhaul.Error, match="out: `nowhere://results` cannot be opened: .*; install what fsspec needs for it, or name a folder"):
        experiment.run(out="nowhere://results")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(longhaul.Error, match="out: `s3://bucket/results` is a URL, and fsspec is not installed; pip install fsspec"):
        experiment.run(out="s3://bucket/results")
