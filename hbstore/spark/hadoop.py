"""Files as Spark's driver sees them: through Hadoop's file systems, with the session's own settings."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def hadoop_path(spark: SparkSession, location: str) -> tuple[Any, Any]:
    """A location as Java's ``Path``, and the ``FileSystem`` that it is in.

    Raises:
        Py4JJavaError: there is no such file system, or no connection to it.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  there is no public way to it
    path = jvm.org.apache.hadoop.fs.Path(location)
    return path, path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
