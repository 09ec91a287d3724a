"""docs/repair.md: its command line prints what it shows, and its Python runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from typer.testing import CliRunner

from hbstore import Column, Partition, Table, connect
from hbstore.cli import app
from hbstore.repair import sync_partitions

TEXT = (Path(__file__).parents[2] / "docs" / "repair.md").read_text(encoding="utf-8")


def logs(tmp_path):
    """The store that the page speaks of: a partition without a folder, folders without partitions."""
    url, root = f"sqlite://{tmp_path}/catalog.db", tmp_path / "sales"
    for folder in ("ds=2013-01-03/hour=5", "old"):
        (root / folder).mkdir(parents=True)
    with connect(url) as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("hour", "int")]
        store.create_table(Table("shop", "sales", columns, location=f"file:{root}"))
        store.add_partitions("shop", "sales", [Partition(("2013-01-01", "1"))])
    return url


def test_the_page_shows_real_output(tmp_path):
    (block,) = re.findall(r"```console\n\$ hbstore (.*?)```", TEXT, re.DOTALL)
    line, _, expected = block.partition("\n")
    done = CliRunner().invoke(app, shlex.split(line), env={"HBSTORE_URL": logs(tmp_path)})
    assert (done.output, done.exit_code) == (expected, 0)


def test_the_pages_python_runs(tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    with connect(logs(tmp_path)) as store:
        names = {"store": store}
        exec(code, names)  # noqa: S102  the page's own text
        repair = names["repair"]
        assert (len(repair.add), len(repair.drop), len(repair.foreign)) == (1, 1, 1)
        assert repair == sync_partitions(store, "shop.sales", "sync", dry_run=True)


def test_a_listing_for_each_folder_above_partitions(tmp_path, monkeypatch):
    """What the page says of 400 days with 24 hours each, in small."""
    listed = []
    from hbstore.repair.listing import LocalTree

    real = LocalTree.entries
    monkeypatch.setattr(LocalTree, "entries", lambda tree, path: (listed.append(path), real(tree, path))[1])
    url = logs(tmp_path)
    for day in range(1, 11):
        for hour in range(3):
            (tmp_path / f"sales/ds=2014-01-{day:02}/hour={hour}").mkdir(parents=True)
    with connect(url) as store:
        assert sync_partitions(store, "shop.sales", spec={"ds": "2014-01-01"}).added == 3
        assert listed[:2] == ["", "ds=2014-01-01"]
        listed.clear()
        assert sync_partitions(store, "shop.sales").added == 28
    assert sorted(path for path in listed if path != "_hbstore") == sorted(
        ["", "ds=2013-01-03", *(f"ds=2014-01-{day:02}" for day in range(1, 11))]
    )
