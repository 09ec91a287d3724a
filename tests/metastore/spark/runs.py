"""The runs of the corpus, one for each metastore, all at once and each in a process of its own.

What Spark's embedded metastore says is recorded, as that takes it six minutes. Some topics are run on it each time, so
that a record of another Spark does not go unnoticed. Another Spark is recorded by

    python -m tests.metastore.spark.runs
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from tests.metastore.serving import Serve
from tests.metastore.spark.corpus import TOPICS

ROOT = Path(__file__).parents[3]
DERBY = "derby"
RECORDED = Path(__file__).with_name("embedded.jsonl")
"""An outcome in each line, as the runner writes them, without what may differ."""

SECONDS = 1100
"""A few minutes, unless the machine has other work to do."""

SHOWN = 4000
"""Characters of a run's log that a failure shows."""


@dataclass(frozen=True, slots=True)
class Run:
    """What became of the corpus on one metastore.

    Attributes:
        outcomes: by the statement's name, as the runner writes them.
        calls: the endpoint's log of calls, in order; empty for the embedded metastore.
    """

    outcomes: dict
    calls: list


def recorded():
    """What the embedded metastore says, by the name of the statement."""
    lines = map(json.loads, RECORDED.read_text(encoding="utf-8").splitlines())
    return {line["name"]: line for line in lines}


def record():
    """Run all topics on the embedded metastore, and write what it says into the record."""
    with tempfile.TemporaryDirectory() as folder:
        run = run_corpus(Path(folder), {DERBY: None}, {DERBY: list(TOPICS)})[DERBY]
    lines = list(run.outcomes.values())
    for line in lines:
        line.get("error", {}).pop("text", None)
    RECORDED.write_text("".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines), encoding="utf-8")


def run_corpus(folder, stores, topics):
    """Run topics on endpoints over stores, and on the embedded metastore.

    Args:
        folder: gets a folder for each run.
        stores: URLs by the name of the run; None for the embedded metastore.
        topics: the names of the topics by the name of the run.

    Returns:
        A Run for each name.
    """
    with ExitStack() as stack:
        servers = {}
        for name, store in stores.items():
            if store is None:
                continue
            (folder / name).mkdir()
            servers[name] = stack.enter_context(
                Serve(store, folder / name, "--log-calls", "--also-under", str(folder / name / "outside"))
            )
        processes = {
            name: stack.enter_context(_Runner(folder / name, topics[name], servers.get(name))) for name in stores
        }
        outcomes = {name: process.wait() for name, process in processes.items()}
        calls = {name: server.log() for name, server in servers.items()}
    return {name: Run(found, calls.get(name, [])) for name, found in outcomes.items()}


class _Runner:
    def __init__(self, root, topics, server):
        root.mkdir(exist_ok=True)
        self._out, self._log = root / "outcomes.jsonl", root / "spark.log"
        command = [sys.executable, "-m", "tests.metastore.spark.runner", "--root", str(root), "--out", str(self._out)]
        if server is not None:
            command += ["--uri", server.ready["uri"]]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [*command, "--only", *topics], cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()

    def wait(self):
        code = self._process.wait(SECONDS)
        assert code == 0, f"the runner ended with {code}:\n{self._log.read_text(errors='replace')[-SHOWN:]}"
        lines = map(json.loads, self._out.read_text(encoding="utf-8").splitlines())
        return {line["name"]: line for line in lines}


if __name__ == "__main__":
    record()
