import pickle

import longhaul
import pytest
from longhaul import Experiment, SpecError

TEXT = """summary = "A short path"
[path]
rtt = "25ms"
loss = 0.001
[flow]
bytes = "100kB"
[arms]
use = ["linux", "mine"]
mine = { profile = "longhaul", set = { "rto.min" = "300ms" } }
[sweep]
"path.rate" = ["10Mbit", "5Mbit"]
[run]
iterations = 2
"""
DICT = {
    "summary": "A short path",
    "path": {"rtt": "25ms", "loss": 0.001},
    "flow": {"bytes": "100kB"},
    "arms": {"use": ["linux", "mine"], "mine": {"profile": "longhaul", "set": {"rto.min": "300ms"}}},
    "sweep": {"path.rate": ("10Mbit", "5Mbit")},
    "run": {"iterations": 2},
}


def seeds_and_specs(experiment):
    runs = experiment.run().runs
    return list(zip(runs["seed"], runs["spec"], runs["arm"], runs["elapsed_ns"]))


def test_a_dict_a_text_and_a_file_are_the_same_experiment(tmp_path):
    path = tmp_path / "short.toml"
    path.write_text(TEXT)
    made = [Experiment.from_dict(DICT), Experiment.from_toml(TEXT), Experiment.from_toml(path), Experiment.from_toml(str(path))]
    first, *others = [seeds_and_specs(experiment) for experiment in made]
    assert len(first) == 8
    assert all(other == first for other in others)
    assert [experiment.name for experiment in made] == ["experiment", "experiment", "short", "short"]


def test_a_wrong_file_is_refused_with_its_place(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text(TEXT.replace("25ms", "25"))
    with pytest.raises(SpecError) as caught:
        Experiment.from_toml(path)
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), 3, 7)
    assert error.problem == "`25` is not a valid duration"
    assert error.remedy.startswith("use a number and one of ns, us, ms")
    assert str(error) == f"{path}:3:7: {error.problem}; {error.remedy}"
    assert isinstance(error, longhaul.Error)


@pytest.mark.parametrize(
    ("change", "place", "problem"),
    [
        ({"path": {"rtt": 25}}, "path.rtt", "`25` is not a valid duration"),
        ({"path": {"rt": "25ms"}}, "path.rt", "unknown key `rt`"),
        ({"path": {"reorder": {"mode": "sideways"}}}, "path.reorder.mode", "`sideways` is not a valid"),
        ({"sweep": {"path.loss": [0.1, "x%"]}}, "sweep.path.loss", "`x%` is not a share"),
        ({"arms": {"use": ["linus"]}}, "arms.use", "no arm `linus`"),
        ({"cells": [{"name": "a", "kind": "b", "bas": {}}]}, "cells.bas", "unknown key `bas`"),
        ({"path": {"rtt": object}}, "path.rtt", "`<class 'object'>` is of type type"),
    ],
)
def test_a_wrong_dict_is_refused_with_the_keys_that_lead_there(change, place, problem):
    with pytest.raises(SpecError) as caught:
        Experiment.from_dict(DICT | change)
    assert caught.value.place == place
    assert caught.value.problem.startswith(problem)
    assert caught.value.remedy


def test_keys_are_set_by_the_grammar_of_the_command_line():
    wan = Experiment.builtin("wan")
    assert wan.set("path.rtt", ["5ms", "10ms"]).cells["swept"][::2] == ["path.rtt=5ms flow.bytes=32MB", "path.rtt=10ms flow.bytes=32MB"]
    assert wan.sweep(path={"rtt": "5ms", "loss": [0, 1e-5]}, flow={"bytes": "1MB"}).cells["path_loss_pct"] == [0.0, 0.001]
    several = wan.sweep({"longhaul.rto.min": "2s", "longhaul.rto.initial": "2s"})
    assert len(several.cells) == len(wan.cells) == 8
    with pytest.raises(SpecError, match="set path.rt=1ms: unknown key `path.rt`; did you mean `path.rtt`?"):
        wan.set("path.rt", "1ms")
    with pytest.raises(SpecError, match="flow.bytes: an empty list"):
        wan.set("flow.bytes", [])
    with pytest.raises(SpecError, match="arms linus: unknown arm or profile `linus`"):
        wan.with_arms("linus")
    with pytest.raises(SpecError, match="arm longhaul: rto.initial: must lie between"):
        wan.set("longhaul.rto.min", "30s").run(iterations=1)


def test_nothing_that_is_there_changes():
    wan = Experiment.builtin("wan")
    title = wan.title
    wan.set("path.rtt", "5ms")
    assert wan.title == title
    assert wan.arms == ["server-2016", "server-2019", "server-2022", "linux", "longhaul"]


def test_what_is_missing_is_named():
    with pytest.raises(SpecError, match="unknown experiment `wam`; did you mean `wan`?"):
        Experiment.builtin("wam")
    with pytest.raises(FileNotFoundError, match="cannot read the experiment `nowhere.toml`"):
        Experiment.from_toml("nowhere.toml")
    assert "wan" in dict(longhaul.builtins())


def test_an_experiment_travels_to_other_processes(experiment):
    again = pickle.loads(pickle.dumps(experiment.set("run.iterations", 1)))
    assert seeds_and_specs(again) == seeds_and_specs(experiment.set("run.iterations", 1))
    again = pickle.loads(pickle.dumps(Experiment.from_dict(DICT)))
    assert again.cells["swept"] == ["path.rate=10Mbit", "path.rate=5Mbit"]


def test_profiles_cite_their_values():
    linux = longhaul.profile("linux")
    assert linux.name in [profile.name for profile in longhaul.profiles()]
    leaf = linux.leaves["rto.min"]
    assert (leaf.value, leaf.confidence, leaf.given_by) == ("200ms", "documented", "linux")
    assert leaf.source
    with pytest.raises(SpecError, match="did you mean `linux`?"):
        longhaul.profile("linx")
