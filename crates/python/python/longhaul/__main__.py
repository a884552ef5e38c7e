"""`python -m longhaul unit N of M EXPERIMENT OUT`: one of M parts of an experiment, for batch systems that number their tasks.
`python -m longhaul make EXPERIMENT OUT --engine ray`: all of it, by threads or a Ray cluster.

OUT is a folder, or a URL of fsspec such as s3://bucket/folder. Each task takes every Mth unit of work and writes its shards there. A task that
is made again makes what is missing. When all are done, `longhaul ab EXPERIMENT --out DIR`, or `run(out=OUT)` with the same settings, finds every
run there.
"""

import argparse
import sys

import longhaul
from longhaul import _place


def read(arguments):
    parser = argparse.ArgumentParser(prog="python -m longhaul", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--version", action="version", version=f"longhaul {longhaul.__version__}")
    commands = parser.add_subparsers(required=True, metavar="unit|make", dest="command")
    unit = commands.add_parser("unit", help="make one part of an experiment")
    unit.add_argument("number", metavar="N", type=int, help="which part, from 1")
    unit.add_argument("of", choices=["of"])
    unit.add_argument("parts", metavar="M", type=int, help="how many there are")
    make = commands.add_parser("make", help="make an experiment")
    make.add_argument("--engine", choices=["threads", "ray"], default="threads", help="what makes the runs")
    make.add_argument("--address", metavar="ADDRESS", help="of a Ray cluster; otherwise one is started on this machine")
    make.add_argument("--jobs", type=int, default=0, metavar="N", help="runs, or tasks of Ray, at once")
    for each in [unit, make]:
        each.add_argument("experiment", metavar="EXPERIMENT", help="a built-in experiment, or the path of a TOML file")
        each.add_argument("out", metavar="OUT", help="where the shards go")
        each.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a value; several make a sweep")
        each.add_argument("--arms", metavar="A,B,…", help="compare these arms")
        each.add_argument("--iterations", type=int, metavar="N", help="runs of each arm in each cell")
        each.add_argument("--seed", type=int, metavar="N", help="seed of all random streams")
        each.add_argument("--series", action="store_true", help="keep series, too")
    found = parser.parse_args(arguments)
    if found.command == "unit" and not 1 <= found.number <= found.parts:
        unit.error(f"there is no part {found.number} of {found.parts}; parts are 1 to {found.parts}")
    return found


def asked_experiment(asked):
    built_in = asked.experiment in dict(longhaul.builtins())
    experiment = (longhaul.Experiment.builtin if built_in else longhaul.Experiment.from_toml)(asked.experiment)
    experiment = experiment.with_arms(*asked.arms.split(",")) if asked.arms else experiment
    settings = [*asked.set, *(f"run.{key}={value}" for key in ["iterations", "seed"] if (value := getattr(asked, key)) is not None)]
    if settings:
        experiment = experiment.sweep(dict(setting.partition("=")[::2] for setting in settings))
    return experiment


def unit(asked):
    experiment = asked_experiment(asked)
    units = experiment._units()[asked.number - 1 :: asked.parts]
    failed = []
    for name, runs in units:
        failed += _place.make(experiment, name, runs, asked.out, asked.series)
    print(f"part {asked.number} of {asked.parts}: {len(units)} units, {sum(len(runs) for _, runs in units)} runs, {len(failed)} failed")
    for message in failed:
        print(f"error: {message}", file=sys.stderr)
    return 1 if failed else 0


def make(asked):
    places = {"out": asked.out, "series": asked.series, "jobs": asked.jobs, "engine": asked.engine, "address": asked.address}
    results = asked_experiment(asked).run(progress=True, **places)
    for cell, arm, iteration, seed, message in results.failures:
        print(f"error: run {cell}/{arm}/{iteration}, seed {seed}: {message}", file=sys.stderr)
    return 1 if results.failures else 0


def main(arguments):
    asked = read(arguments)
    return unit(asked) if asked.command == "unit" else make(asked)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (longhaul.Error, OSError) as error:
        sys.exit(f"error: {error}")
