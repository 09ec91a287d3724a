"""A job that writes batch after batch into a table, for being killed: ``python -m tests.spark.writing_process URL``."""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import functions as f

from benchmarks.spark_session import spark_session
from hbstore.errors import WriteConflict
from hbstore.publishing import publisher
from hbstore.spark import write_table
from tests.pauses import idle
from tests.spark.settings import SMALL
from tests.spark.warm_python import use_warm_python

REGIONS = 6
publisher.ALIVE = 4.0
ROWS = 60


def main(url, first):
    """Say ``batch n`` after each write that came back; Spark's JVM ends with this process."""
    place = Path(url.removeprefix("sqlite://")).parent
    with spark_session("local[2]", place, {**SMALL, "spark.driver.memory": "512m"}) as spark:
        use_warm_python(spark, place)
        for batch in range(first, first + 1000):
            region = f.concat(f.lit("r"), (f.col("id") % REGIONS).cast("string"))
            frame = spark.range(ROWS).select((f.col("id") + batch * ROWS).alias("id"), region.alias("region"))
            while True:
                try:
                    write_table(frame.coalesce(2), url, "shop.sales", static={"ds": "2013-01-01"})
                    break
                except WriteConflict:  # with one that was killed, whose lease runs out
                    idle(0.2)
            sys.stdout.write(f"batch {batch}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
