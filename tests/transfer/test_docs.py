"""What docs/transfer.md shows is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from hbstore import Column, Database, Partition, Table, connect
from hbstore.cli import app
from hbstore.transfer import import_metastore

PAGE = Path(__file__).parents[2] / "docs" / "transfer.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_page_shows_real_output(endpoint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with connect(endpoint.url) as source:
        source.create_database(Database("shop", location="s3://shop"))
        columns = [Column("ds", "date"), Column("hour", "int")]
        source.create_table(Table("shop", "sales", columns, location="s3://shop/sales"))
        made = [Partition((f"2013-01-0{day}", str(hour))) for day in (1, 2) for hour in range(24)]
        source.add_partitions("shop", "sales", made)
    (block,) = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)
    for step in re.split(r"^\$ hbstore ", block, flags=re.MULTILINE)[1:]:
        line, _, expected = step.partition("\n")
        words = shlex.split(line.replace("thrift://metastore:9083", endpoint.uri))
        result = CliRunner().invoke(app, ["--store", "catalog.db", *words])
        assert result.exit_code == 0, result.output
        said = re.sub(r"\b[0-9a-f]{32}\b", "CHECKSUM", result.output.replace(str(tmp_path), "/data"))
        assert said == expected


def test_the_pages_python_runs(endpoint, store):
    with connect(endpoint.url) as source:
        source.create_database(Database("shop", location="s3://shop"))
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    first = code.replace("thrift://metastore:9083", endpoint.uri)
    names = {"store": store}
    exec(first, names)  # noqa: S102  the page's own text
    assert names["done"].is_complete
    assert names["import_metastore"] is import_metastore
