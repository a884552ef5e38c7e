"""Reads what `longhaul ab --out DIR --series` kept, with nothing of longhaul's own: pyarrow alone.

    python check.py DIR

Fails unless every table opens as one data set, fields carry their units, no run is there twice, and flows and series belong to runs.
"""

import sys
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds

UNITS = {"elapsed_ns": b"ns", "bytes_sent": b"B", "path_rate_bps": b"bit/s", "goodput_mbps": b"Mbit/s", "rtos": b"1"}


def main(folder: Path) -> None:
    tables = {name: ds.dataset(folder / name).to_table() for name in ("runs", "flows", "series") if (folder / name).is_dir()}
    runs = tables["runs"]
    units = {name: runs.schema.field(name).metadata[b"unit"] for name in UNITS}
    assert units == UNITS, units
    assert runs.schema.field("arm").metadata is None or b"unit" not in runs.schema.field("arm").metadata
    numbers = runs["run"]
    assert pc.count_distinct(numbers).as_py() == len(runs), "a run is there twice"
    goodput = pc.divide(pc.multiply(pc.cast(runs["bytes"], "double"), 8e3), pc.cast(runs["elapsed_ns"], "double"))
    assert pc.max(pc.abs(pc.subtract(pc.divide(runs["goodput_mbps"], goodput), 1.0))).as_py() < 1e-9
    for name in set(tables) - {"runs"}:
        of_runs = pc.is_in(tables[name]["run"], value_set=numbers.combine_chunks())
        assert pc.all(of_runs).as_py() in (True, None), f"{name} has rows without a run"
    print(runs.schema.to_string(show_field_metadata=True, truncate_metadata=False)[:600])
    print(runs.group_by("arm").aggregate([("goodput_mbps", "mean"), ("run", "count")]).to_pydict())
    print({name: len(table) for name, table in tables.items()})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
