import importlib.util
import pathlib
import pickle
import sys
import threading

import longhaul
import pytest
from longhaul import Controller, Experiment, Rule

EXAMPLE = pathlib.Path(__file__).parents[1] / "examples" / "congestion_control.py"
RENO = {"rfc.cc.slow_start.kind": "classic", "rfc.cc.avoidance.kind": "reno"}


def classes_of_the_example():
    """The classes of the example, without what it runs."""
    text = EXAMPLE.read_text().split("\nreno = ")[0]
    names = {}
    exec(compile(text, str(EXAMPLE), "exec"), names)
    # `inspect` finds the source of a class by its module.
    spec = importlib.util.spec_from_loader("example_controllers", loader=None, origin=str(EXAMPLE))
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(EXAMPLE)
    sys.modules["example_controllers"] = module
    for name in ["Reno", "RenoByRule"]:
        names[name].__module__ = "example_controllers"
        setattr(module, name, names[name])
    return names["Reno"], names["RenoByRule"]


def wan(**keys):
    return Experiment.builtin("wan").with_arms("rfc").sweep(RENO).sweep({"path.rtt": "25ms", "flow.bytes": "2MB"} | keys)


class Growing(Controller):
    """Grows by a share of what it is asked with."""

    def __init__(self, share=0.5):
        self.share = share

    def start(self, report):
        return Rule(slow_start=self.share, avoidance=report.mss)


class Watching(Controller):
    """Notes what it is shown, on the class: objects are copied. Both ends of a flow have one."""

    seen = []

    def start(self, report):
        self.own = [report]
        Watching.seen.append(self.own)
        return Rule(slow_start=1.0, avoidance=report.mss)

    def round(self, report):
        self.own.append(report)

    def loss(self, report):
        self.own.append(report)


class Broken(Controller):
    def round(self, report):
        if report.rounds == 2:
            return Rule(window=report.window / (report.rounds - 2))


class Wordy(Controller):
    def loss(self, report):
        return "half of it"


def test_a_reno_in_python_is_the_built_in_one():
    by_round, by_rule = classes_of_the_example()
    paths = {"path": {"rtt": ["25ms", "50ms", "100ms", "200ms"]}, "flow": {"bytes": "32MB"}}
    experiment = Experiment.builtin("wan").with_arms("rfc").sweep(RENO).sweep(paths)
    experiment = experiment.with_controller("by-round", by_round).with_controller("by-rule", by_rule)
    rows = experiment.run(iterations=1).rows
    apart = {"by-round": 0.05, "by-rule": 0.01}
    goodputs = {(cell, arm): goodput for cell, arm, goodput in zip(rows["cell"], rows["arm"], rows["goodput_mbps"])}
    assert len(goodputs) == 12
    for (cell, arm), goodput in goodputs.items():
        if arm in apart:
            assert goodput == pytest.approx(goodputs[cell, "rfc"], rel=apart[arm]), (cell, arm)


def test_a_report_says_what_happened_since_the_last():
    Watching.seen.clear()
    wan(**{"path.loss": "1%"}).with_controller("own", Watching).run(iterations=1, jobs=1)
    start, *others = max(Watching.seen, key=len)
    assert (start.cause, start.rounds, start.ssthresh, start.in_slow_start, start.window) == ("start", 0, None, True, 10 * start.mss)
    rounds = [report for report in others if report.cause == "round"]
    losses = [report for report in others if report.cause == "loss"]
    assert losses and all(report.outstanding > 0 and report.lost > 0 and report.first is None for report in losses)
    assert [report.rounds for report in rounds] == list(range(1, len(rounds) + 1))
    assert 2_000_000 <= sum(report.delivered for report in others) + 200 * start.mss
    for report in rounds:
        lengths = {len(values) for values in [report.times_ns, report.deliveries, report.flights, report.rtts_ns, report.rates_bps]}
        assert len(lengths) == 1 and lengths != {0}
        assert report.times_ns == sorted(report.times_ns) and report.times_ns[-1] <= report.now_ns
        assert sum(report.deliveries) == report.delivered
        assert all(rtt is None or rtt >= 25_000_000 for rtt in report.rtts_ns)
        assert report.min_rtt_ns >= 25_000_000 and report.srtt_ns >= report.min_rtt_ns
    assert any(rate for report in rounds for rate in report.rates_bps)


def test_runs_do_not_depend_on_the_number_of_jobs_and_go_on_from_a_folder(tmp_path):
    experiment = wan(**{"path.loss": "0.1%"}).with_controller("own", Growing(0.8))
    one = experiment.run(iterations=4, jobs=1, out=tmp_path)
    assert experiment.run(iterations=4, jobs=3).runs["elapsed_ns"] == one.runs["elapsed_ns"]
    assert (again := experiment.run(iterations=4, out=tmp_path)).resumed == 8 and again.made == 0
    other = wan(**{"path.loss": "0.1%"}).with_controller("own", Growing(0.9)).run(iterations=4, out=tmp_path)
    assert (other.resumed, other.made) == (4, 4)


def test_source_and_parameters_are_part_of_the_identity_of_runs():
    def identities(experiment):
        runs = experiment.run(iterations=1).runs
        return [spec for spec, arm in zip(runs["spec"], runs["arm"]) if arm == "own"]

    same = [identities(wan().with_controller("own", controller)) for controller in [Growing, Growing(), Growing(0.5)]]
    assert same[0] == same[1] == same[2]
    assert identities(wan().with_controller("own", Growing(0.25))) != same[0]
    assert identities(wan().with_controller("own", Watching)) != same[0]
    travelled = pickle.loads(pickle.dumps(wan().with_controller("own", Growing)))
    assert identities(travelled) == same[0]


def test_a_dict_names_a_controller_beside_the_profile():
    arms = {"use": ["rfc", "own"], "own": {"profile": "rfc", "controller": Growing(0.5), "set": {"rto.min": "300ms"}}}
    spec = {"summary": "Mine", "path": {"rtt": "25ms"}, "flow": {"bytes": "100kB"}, "arms": arms}
    experiment = Experiment.from_dict(spec)
    assert experiment.arms == ["rfc", "own"] and "controller" in arms["own"]
    one, other = experiment.run(iterations=1).runs["elapsed_ns"]
    assert one < other


def test_an_error_stops_the_sweep_and_names_class_method_and_line():
    experiment = wan().with_controller("own", Broken)
    with pytest.raises(longhaul.ControllerError) as caught:
        experiment.run(iterations=500, jobs=2)
    error = caught.value
    line = pathlib.Path(__file__).read_text().splitlines().index("            return Rule(window=report.window / (report.rounds - 2))") + 1
    assert (error.controller, error.method, error.path, error.line) == ("Broken", "round", __file__, line)
    assert str(error) == f"Broken.round, {__file__}, line {line}: ZeroDivisionError: division by zero"
    assert isinstance(error.__cause__, ZeroDivisionError)
    with pytest.raises(longhaul.ControllerError, match="Wordy.loss, .*: it returned something else than a longhaul.Rule or None"):
        wan(**{"path.loss": "1%"}).with_controller("own", Wordy).run(iterations=1)
    with pytest.raises(longhaul.Error, match="Broken.round, "):
        wan().with_controller("own", Growing).run(iterations=1) and experiment.run(iterations=1)


def test_what_is_no_controller_is_refused():
    class Parametrised(Controller):
        def __init__(self, share):
            self.share = share

    for wrong, words in [
        (object, "class object is not a controller; extend longhaul.Controller"),
        (7, "`7` is not a controller; name a class"),
        (Parametrised, "takes parameters: .*; write .*Parametrised\\(…\\)"),
        (Parametrised(threading.Thread.run.__get__(object())), "attribute `share` of .* has no text of its own"),
        (type("Made", (Controller,), {"__module__": "nowhere"}), "the source of class Made is not available; define it in a file"),
    ]:
        with pytest.raises(longhaul.SpecError, match=f"arm own: .*{words}"):
            wan().with_controller("own", wrong)
    with pytest.raises(longhaul.SpecError, match="unknown arm or profile `linus`"):
        wan().with_controller("own", Growing, profile="linus")
    for wrong in [-1, float("nan"), float("inf")]:
        with pytest.raises(ValueError, match="window: .* is not a number from zero on"):
            Rule(window=wrong)
