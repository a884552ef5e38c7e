import pathlib
import re

import duckdb
import longhaul
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

TABLES = ["runs", "flows", "series", "cells", "rows"]
PAGE = pathlib.Path(__file__).parents[3] / "docs" / "result-tables.md"


def listed(name):
    """Columns of a table in the page that describes them: name, kind, whether rows may lack it, unit."""
    section = re.split(r"^`(\w+)`: ", PAGE.read_text(), flags=re.M)
    text = section[section.index(name) + 1]
    rows = re.findall(r"^\| `(\w+)` \| (\w+)(, or none)? \| (\S*) \|", text, flags=re.M)
    return [(column, kind, bool(optional), unit or None) for column, kind, optional, unit in rows]


KINDS = {"wide": "uint64", "narrow": "uint32", "real": "double", "flag": "bool", "word": "string"}


@pytest.mark.parametrize("name", TABLES)
def test_columns_types_and_units_are_those_of_the_page(results, name):
    table = getattr(results, name)
    schema = pyarrow.schema(table)
    found = [
        (field.name, str(field.type), field.nullable, (field.metadata or {}).get(b"unit", b"").decode() or None)
        for field in schema
    ]
    assert found == [(column, KINDS[kind], optional, unit) for column, kind, optional, unit in listed(name)]
    assert table.units == {column: unit for column, _, _, unit in listed(name) if unit}
    assert list(table.meanings) == table.column_names and all(table.meanings.values())


@pytest.mark.parametrize("name", TABLES)
def test_every_reader_gets_the_same_values(results, name):
    ours = getattr(results, name)
    expected = {column: ours[column] for column in ours.column_names}
    assert len(ours) == ours.num_rows > 0
    arrow = pyarrow.table(ours)
    arrow.validate(full=True)
    assert arrow.to_pydict() == expected
    assert polars.DataFrame(ours).to_dict(as_series=False) == expected
    found = duckdb.sql("select * from ours").fetchall()
    assert found == list(zip(*expected.values()))
    frame = pandas.DataFrame.from_arrow(ours)
    assert frame.shape == (len(ours), len(expected))
    for column, values in expected.items():
        there = [value for value in values if value is not None]
        assert frame[column].notna().sum() == len(there), column


def test_a_table_is_read_again_and_again_and_outlives_its_results(experiment):
    runs = experiment.run(iterations=1).runs
    streams = [runs.__arrow_c_stream__() for _ in range(3)]
    del streams
    readers = [pyarrow.RecordBatchReader.from_stream(runs) for _ in range(2)]
    batches = [reader.read_all() for reader in readers]
    column = batches[0]["goodput_mbps"]
    expected = runs["goodput_mbps"]
    del runs, readers, batches
    assert column.to_pylist() == expected


def test_tables_are_those_that_a_folder_holds(results, tmp_path):
    results.to_parquet(tmp_path)
    for name in ["runs", "flows", "series"]:
        kept = pyarrow.parquet.read_table(tmp_path / name)
        table = pyarrow.table(getattr(results, name))
        assert kept.schema.equals(table.schema)
        assert kept.sort_by([("run", "ascending")]).to_pydict() == table.sort_by([("run", "ascending")]).to_pydict()


def test_a_table_of_many_batches_is_whole():
    # Eight runs have about ten thousand values each; a batch holds 65,536.
    wan = longhaul.Experiment.builtin("wan").with_arms("linux", "longhaul", "rfc", "server-2016")
    paths = {"path": {"rate": "100kbit", "rtt": ["25ms", "50ms"]}, "flow": {"seconds": 2500}}
    series = wan.sweep(paths).run(iterations=1, series=True).series
    arrow = pyarrow.table(series)
    assert len(arrow["value"].chunks) == 2
    assert arrow.to_pydict() == {column: series[column] for column in series.column_names}


def test_an_unknown_column_is_refused(results):
    with pytest.raises(KeyError, match="did you mean `goodput_mbps`?"):
        results.runs["goodput_mbp"]
