"""`python -m longhaul unit N of M EXPERIMENT DIR`: one of M parts of an experiment, for batch systems that number their tasks.

Each task takes every Mth unit of work and writes its shards to DIR, which all tasks reach. A task that is made again makes what is missing.
When all are done, `longhaul ab EXPERIMENT --out DIR`, or `run(out=DIR)` with the same settings, finds every run there.
"""

import argparse
import os
import sys

import longhaul


def read(arguments):
    parser = argparse.ArgumentParser(prog="python -m longhaul", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    unit = parser.add_subparsers(required=True, metavar="unit").add_parser("unit", help="make one part of an experiment")
    unit.add_argument("number", metavar="N", type=int, help="which part, from 1")
    unit.add_argument("of", choices=["of"])
    unit.add_argument("parts", metavar="M", type=int, help="how many there are")
    unit.add_argument("experiment", metavar="EXPERIMENT", help="a built-in experiment, or the path of a TOML file")
    unit.add_argument("out", metavar="DIR", help="where the shards go")
    unit.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a value; several make a sweep")
    unit.add_argument("--arms", metavar="A,B,…", help="compare these arms")
    unit.add_argument("--iterations", type=int, metavar="N", help="runs of each arm in each cell")
    unit.add_argument("--seed", type=int, metavar="N", help="seed of all random streams")
    unit.add_argument("--series", action="store_true", help="keep series, too")
    found = parser.parse_args(arguments)
    if not 1 <= found.number <= found.parts:
        unit.error(f"there is no part {found.number} of {found.parts}; parts are 1 to {found.parts}")
    return found


def main(arguments):
    asked = read(arguments)
    built_in = asked.experiment in dict(longhaul.builtins())
    experiment = (longhaul.Experiment.builtin if built_in else longhaul.Experiment.from_toml)(asked.experiment)
    experiment = experiment.with_arms(*asked.arms.split(",")) if asked.arms else experiment
    settings = [*asked.set, *(f"run.{key}={value}" for key in ["iterations", "seed"] if (value := getattr(asked, key)) is not None)]
    if settings:
        experiment = experiment.sweep(dict(setting.partition("=")[::2] for setting in settings))
    units = experiment._units()[asked.number - 1 :: asked.parts]
    failed = []
    for name, runs in units:
        failed += experiment._make(name, runs, os.path.abspath(asked.out), asked.series)
    print(f"part {asked.number} of {asked.parts}: {len(units)} units, {sum(len(runs) for _, runs in units)} runs, {len(failed)} failed")
    for message in failed:
        print(f"error: {message}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (longhaul.Error, OSError) as error:
        sys.exit(f"error: {error}")
