"""A job that is killed while it writes: every batch is there wholly or not at all, and none is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys

import pytest

from hbstore import Column, Table, connect
from hbstore.publishing import Publisher
from tests.amounts import amount
from tests.pauses import idle
from tests.spark.writing_process import REGIONS, ROWS
from tests.spark.written_rows import rows_of_files

pytestmark = [pytest.mark.spark]

KILLS = amount(2, 20)


@pytest.fixture
def url(tmp_path):
    url = f"sqlite:///{tmp_path}/catalog.db"
    with connect(url) as store:
        store.create_database("shop")
        columns = [Column("ds", "date"), Column("region", "string")]
        parameters = {"spark.sql.sources.provider": "parquet"}
        location = f"file:{tmp_path}/sales"
        store.create_table(
            Table("shop", "sales", columns, [Column("id", "bigint")], location=location, parameters=parameters)
        )
    return url


def written_until_killed(url, first, seconds):
    """Run the job and kill it, and its JVM, some time after its first batch; the batches that came back."""
    command = [sys.executable, "-m", "tests.spark.writing_process", url, str(first)]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    done = []
    try:
        for line in job.stdout:
            if line.startswith("batch"):
                done.append(int(line.split()[1]))
                break
        idle(seconds)
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
    done += [int(line.split()[1]) for line in job.stdout if line.startswith("batch")]
    job.stdout.close()
    assert done, "it was killed before it wrote anything"
    return done


def test_batches_are_whole_and_none_is_lost(url, tmp_path):
    random.seed(7)
    came_back, first = [], 0
    for _ in range(KILLS):
        came_back += written_until_killed(url, first, random.uniform(0, 1.5))
        with connect(url) as store:
            Publisher(store).roll_forward_before_use(store.table_row("shop", "sales"))  # as each reader does
            there = store.get_partitions_by_filter("shop", "sales", None)
            ids = [one for partition in there for one in rows_of_files(partition, "id")]
            batches = {one // ROWS for one in ids}
            assert sorted(ids) == [batch * ROWS + at for batch in sorted(batches) for at in range(ROWS)]
            assert set(came_back) <= batches
            counts = [int(one.parameters["numRows"]) for one in there]
            assert counts == [len(ids) // REGIONS] * REGIONS
        first = max(batches) + 1
    hidden = [path for path in (tmp_path / "sales").rglob(".*") if not path.name.endswith(".crc")]
    with connect(url) as store:
        leased = {one.id for one in store.publications.of(store.publications.row("shop", "sales"))}
    assert all(path.name[1:33] in leased for path in hidden), "what is left belongs to a lease that runs out"
