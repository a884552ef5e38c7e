import datetime
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import longhaul
import pytest

ROOT = pathlib.Path(__file__).parents[3]


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


def test_a_report_is_a_whole_page_and_one_that_cannot_be_written_is_named(results, tmp_path):
    results.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>") and "</html>" in page and len(page) > 100_000
    with pytest.raises(FileNotFoundError, match="cannot write the report"):
        results.report(tmp_path / "nowhere" / "page.html")


def files(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_data_files_of_flent_are_those_of_the_program(tmp_path):
    def program(*words):
        subprocess.run([ROOT / "target" / "debug" / "longhaul", "--quiet", *words], check=True, stdout=subprocess.DEVNULL)

    kept = tmp_path / "kept"
    settings = ["--set", "path.rtt=25ms,50ms", "--set", "path.loss=0.001", "--set", "flow.bytes=500kB"]
    program("ab", "wan", "--arms", "rfc,linux", "--iterations", "5", *settings, "--out", kept)
    program("report", kept, "--flent", tmp_path / "program")
    at_s = json.loads((kept / "machine.jsonl").read_text().splitlines()[0])["at_s"]
    keys = {"path": {"rtt": ["25ms", "50ms"], "loss": 0.001}, "flow": {"bytes": "500kB"}}
    experiment = longhaul.Experiment.builtin("wan").with_arms("rfc", "linux").sweep(keys)
    for name, out in [("memory", None), ("folder", kept)]:
        experiment.run(iterations=5, out=out).to_flent(tmp_path / name, at_s=at_s)
        assert files(tmp_path / name) == files(tmp_path / "program")
    assert len(files(tmp_path / "program")) == 4


def test_data_files_of_flent_have_the_time_of_the_sweep(experiment, tmp_path):
    began = time.time()
    results = experiment.run(iterations=1)
    ended = time.time()
    for name in ["one", "two"]:
        results.to_flent(tmp_path / name)
    assert files(tmp_path / "one") == files(tmp_path / "two")
    for packed in files(tmp_path / "one").values():
        document = json.loads(gzip.decompress(packed))
        at = datetime.datetime.fromisoformat(document["metadata"]["TIME"]).timestamp()
        assert began - 1e-6 <= at <= ended
    assert len(files(tmp_path / "one")) == 4


def test_data_files_of_flent_that_cannot_be_written_are_named(results, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot make"):
        results.to_flent(tmp_path / "file")
    with pytest.raises(longhaul.SpecError, match="at_s: 1795550400000 s after 1970 is later than the year 9999"):
        results.to_flent(tmp_path / "folder", at_s=1795550400000)
    assert not (tmp_path / "folder").exists()


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


def test_parts_for_batch_systems_make_the_same_bytes(tmp_path):
    parts = 3
    keys = {"path": {"rtt": "25ms", "loss": 0.001}, "flow": {"bytes": "16MB"}}
    experiment = longhaul.Experiment.builtin("wan").with_arms("linux", "longhaul").sweep(keys)
    experiment.run(iterations=40, out=tmp_path / "local")
    words = ["wan", str(tmp_path / "parts"), "--arms", "linux,longhaul", "--iterations", "40"]
    for setting in ["path.rtt=25ms", "path.loss=0.001", "flow.bytes=16MB"]:
        words += ["--set", setting]
    for part in [*range(parts, 0, -1), 1]:
        made = subprocess.run([sys.executable, "-m", "longhaul", "unit", str(part), "of", str(parts), *words], check=True, capture_output=True, text=True)
        assert made.stdout.startswith(f"part {part} of {parts}: ") and made.stdout.endswith(", 0 failed\n")
    assert len(shards(tmp_path / "parts")) == 4
    assert shards(tmp_path / "parts") == shards(tmp_path / "local")


def test_a_part_that_is_not_there_is_refused():
    words = [sys.executable, "-m", "longhaul", "unit", "4", "of", "3", "wan", "nowhere"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 2 and "there is no part 4 of 3" in refused.stderr
    words = [sys.executable, "-m", "longhaul", "unit", "1", "of", "3", "wan", "nowhere", "--set", "path.rt=1ms"]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 1 and "did you mean `path.rtt`?" in refused.stderr


def test_ray_is_asked_for_by_name_and_needs_a_place(experiment, tmp_path):
    with pytest.raises(longhaul.SpecError, match="out: Ray's machines have no place for results"):
        experiment.run(engine="ray")
    with pytest.raises(longhaul.SpecError, match="unknown engine `dask`; write `threads` or `ray`"):
        experiment.run(engine="dask")
    assert "ray" not in sys.modules


def test_a_run_is_made_again_with_all_its_events(results):
    trace = results.trace(1, "longhaul", iteration=2)
    events = list(zip(trace["event"], trace["conn"], trace["len_bytes"]))
    sent = sum(length for event, conn, length in events if event == "SegmentSent" and conn == 0)
    runs = results.runs
    expected = [
        count
        for count, cell, arm, iteration in zip(runs["bytes_sent"], runs["cell"], runs["arm"], runs["iteration"])
        if (cell, arm, iteration) == (1, "longhaul", 2)
    ]
    # A FIN counts as a byte.
    assert [sent - 1] == expected
    assert trace["at_ns"] == sorted(trace["at_ns"])
    with pytest.raises(longhaul.SpecError, match="run 9/longhaul/1: no such run; cells are 1 to 2"):
        results.trace(9, "longhaul")
