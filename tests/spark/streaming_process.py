"""A query that streams events into a table, to be killed: ``python -m tests.spark.streaming_process URL FOLDER``.

With a third argument it kills itself as soon as it announces a partition.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as f

from benchmarks.spark_session import spark_session
from hbstore.spark import PartitionCommit, stream_to_table
from tests.spark.settings import SMALL
from tests.spark.warm_python import use_warm_python

SCHEMA = "id long, seconds long"
FIRST_HOUR = 1_356_998_400
"""Of 2013-01-01, in seconds since 1970."""


def events(spark, folder):
    """The events of the folder's files and their hours, a file in each batch."""
    files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(f"{folder}/source")
    at = (f.col("seconds") + FIRST_HOUR).cast("timestamp")
    return files.select("id", f.date_format(at, "yyyy-MM-dd-HH").alias("hour"))


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def main(url, folder, *dies):
    """Stream what is in the folder, and say ``done``; Spark's JVM ends with this process."""
    with spark_session("local[2]", Path(folder), {**SMALL, "spark.driver.memory": "512m"}) as spark:
        use_warm_python(spark, Path(folder))
        trigger = {"availableNow": True}
        commit = PartitionCommit(policies=("success-file", *([die] if dies else [])))
        options = {"checkpoint": f"{folder}/checkpoint", "trigger": trigger, "commit": commit}
        query = stream_to_table(events(spark, folder), url, "shop.events", **options)
        sys.stdout.write(f"started {query.id}\n")
        sys.stdout.flush()
        try:
            query.awaitTermination()
        except StreamingQueryException as error:  # its text is in the JVM, which ends before Python would show it
            sys.exit(str(error))
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
