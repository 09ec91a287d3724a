"""Executors are killed again and again while a query streams: Spark runs their tasks again, and every row comes once.

``python -m tests.spark.test_executor_deaths URL FOLDER`` is the query, on a cluster of two executors.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import functions as f

from benchmarks.spark_session import spark_session
from hbstore import Column, Table, connect
from hbstore.spark import stream_to_table
from hbstore.spark.footers import row_counts
from hbstore.store.stream_batches import Stream
from tests.amounts import amount
from tests.pauses import idle
from tests.spark.settings import SMALL

FILES, ROWS, HOURS = amount(6, 12), 400, 12
KILLS = amount(2, 6)
PAUSE = "reflect('java.lang.Thread', 'sleep', 5L) = 'null'"
"""True of each row after five milliseconds, in Java: executors that come up again need no Python for it."""
MASTER = "local-cluster[2,1,512]"
SETTINGS = {
    **SMALL,
    "spark.driver.memory": "512m",
    "spark.executor.memory": "512m",
    "spark.executor.extraJavaOptions": SMALL["spark.driver.extraJavaOptions"],
    "spark.task.maxFailures": "100",
    "spark.deploy.maxExecutorRetries": "-1",
}

pytestmark = [pytest.mark.spark]


def main(url, folder):
    """Stream what is in the folder, one file in a batch, slowly."""
    os.environ["SPARK_HOME"] = spark_home(Path(folder) / "spark")
    with spark_session(MASTER, Path(folder), SETTINGS) as spark:
        events = spark.readStream.schema("id long").option("maxFilesPerTrigger", 1).json(f"{folder}/source")
        hour = f.format_string("h%02d", (f.col("id") % HOURS).cast("int"))
        rows = events.repartition(4).where(PAUSE).select("id", hour.alias("hour"))
        options = {"checkpoint": f"{folder}/checkpoint", "trigger": {"availableNow": True}}
        query = stream_to_table(rows, url, "shop.events", **options)
        say(f"started {query.id}")
        query.awaitTermination()
        say("done")


def spark_home(place):
    """The installed Spark in another folder, as executors have their working folders in it."""
    place.mkdir()
    for one in ("bin", "jars", "python"):
        (place / one).symlink_to(Path(pyspark.__file__).parent / one)
    return str(place)


def say(line):
    """Tell the test."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def executors(session):
    """The executors among the processes that a process has started."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (
                b"CoarseGrainedExecutorBackend" in (place / "cmdline").read_bytes()
                and os.getsid(int(place.name)) == session
            ):
                found.append(int(place.name))
        except (ProcessLookupError, FileNotFoundError, PermissionError):
            continue
    return found


@pytest.fixture
def store(tmp_path):
    (tmp_path / "source").mkdir()
    for at in range(FILES):
        lines = (json.dumps({"id": number}) + "\n" for number in range(at * ROWS, (at + 1) * ROWS))
        (tmp_path / f"source/{at:02}.json").write_text("".join(lines))
    with connect(f"sqlite://{tmp_path}/catalog.db") as store:
        store.create_database("shop")
        provider = {"spark.sql.sources.provider": "parquet"}
        columns = [Column("hour", "string")], [Column("id", "bigint")]
        store.create_table(Table("shop", "events", *columns, location=f"file:{tmp_path}/events", parameters=provider))
        yield store


def test_every_row_is_there_once_however_often_executors_die(store, tmp_path):
    seed = random.randrange(1 << 32)
    print(f"seed {seed}")  # noqa: T201  pytest shows it where the test fails
    chance = random.Random(seed)
    command = [sys.executable, "-m", "tests.spark.test_executor_deaths", store.rows.url, str(tmp_path)]
    job = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True
    )
    try:
        started = job.stdout.readline().split()
        assert started[:1] == ["started"], "it ended before it began"
        killed = 0
        while killed < KILLS and job.poll() is None:
            idle(chance.uniform(0.5, 2.5))
            if there := executors(job.pid):
                os.kill(chance.choice(there), signal.SIGKILL)
                killed += 1
        assert job.stdout.readline() == "done\n"
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        job.stdout.close()
    assert killed == KILLS, "it was over too soon"
    there = store.get_partitions_by_filter("shop", "events", None)
    counts = {one.values[0]: int(one.parameters["numRows"]) for one in there}
    assert counts == Counter(f"h{number % HOURS:02}" for number in range(FILES * ROWS))
    files = [path for path in (tmp_path / "events").rglob("*") if path.is_file() and path.suffix != ".crc"]
    assert {path.parent.name for path in files} == {f"hour={hour}" for hour in counts}
    assert sum(row_counts("parquet", [f"file:{path}" for path in files])) == FILES * ROWS
    record = store.publications.batches(store.publications.row("shop", "events"), Stream(started[1], "shop.events"))
    assert record.last == FILES - 1
    assert all(digest.startswith(f"{ROWS}-") for _, digest in record.digests)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
