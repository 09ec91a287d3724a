"""Spark with a metastore of its own, in a process of its own: ``python -m benchmarks.spark_derby FOLDER ROOT``.

It makes the table ``many`` of the folders below ROOT, says how many partitions that are, and then plans the query of
each line that it reads, and says how many seconds that took.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from benchmarks.spark_session import derby_settings, spark_session
from benchmarks.timing import seconds

TABLE = "(id BIGINT, name STRING, amount DOUBLE, ds STRING, hour INT) USING parquet PARTITIONED BY (ds, hour)"


def plan_seconds(spark: SparkSession, table: str, where: str) -> float:
    """How long Spark SQL plans a read of a table, and lists the files, with nothing known of it beforehand."""
    spark.catalog.refreshTable(table)
    text = f"SELECT * FROM {table} WHERE {where}"
    return seconds(lambda: spark.sql(text)._jdf.queryExecution().executedPlan())  # noqa: SLF001


@contextmanager
def spark_on_derby(folder: Path, root: Path) -> Iterator[tuple[int, Callable[[str], float]]]:
    """Start it: how many partitions it has, and what plans a condition there and takes the seconds."""
    folder.mkdir()
    command = [sys.executable, "-m", "benchmarks.spark_derby", str(folder), str(root)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, answers = process.stdin, process.stdout

        def plan(where: str) -> float:
            asked.write(f"{where}\n")
            asked.flush()
            return float(answers.readline())

        try:
            yield int(answers.readline()), plan
        finally:
            asked.close()


def main() -> None:
    folder, root = map(Path, sys.argv[1:])
    with spark_session("local[2]", folder, derby_settings(folder)) as spark:
        spark.sql(f"CREATE TABLE many {TABLE} LOCATION 'file:{root}'")
        spark.sql("MSCK REPAIR TABLE many")
        print(spark.sql("SHOW PARTITIONS many").count(), flush=True)
        for line in sys.stdin:
            print(plan_seconds(spark, "many", line.strip()), flush=True)


if __name__ == "__main__":
    main()
