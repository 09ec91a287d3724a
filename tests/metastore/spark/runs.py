"""The runs of the corpus, one for each metastore, in one process of Spark.

What Spark's embedded metastore says is recorded, as that takes it minutes. The record says of which Spark it is; that
of another is made by

    python -m tests.metastore.spark.runs
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.metastore.serving import Serve
from tests.metastore.spark.corpus import TOPICS
from tests.metastore.spark.process import SparkProcess
from tests.metastore.spark.runner import run_topics

RECORDED = Path(__file__).with_name("embedded.jsonl")
"""The version of Spark, and then an outcome in each line, as the runner tells them, without what may differ."""


@dataclass(frozen=True, slots=True)
class Run:
    """What became of the corpus on one metastore.

    Attributes:
        outcomes: by the statement's name, as the runner writes them.
        calls: the endpoint's log of calls, in order.
    """

    outcomes: dict
    calls: list


def recorded():
    """The version of Spark, and what the embedded metastore says, by the name of the statement."""
    first, *lines = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    return first["spark"], {line["name"]: line for line in lines}


def record():
    """Run all topics on the embedded metastore, and write what it says into the record."""
    with tempfile.TemporaryDirectory() as folder, closing(SparkProcess(folder)) as process:
        lines = process.run(run_topics, Path(folder) / "derby", "", *TOPICS)
    for line in lines:
        line.get("error", {}).pop("text", None)
    lines = [{"spark": pyspark.__version__}, *lines]
    RECORDED.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


def run_corpus(process, folder, stores, topics):
    """Run topics on endpoints over stores.

    Args:
        process: Spark's.
        folder: gets a folder for each run.
        stores: URLs by the name of the run.
        topics: the names of the topics by the name of the run.

    Returns:
        A Run for each name.
    """
    runs = {}
    for name, store in stores.items():
        root = folder / name
        root.mkdir()
        with Serve(store, root, "--log-calls", "--also-under", str(root / "outside")) as server:
            outcomes = process.run(run_topics, root, server.ready["uri"], *topics[name])
        runs[name] = Run({one["name"]: one for one in outcomes}, server.log())
    return runs


if __name__ == "__main__":
    record()
