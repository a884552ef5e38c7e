import signal

import longhaul
import pytest

# A shell that starts tests in the background lets them ignore Ctrl-C, which some of them send themselves.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def experiment():
    """Two arms in two cells, in which something is lost."""
    keys = {"path": {"rtt": ["25ms", "50ms"], "loss": 0.001}, "flow": {"bytes": "500kB"}}
    return longhaul.Experiment.builtin("wan").with_arms("server-2016", "longhaul").sweep(keys)


@pytest.fixture(scope="session")
def results(experiment):
    return experiment.run(iterations=10, series=True)
