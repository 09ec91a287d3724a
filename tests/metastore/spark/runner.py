"""Run the corpus in Spark's process and tell what became of each statement: its name, and ``rows`` or ``error``."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.normal import Normal
from tests.metastore.spark.process import tell
from tests.metastore.spark.session import start_session
from tests.metastore.spark.statement import Kind


def run_topics(root, uri, *names):
    """Run topics on a metastore, or, where the URI is empty, on Spark's own embedded one; see `process`."""
    logging.disable(logging.CRITICAL)  # Spark's Python logs each error at length; the outcomes have them
    root = Path(root).resolve()
    session = start_session(root, uri or None)
    normal = Normal(root)
    try:
        for name in names:
            for statement in TOPICS[name]:
                tell({"name": statement.name, **run(session, normal, root, statement)})
    finally:
        logging.disable(logging.NOTSET)
        session.stop()


def run(session, normal, root, statement):
    """What becomes of one statement, normalised: {"rows": …} or {"error": …}."""
    text = statement.text.replace("$WAREHOUSE", str(root / "warehouse")).replace("$OUTSIDE", str(root / "outside"))
    if statement.kind is Kind.FOLDERS:
        return {"rows": list_folders(Path(text), root)}
    try:
        found = session.sql(text).collect()
    except (PySparkException, Py4JJavaError) as error:
        return {"error": describe(error, normal)}
    return {"rows": [normal.row(one) for one in found]}


def describe(error, normal):
    """An error's name, which is compared, and its text, which is for whoever reads a failure."""
    return {
        "condition": error.getCondition() if isinstance(error, PySparkException) else None,
        "causes": list(causes(error)),
        "text": normal.text(str(error)),
    }


def causes(error):
    """The classes of a Java exception and of its causes, outermost first."""
    java = error.java_exception if isinstance(error, Py4JJavaError) else error._origin
    while java is not None:
        yield java.getClass().getName()
        java = java.getCause()


def list_folders(top, root):
    """[folder below the root, number of data files in it], sorted; files of marks and checksums are not data."""
    found = []
    for folder, below, files in os.walk(top):
        below[:] = [one for one in below if not one.startswith((".", "_"))]
        data = [one for one in files if not one.startswith((".", "_"))]
        found.append([str(Path(folder).relative_to(root)), len(data)])
    return sorted(found)
