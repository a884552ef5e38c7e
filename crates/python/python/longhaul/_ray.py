"""The machines of a Ray cluster make runs. Imported when `run(engine="ray")` asks for it."""

import platform
import time

import longhaul
from longhaul import _place

# Seconds of work in a task: Ray takes milliseconds for each.
SECONDS = 10
# A task that a lost machine made is made again on another one.
RETRIES = 3


def versions():
    """What a worker has to have in common with the driver. Each unit's name checks the behaviour, too."""
    return longhaul.__version__, platform.python_version_tuple()[:2]


def make_units(experiment, units, out, series, expected):
    """Makes some units, and returns how many runs they have, what failed, and how long it took."""
    if versions() != expected:
        raise longhaul.Error(f"a worker has {versions()} and the driver {expected}: install the same versions everywhere")
    began = time.monotonic()
    failed = []
    for name, runs in units:
        failed += _place.make(experiment, name, runs, out, series)
    return sum(len(runs) for _, runs in units), failed, len(units), time.monotonic() - began


def make(experiment, out, folder, series, jobs, progress, address):
    """Lets a cluster write to `out`, a directory or a URL, what `folder`, which is the same or a copy of it, lacks."""
    try:
        import ray
    except ImportError as error:
        raise longhaul.Error("engine: Ray is not installed; pip install ray") from error

    units = experiment._units(folder, series)
    total = sum(len(runs) for _, runs in units)
    ours = not ray.is_initialized()
    if ours:
        ray.init(address=address, log_to_driver=False)
    try:
        # A panic is a bug with a seed, which another try would meet again.
        task = ray.remote(num_cpus=1, max_retries=RETRIES, retry_exceptions=False)(make_units)
        spec = ray.put(experiment)
        most = jobs or 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
        done, made, spent, waiting = 0, 0, 0.0, []
        while units or waiting:
            while units and len(waiting) < most:
                # Until it is known how long a unit takes, a task has one; at the end all machines get their share.
                size = int(SECONDS * made / spent) if spent else 1
                size = max(1, min(size, len(units) // most + 1))
                waiting.append(task.remote(spec, units[:size], out, series, versions()))
                del units[:size]
            ready, waiting = ray.wait(waiting, num_returns=1)
            for runs, _, count, seconds in ray.get(ready):
                done, made, spent = done + runs, made + count, spent + seconds
                if progress:
                    progress(done, total)
    finally:
        if ours:
            ray.shutdown()
