"""A sweep over two nodes on this machine, one of which is killed. It needs Ray beside the package: `pip install ray`; and the program, for the
guide's command: `cargo build -p longhaul-cli`."""

import os
import subprocess
import sys
import threading

import longhaul
import pytest
import ray
from guide import ROOT, commands
from ray.cluster_utils import Cluster


def shards(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.parquet")}


@pytest.fixture
def cluster():
    # The head has no processor, so that the two others make all runs.
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, nodes
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def experiment():
    keys = {"path": {"rtt": ["25ms", "50ms"], "loss": 0.001}, "flow": {"bytes": "16MB"}}
    return longhaul.Experiment.builtin("wan").with_arms("linux", "longhaul").sweep(keys).set("run.iterations", 120)


def test_a_node_that_is_killed_changes_no_byte(cluster, experiment, tmp_path):
    cluster, nodes = cluster
    local = experiment.run(out=tmp_path / "local", series=True)
    killed = threading.Event()

    def progress(done, total):
        if done > total // 8 and not killed.is_set():
            killed.set()
            cluster.remove_node(nodes[0], allow_graceful=False)

    made = experiment.run(out=tmp_path / "ray", series=True, engine="ray", address=cluster.address, progress=progress)
    assert killed.is_set()
    assert len(shards(tmp_path / "ray")) > 20
    assert shards(tmp_path / "ray") == shards(tmp_path / "local")
    assert (made.made, made.resumed, made.failures) == (0, len(local), [])
    assert made.rows["goodput_mbps"] == local.rows["goodput_mbps"]


def test_a_sweep_goes_on_from_what_is_there(cluster, experiment, tmp_path):
    cluster, _ = cluster
    experiment.run(out=tmp_path, iterations=100)
    counted = []
    experiment.run(out=tmp_path, engine="ray", address=cluster.address, progress=lambda done, total: counted.append(total))
    assert set(counted) == {(120 - 100) * 4}
    assert experiment.run(out=tmp_path).made == 0


def test_workers_of_another_version_are_refused(experiment, tmp_path):
    from longhaul import _ray

    with pytest.raises(longhaul.Error, match="install the same versions everywhere"):
        _ray.make_units(experiment, [], str(tmp_path), False, ("0.0.0", ("3", "11")))
    name, runs = experiment._units()[0]
    with pytest.raises(longhaul.StoreError, match="is another one here"):
        experiment._make("0" * 32, runs, tmp_path, False)


def test_the_command_of_the_guide_runs(cluster, tmp_path):
    cluster, _ = cluster
    programs = [ROOT / "target" / profile / "longhaul" for profile in ["release", "debug"]]
    program = next((program for program in programs if program.is_file()), None)
    assert program, "no program: cargo build -p longhaul-cli"
    ((_, script),) = commands("ray")
    environment = {
        **os.environ,
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHON": sys.executable,
        "RAY_ADDRESS": cluster.address,
    }
    made = subprocess.run(["sh", "-ec", script], cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=300)
    assert made.returncode == 0, made.stdout + made.stderr
    assert list((tmp_path / "shared").rglob("*.parquet"))
