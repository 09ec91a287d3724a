"""A Spark session on a Hive metastore: an endpoint, with the settings of `hbstore spark-conf`, or embedded Derby."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from hbstore.metastore.spark_conf import spark_settings
from tests.quick_java import OPTIONS

EMBEDDED = "thrift://embedded:1"
"""Stands for no URI where the settings are made."""

DATABASE = "jdbc:derby:memory:metastore;create=true"
"""Hive's own metastore code inside Spark's process, over a database that lives as long as the process."""


OWNER = "ann"
"""Who owns what the session creates, whatever the user of this machine is called."""


def start_session(root, uri=None, more=()):
    """A session whose warehouse is ``<root>/warehouse``.

    Args:
        root: a folder of the session's own; it becomes the working directory.
        uri: the metastore as ``thrift://host:port``, or several with commas between them; None: embedded Derby.
        more: settings beside these, as pairs.
    """
    root = Path(root).resolve()
    for folder in ("warehouse", "outside", "local"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    os.chdir(root)
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["HADOOP_USER_NAME"] = OWNER
    java = f"{OPTIONS} -Duser.timezone=UTC -Dderby.system.home={root / 'local'}"
    uris = [EMBEDDED] if uri is None else uri.split(",")
    settings = {
        **{one.name: one.value for one in spark_settings(uris, f"file:{root / 'warehouse'}")},
        "spark.sql.session.timeZone": "UTC",
        "spark.hadoop.hive.exec.scratchdir": str(root / "local" / "scratch"),
        "spark.local.dir": str(root / "local"),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": java,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # One task and one file for each write: sizes and numbers of files are compared.
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.leafNodeDefaultParallelism": "1",
        "spark.default.parallelism": "1",
        # Hundreds of statements over a handful of rows: compiling and adapting them costs more than it gains.
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        **dict(more),
    }
    if uri is None:
        settings["spark.hadoop.hive.metastore.uris"] = ""  # not that of the session with which this Java began
        settings["spark.hadoop.javax.jdo.option.ConnectionURL"] = DATABASE
    builder = SparkSession.builder.master("local[2]").appName("hbstore metastore tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
