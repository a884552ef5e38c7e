import os
import signal
import threading
import time

import longhaul
import pytest


def shards(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}


def test_results_do_not_depend_on_the_number_of_jobs(experiment, results):
    for jobs in [1, 3]:
        again = experiment.run(iterations=10, jobs=jobs)
        for name in again.runs.column_names:
            assert again.runs[name] == results.runs[name], name


def test_the_interpreter_is_free_while_runs_are_made(experiment):
    turns, stop = [0], threading.Event()

    def count():
        while not stop.is_set():
            turns[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    experiment.run(iterations=30, jobs=1)
    stop.set()
    thread.join()
    # Between two runs alone, it would hardly have a turn.
    assert turns[0] > 10


def test_progress_counts_runs(experiment, capsys):
    seen = []
    experiment.run(iterations=2, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 8) for done in range(1, 9)]
    experiment.run(iterations=2, progress=True)
    assert capsys.readouterr().err.startswith("8/8 runs, ")
    with pytest.raises(TypeError, match="progress"):
        experiment.run(progress="yes")


def test_what_a_callable_raises_ends_the_sweep(experiment):
    def fail(done, total):
        if done == 3:
            raise ZeroDivisionError(done)

    with pytest.raises(ZeroDivisionError):
        experiment.run(iterations=5, progress=fail)


def test_an_interrupt_stops_between_runs_and_keeps_what_is_done(experiment, tmp_path):
    def interrupt(done, total):
        if done == 7:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        experiment.run(iterations=50, jobs=1, progress=interrupt)
    kept = caught.value.results
    assert isinstance(caught.value, longhaul.Interrupted)
    assert 7 <= len(kept) < 20
    whole = experiment.run(iterations=50)
    assert kept.runs["elapsed_ns"] == whole.runs["elapsed_ns"][: len(kept)]

    # On disk are whole units, and the next run goes on from them.
    folder = tmp_path / "interrupted"
    kept.to_parquet(folder)
    gone_on = experiment.run(iterations=50, out=folder)
    assert (gone_on.resumed, gone_on.made) == (len(kept), len(whole) - len(kept))
    assert gone_on.runs["elapsed_ns"] == whole.runs["elapsed_ns"]
    assert gone_on.flows["bytes_read"] == whole.flows["bytes_read"]


def test_memory_and_disk_hold_the_same(experiment, results, tmp_path):
    results.to_parquet(tmp_path / "after")
    made = experiment.run(iterations=10, series=True, out=tmp_path / "while", jobs=2)
    assert shards(tmp_path / "after") == shards(tmp_path / "while")
    assert {path.parts[0] for path in shards(tmp_path / "after")} == {"runs", "flows", "series"}
    for table in ["runs", "flows", "series", "cells", "rows"]:
        one, other = getattr(results, table), getattr(made, table)
        assert {name: one[name] for name in one.column_names} == {name: other[name] for name in other.column_names}
    again = experiment.run(iterations=10, out=tmp_path / "while")
    assert (again.made, again.resumed) == (0, 40)


def test_a_folder_that_cannot_be_used_is_named(experiment, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(longhaul.StoreError, match="cannot write"):
        experiment.run(out=tmp_path / "file" / "below")


def test_arms_are_compared_in_pairs_by_any_metric(results):
    rows = results.compare("server-2016", "longhaul")
    assert rows["ratio"] == [ratio for ratio in results.rows["ratio"] if ratio is not None]
    assert rows["cell"] == [1, 2]
    other = results.compare("longhaul", "server-2016", metric="elapsed_ms")
    assert (set(other["arm"]), set(other["reference"]), set(other["metric"])) == ({"server-2016"}, {"longhaul"}, {"elapsed_ms"})
    assert all(low <= ratio <= high for low, ratio, high in zip(other["ratio_lo"], other["ratio"], other["ratio_hi"]))
    with pytest.raises(longhaul.SpecError, match="metric: `rtos` does not say which arm is better"):
        results.compare("longhaul", "server-2016", metric="rtos")
    with pytest.raises(longhaul.SpecError, match="no arm `bbr`; the arms are server-2016, longhaul"):
        results.compare("longhaul", "bbr")


def test_expectations_are_judged_where_they_hold():
    met, unchecked = longhaul.Experiment.builtin("window").run(iterations=1).unmet
    assert isinstance(met, list) and isinstance(unchecked, list)
