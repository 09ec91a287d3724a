"""Making the format ``hbstore`` known to a Spark session."""

from __future__ import annotations

from pyspark.sql import SparkSession

from hbstore.extras import check_pyspark
from hbstore.spark.arguments import check_arguments


def register_source(spark: SparkSession) -> None:
    """Make the format ``hbstore`` known to a session; doing it again changes nothing.

    Reading: options ``url``, ``table`` (``database.table``), and if wanted ``filter`` (in hbstore's language),
    ``rows_per_task`` (partitions in one Spark task, about 20,000), ``plan`` (``true`` adds the column ``hbstore_plan``:
    the scans that the row's task ran) and ``pushdown`` (``true``: what Spark filters is read by hbstore's filters; not
    for a DataFrame that is used twice). Writing, in mode ``append``: ``url``, ``table``, ``batch`` and
    ``if_not_exists`` as for `register_partitions`. See docs/spark.md.

    Raises:
        MissingPackage: PySpark is older than 4.1.

    >>> register_source(spark)
    >>> spark.read.format("hbstore").options(url=url, table="shop.sales", filter="hour = 5").load().count()
    1
    """
    check_arguments(spark=spark)
    check_pyspark((4, 1), 'the format "hbstore"')  # the first that lets a source in Python take over filters
    from hbstore.spark.source.source import HbstoreSource  # the rest of the package does without what it needs

    spark.dataSource.register(HbstoreSource)
