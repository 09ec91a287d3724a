"""Write the classes of Spark into an archive from which Java takes them in half the time, for `make test`.

    python -m tests.spark_classes FILE

Tests start dozens of Sparks. SPARK_SUBMIT_OPTS in their environment gives each of them ``-XX:SharedArchiveFile=FILE``;
a Java that cannot use the file does without it.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "1",
}


def main(file):
    """What Java has loaded when a job is over that writes and reads files goes into the archive."""
    fresh = Path(f"{file}.fresh").resolve()
    java = f"-XX:ArchiveClassesAtExit={fresh} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable"
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[1]").config("spark.driver.extraJavaOptions", java)
        for name, value in {**SETTINGS, "spark.sql.warehouse.dir": folder}.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        session.range(100).selectExpr("id", "id % 3 as part").write.partitionBy("part").parquet(f"{folder}/written")
        written = session.read.parquet(f"{folder}/written")
        assert written.groupBy("part").count().orderBy("part").count() == 3
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # the sign to end
        gateway.proc.wait()
    fresh.rename(file)


if __name__ == "__main__":
    main(sys.argv[1])
