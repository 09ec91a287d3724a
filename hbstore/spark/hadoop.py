"""Files as Spark's driver sees them: through Hadoop's file systems, with the session's own settings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from pyspark.sql import SparkSession

_PATTERN: Final = re.compile(r"[\\*?\[\]{}]")


def hadoop_path(spark: SparkSession, location: str) -> tuple[Any, Any]:
    """A location as Java's ``Path``, and the ``FileSystem`` that it is in; see `hbstore.spark.java_errors.files_fail`.

    Raises:
        Py4JJavaError, PySparkException: there is no such file system, or no connection to it.
    """
    jvm: Any = spark.sparkContext._jvm  # noqa: SLF001  there is no public way to it
    path = getattr(jvm, "org.apache.hadoop.fs.Path")(location)  # in one piece: each package would be sought in all jars
    return path, path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001


def plain_paths(locations: Iterable[str]) -> list[str]:
    r"""Locations for ``load``, each once, sorted, with nothing in them that Spark takes for a pattern.

    >>> plain_paths(["/data/b", "/data/{a}*", "/data/b"])
    ['/data/\\{a\\}\\*', '/data/b']
    """
    return sorted({_PATTERN.sub(r"\\\g<0>", location) for location in locations})
