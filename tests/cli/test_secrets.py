"""What a server writes is its user's alone, and what it is told in confidence is nowhere to be read."""

from __future__ import annotations

import os
import urllib.request
from pathlib import Path

import pytest

import hbstore.client
from hbstore.errors import HbstoreError
from tests.metastore.serving import Serve
from tests.processes import text_of, tree
from tests.quick_java import quick_java

pytestmark = [pytest.mark.spark, pytest.mark.slow]
TOKEN = "planted-token-0123456789"  # noqa: S105
SECRET = "planted-secret-9876543210"  # noqa: S105
SETTING = f"spark.hadoop.fs.s3a.secret.key={SECRET}"
STATEMENTS = (
    "CREATE TABLE sales (amount INT, ds STRING) USING parquet PARTITIONED BY (ds)",
    "INSERT INTO sales VALUES (1, '2013-01-01')",
    "ALTER TABLE sales ADD PARTITION (ds = '2013-01-02')",
    "SELECT id, count(*) FROM range(3000) GROUP BY id",
    "EXPLAIN EXTENDED SELECT * FROM sales",
    "SET -v",
    "SELECT * FROM nowhere",
    "SELECT raise_error('it fails in a task') FROM range(2)",
    "SELECT * FROM parquet.`s3a://bucket/nothing`",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("secrets")


@pytest.fixture(scope="module")
def server(folder):
    """One that a user started who lets others read what is written, with secrets in files."""
    options, tokens = folder / "options.toml", folder / "tokens"
    options.write_text(f'[serve]\nspark-conf = ["{SETTING}", "spark.driver.memory=777m"]\n')
    tokens.write_text(f"ann {TOKEN}\n")
    tokens.chmod(0o600)
    environment = {"HBSTORE_CONFIG": str(options), "TMPDIR": str(folder / "tmp")}
    (folder / "tmp").mkdir()
    doors = ("--http-port", "0", "--sql-port", "0", "--metrics-port", "0", "--spark-master", "local[2]")
    before = os.umask(0o022)
    try:
        with (
            quick_java(),
            Serve(
                f"sqlite://{folder}/store.db",
                folder,
                *(*doors, "--token-file", tokens, "--results", folder / "results", "--trash", folder / "trash"),
                environment=environment,
            ) as server,
        ):
            yield server
    finally:
        os.umask(before)


@pytest.fixture(scope="module")
def said(server):
    """All that the server said to users of each statement."""
    answers = []
    with hbstore.client.connect(server.ready["http"], token=TOKEN) as ann:
        for text in STATEMENTS:
            query = ann.query(text)
            try:
                answers.append(str(query.wait().rows()))
            except HbstoreError as error:
                answers.append(repr(error))
            answers.append(str(query.refresh().to_dict()))
        answers += [str(ann.queries()), repr(ann)]
        ann.query("DROP TABLE sales").wait()
    with urllib.request.urlopen(server.ready["metrics"]) as page:  # noqa: S310  our own
        answers.append(page.read().decode())
    return "\n".join(answers)


@pytest.mark.usefixtures("said")
def test_what_is_written_is_the_users_alone(folder):
    written = [path for path in folder.rglob("*") if path.name not in ("options.toml", "tmp")]
    names = {path.name for path in written}
    assert names > {"store.db", "store.db-wal", "serve.log", "results", "warehouse", "trash"}
    assert any(name.endswith(".parquet") for name in names)
    assert any(name.startswith("hbstore-spark-") for name in names)
    assert [str(path) for path in written if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize("secret", [TOKEN, SECRET])
def test_secrets_are_told_to_nobody(server, folder, said, secret):
    assert "nowhere" in said
    assert secret not in said
    arguments = [text_of(pid, "cmdline") for pid in tree(server.pid)]
    assert any("java" in words and "-Xmx777m" in words for words in arguments)
    assert [words for words in arguments if secret in words] == []
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in ("options.toml", "tokens")]
    assert [path for path in files if secret.encode() in path.read_bytes()] == []
    assert Path(server.log_file).stat().st_size > 0
