"""docs/publishing.md and docs/streams.md: the code that they show runs, and does what they say."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from hbstore import Column, Table, connect
from hbstore.cubes import Cubes
from hbstore.spark import PartitionCommit, read_table

DOCS = Path(__file__).parents[2] / "docs"
PARQUET = {"spark.sql.sources.provider": "parquet"}


@pytest.fixture
def make(url, tmp_path):
    """Creates shop.sales of some columns; gives the open store."""

    def make(partition_columns, columns):
        store.create_database("shop")
        location = f"file:{tmp_path}/sales"
        store.create_table(Table("shop", "sales", partition_columns, columns, location=location, parameters=PARQUET))
        return store

    with connect(url) as store:
        yield make


def blocks(page):
    found = re.findall(r"(?ms)^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"))
    return [block for language, block in found if language in {"", "python"}]


def run(code, url, **names):
    """Run a page's code with the store at another place."""
    exec(re.sub(r'"(?:sqlite|hbase)://[^"]*"', f'"{url}"', code), names)  # noqa: S102  the page's own text
    return names


def test_writing(spark, url, make, capsys):
    store = make([Column("ds", "string"), Column("region", "string")], [Column("amount", "int")])
    (code,) = (one for one in blocks("publishing.md") if "write_table" in one)
    run(code, url, spark=spark)
    assert "|     7|2013-01-01|    eu|" in capsys.readouterr().out
    assert store.partition_names("shop", "sales") == ["ds=2013-01-01/region=eu"]
    assert store.totals("shop", "sales").rows == 1, "the last write has replaced the others"


def test_a_storage_table_of_csv(spark, url, tmp_path, capsys):
    (tmp_path / "incoming/2015-01-28").mkdir(parents=True)
    (code,) = (one for one in blocks("cubes.md") if "read_table" in one)
    with connect(url) as store:
        store.create_database("shop")
        code = code.replace("/data/", f"{tmp_path}/")
        exec(code, {"spark": spark, "cubes": Cubes(store, "shop")})  # noqa: S102  the page's own text
    shown = [line.removeprefix("# ") for line in code.splitlines() if line.startswith("# ")]
    assert len(shown) > 5
    assert capsys.readouterr().out.split() == " ".join(shown).split()


def test_streaming(spark, url, make, tmp_path):
    store = make([Column("ds", "date"), Column("hour", "int")], [Column("id", "bigint"), Column("name", "string")])
    (tmp_path / "incoming").mkdir()
    line = {"id": 1, "name": "a", "ds": "2013-01-01", "hour": 5}
    (tmp_path / "incoming/0.json").write_text(json.dumps(line) + "\n")
    first, second = blocks("streams.md")[:2]
    names = run(
        first.replace('{"processingTime": "1 minute"}', '{"availableNow": True}').replace("/data/", f"{tmp_path}/"),
        url,
        spark=spark,
    )
    assert names["query"].exception() is None
    assert [row.id for row in read_table(spark, store, "shop.sales").collect()] == [1]
    told = []
    made = second.partition("events = ")[0]
    commit = run(made, url, tell_the_next_job=told.append)["commit"]
    assert isinstance(commit, PartitionCommit)
    assert commit.delay == timedelta(hours=1)
    commit.check(store.get_table("shop", "sales"))
    assert commit.time_of({"ds": "2013-01-01", "hour": "5"}).isoformat() == "2013-01-01T05:00:00+00:00"
