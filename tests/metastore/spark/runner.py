"""Run the corpus in a process of its own and write what became of each statement.

    python -m tests.metastore.spark.runner --root DIR --out FILE [--uri thrift://…] [--only TOPIC …]

Without ``--uri`` the metastore is Spark's own embedded one. FILE gets one line of JSON for each statement, as soon as
the statement is over: its name and either ``rows`` or ``error``.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.normal import Normal
from tests.metastore.spark.session import start_session
from tests.metastore.spark.statement import Kind


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True, help="the folder of this run: warehouse, data, logs")
    parser.add_argument("--out", type=Path, required=True, help="the file for the outcomes")
    parser.add_argument("--uri", help="the metastore (default: the embedded one)")
    parser.add_argument("--only", nargs="+", choices=list(TOPICS), default=list(TOPICS), help="only these topics")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)  # Spark's Python logs each error at length; the outcomes have them
    root, out = options.root.resolve(), options.out.resolve()
    session = start_session(root, options.uri)
    normal = Normal(root)
    with out.open("w", encoding="utf-8", buffering=1) as file:
        for name in options.only:
            for statement in TOPICS[name]:
                outcome = run(session, normal, root, statement)
                file.write(json.dumps({"name": statement.name, **outcome}) + "\n")
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


if __name__ == "__main__":
    main()
