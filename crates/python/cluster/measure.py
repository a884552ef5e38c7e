"""Ray against threads on this machine: the same sweeps in turns, on a running cluster of two nodes with a processor each.

    python crates/python/cluster/measure.py [PAIRS [SECONDS]]

Prints the rate of each turn, the median ratio, and what a million runs cost. A turn takes about SECONDS; the first of each engine is apart.
"""

import os
import statistics
import sys
import tempfile
import time

import longhaul
import ray
from ray.cluster_utils import Cluster

PAIRS, SECONDS = [int(word) for word in sys.argv[1:3] + ["5", "30"][len(sys.argv) - 1 :]]
KEYS = {"path": {"rtt": ["25ms", "50ms"], "loss": 0.001}, "flow": {"bytes": "16MB"}}
EXPERIMENT = longhaul.Experiment.builtin("wan").with_arms("linux", "longhaul").sweep(KEYS)


def turn(engine, seed, iterations, address):
    with tempfile.TemporaryDirectory() as folder:
        more = {"engine": "ray", "address": address} if engine == "ray" else {"jobs": 2}
        began = time.monotonic()
        made = EXPERIMENT.run(out=folder, iterations=iterations, seed=seed, **more)
        return len(made) / (time.monotonic() - began)


cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
for _ in range(2):
    cluster.add_node(num_cpus=1)
cluster.wait_for_nodes()
ray.init(address=cluster.address, log_to_driver=False)
try:
    first = {engine: turn(engine, 1, 60, cluster.address) for engine in ["threads", "ray"]}
    iterations = max(60, int(first["threads"] * SECONDS / 4))
    print(f"load before: {os.getloadavg()[0]:.1f}; first turns, apart: " + ", ".join(f"{engine} {rate:.1f} runs/s" for engine, rate in first.items()), flush=True)
    found = {"threads": [], "ray": []}
    for pair in range(PAIRS):
        for engine in ["threads", "ray"] if pair % 2 == 0 else ["ray", "threads"]:
            found[engine].append(turn(engine, 2 + pair, iterations, cluster.address))
            print(f"pair {pair + 1}, {engine}: {found[engine][-1]:.1f} runs/s, {4 * iterations} runs, load {os.getloadavg()[0]:.1f}", flush=True)
    ratios = [one / other for one, other in zip(found["ray"], found["threads"])]
    print(f"Ray has {100 * statistics.median(ratios):.0f} % of the rate of threads (median of {PAIRS}; {min(ratios):.2f} to {max(ratios):.2f})")
    for engine, rates in found.items():
        print(f"a million runs by {engine}: {2e6 / statistics.median(rates) / 3600:.1f} processor hours, on two processors")
finally:
    ray.shutdown()
    cluster.shutdown()
