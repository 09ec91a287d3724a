"""Hive 2.3's own command line: what it selects and drops by expressions, beside a Hive Metastore in its own process.

What it said beside that is recorded (tests/recordings.py).
"""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tests.hive_expressions.hive import OPEN, SOURCES, hive_jars
from tests.metastore.clients.hive_statements import FEWER, MORE, PREDICATES, ROWS, drops, load
from tests.metastore.clients.java import DATABASE
from tests.metastore.serving import Serve
from tests.quick_java import OPTIONS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS = 550
ASKED = [one for at, one in enumerate(PREDICATES) if at % 9 == 0 or one in (*FEWER, MORE)]
"""A later Hive's server asks all of them (test_hive_server_4.py)."""


@pytest.fixture(scope="module")
def command_line(tmp_path_factory):
    """A function that runs statements on a metastore; their output, by number."""
    folder = tmp_path_factory.mktemp("hive")
    jars = hive_jars().class_path("2.3")
    (command_jar,) = hive_jars().spark_jars().glob("hive-cli-*.jar")
    source = SOURCES / "HiveCommandLine.java"
    path = os.pathsep.join([str(folder), *jars, f"{command_jar.parent}/*"])
    subprocess.run(["javac", "-nowarn", "-d", str(folder), "-cp", path, str(source)], check=True, timeout=SECONDS)

    def run(uri, statements):
        script = folder / "script.sql"
        script.write_text("".join(f"!echo ---;\n{one};\n" for one in statements))
        settings = {
            **({**DATABASE, "hive.metastore.warehouse.dir": folder / "warehouse"} if uri is None else {}),
            "hive.metastore.uris": uri or "",
            "hive.async.log.enabled": "false",
            "hive.cli.errors.ignore": "true",
            "hive.exec.scratchdir": folder / "scratch",
            "hive.exec.local.scratchdir": folder / "local",
            "hive.exec.drop.ignorenonexistent": "false",
        }
        confs = [text for name, value in settings.items() for text in ("--hiveconf", f"{name}={value}")]
        command = ["java", *OPTIONS.split(), "-Xmx512m", *OPEN, "-cp", path, "HiveCommandLine", *confs]
        done = subprocess.run(
            [*command, "-S", "-f", str(script)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            cwd=folder,
            check=False,
        )
        outputs = [_plain(one) for one in done.stdout.split("---\n")[1:]]
        assert len(outputs) == len(statements), done.stdout[-3000:]
        return outputs

    return run


def _plain(output):
    """What a statement printed, without the log, to which Hive's parser of filters complains."""
    noise = re.compile(r"line \d+:\d+ |.* main INFO |.*SLF4J|\tat ")
    return "\n".join(line for line in output.splitlines() if not noise.match(line))


@pytest.fixture(scope="module")
def outputs(command_line, recording, tmp_path_factory):
    """What statements print on hbstore and on Hive's own metastore, by the topic: a command line for each."""
    folder = tmp_path_factory.mktemp("serve")
    selects = ["CREATE DATABASE IF NOT EXISTS expressions", *load("selects", folder)]
    prepared = len(selects)
    for predicate in ASKED:
        query = f"SELECT id FROM expressions.selects WHERE {predicate}"
        selects += [query, f"EXPLAIN DEPENDENCY {query}"]
    with Serve(f"sqlite://{folder}/store.db", folder) as server:
        ours = command_line(server.ready["uri"], [*selects, *drops()])
    theirs = recording.answer("outputs", lambda: command_line(None, [*selects, *drops()]))
    dropping = len(selects)
    return {
        "selects": (ours[:dropping], theirs[:dropping], prepared),
        "drops": (ours[dropping:], theirs[dropping:]),
    }


def test_selects(outputs):
    ours, theirs, prepared = outputs["selects"]
    assert "FAILED" not in "".join(ours), "\n".join(one for one in ours if "FAILED" in one)
    assert "FAILED" not in "".join(theirs), "\n".join(one for one in theirs if "FAILED" in one)
    found, expected = _inputs(ours[prepared:]), _inputs(theirs[prepared:])
    assert {one: rows for one, (rows, _) in found.items()} == {one: rows for one, (rows, _) in expected.items()}
    differ = {one for one in ASKED if found[one] != expected[one]}
    assert differ == {*FEWER, MORE}
    assert all(set(found[one][1]) < set(expected[one][1]) for one in FEWER)
    assert set(found[MORE][1]) > set(expected[MORE][1])


def _inputs(outputs):
    """The rows and the input partitions of each predicate."""
    pairs = zip(outputs[::2], outputs[1::2], strict=True)
    return {
        predicate: (sorted(rows.split()), sorted(re.findall('"partitionName":"([^"]*)"', inputs)))
        for predicate, (rows, inputs) in zip(ASKED, pairs, strict=True)
    }


def test_drops(outputs):
    ours, theirs = outputs["drops"]
    differ = [
        (statement, one, other)
        for statement, one, other in zip(drops(), ours, theirs, strict=True)
        if one.splitlines() != other.splitlines()
    ]
    assert not differ
    assert any("s=" in one for one in ours)
    assert any(len(one.splitlines()) < len(ROWS) for one in ours[4::3])
