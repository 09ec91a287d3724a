"""A store in a file, and ways to run commands on it: in this process and in processes of their own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer.testing
from typer.testing import CliRunner

import hbstore
from hbstore.cli import app
from hbstore.cubes import Cubes, PartitionDesc, read_documents
from tests.metastore.spark.process import SparkProcess, tell
from tests.pauses import SECONDS
from tests.spark.settings import SMALL

ROOT = Path(__file__).parents[2]
ALONE = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""Settings of a Spark that nobody else talks to."""
SPARK_SECONDS = 300
"""However busy the machine is."""
MODEL = """
kind: storage
name: s1
---
kind: cube
name: sales_cube
measures: [{name: price, type: double, default_aggregate: sum}]
dim_attributes: [{name: order_time, type: timestamp}]
time_dimensions: {order_time: dt}
---
kind: fact
name: sales
cube: sales_cube
columns: [{name: price, type: double}]
storage_tables:
  - storage: s1
    update_periods: [HOURLY, DAILY]
    partition_columns: [{name: dt, type: string}]
    time_partition_columns: [dt]
"""


@pytest.fixture(autouse=True)
def umask():
    """As before: `serve` takes its rights from other users, and here runs in the tests' own process."""
    before = os.umask(0o022)
    os.umask(before)
    yield
    os.umask(before)


@pytest.fixture(scope="package", autouse=True)
def _commands_made_once():
    """Typer makes all commands anew for each run in this process, which takes longer than most runs."""
    made = cache(typer.main.get_command)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", made)
        patch.setattr(typer.testing, "_get_command", made)
        yield


@pytest.fixture(autouse=True)
def _own_surroundings(tmp_path, monkeypatch):
    """No test uses the user's own store."""
    for name in ("HBSTORE_URL", "HBSTORE_DATABASE", "HBSTORE_DEBUG", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home" / ".config"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "catalog.db"


@pytest.fixture
def url(path):
    return f"sqlite://{path}"


@pytest.fixture
def run(url):
    """Runs a command in this process: ``run("count", "shop.sales").stdout``."""

    def invoke(*arguments, code=0, input=None, store=url, env=None):
        given = [] if store is None else ["--store", store]
        result = CliRunner().invoke(app, [*given, *arguments], input=input, env=env, catch_exceptions=False)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result

    return invoke


@pytest.fixture
def run_json(run):
    """Runs a command with --json: the document that is all of its stdout."""

    def invoke(*arguments, **keywords):
        return json.loads(run(*arguments, "--json", **keywords).stdout)

    return invoke


@pytest.fixture
def spawn(url):
    """Runs a command in a process of its own."""

    def start(*arguments, timeout=SECONDS, **keywords):
        command = [sys.executable, "-m", "hbstore", *arguments]
        environment = {**os.environ, "HBSTORE_URL": url, **keywords.pop("env", {})}
        return subprocess.run(command, env=environment, capture_output=True, check=False, timeout=timeout, **keywords)

    return start


@pytest.fixture(scope="package")
def spark_process(tmp_path_factory):
    with closing(SparkProcess(tmp_path_factory.mktemp("spark"))) as process:
        yield process


@pytest.fixture
def spawn_with_spark(spawn, spark_process, url):
    """Runs a command that starts a Spark on two cores and stops it, in another process.

    All of them share one, and its Java; with more environment, by name, a command has its own.
    """
    conf = [word for name, value in {**ALONE, **SMALL}.items() for word in ("--conf", f"{name}={value}")]
    submit = {"PYSPARK_SUBMIT_ARGS": shlex.join(["--master", "local[2]", *conf, "pyspark-shell"])}

    def start(*arguments, cwd=None, **environment):
        if environment:
            return spawn(*arguments, cwd=cwd, env={**submit, **environment}, text=True, timeout=SPARK_SECONDS)
        (outcome,) = spark_process.run(run_command, json.dumps({"HBSTORE_URL": url, **submit}), cwd or ROOT, *arguments)
        return SimpleNamespace(**outcome)

    return start


def run_command(environment, folder, *arguments):
    """In the process for Spark: run a command, and tell its exit code and what it printed."""
    os.environ.update(json.loads(environment))
    os.chdir(folder)
    done = CliRunner().invoke(app, arguments)
    tell({"returncode": done.exit_code, "stdout": done.stdout, "stderr": done.stderr})


@pytest.fixture
def shop(url):
    """shop.sales with the 48 hours of two days, and an empty shop.returns."""
    column = hbstore.Column
    with hbstore.connect(url) as store:
        store.create_database(hbstore.Database("shop", description="All shops", location="s3://shop"))
        store.create_table(
            hbstore.Table(
                "shop",
                "sales",
                partition_columns=[column("ds", "date"), column("hour", "int")],
                columns=[column("amount", "double")],
                location="s3://shop/sales",
                parameters={"team": "web"},
            )
        )
        store.create_table(hbstore.Table("shop", "returns", partition_columns=[column("region", "string")]))
        store.add_partitions(
            "shop",
            "sales",
            [hbstore.Partition((f"2013-01-0{day}", str(hour))) for day in (1, 2) for hour in range(24)],
        )
    return url


@pytest.fixture
def make_logs(shop, tmp_path):
    """Creates shop.logs by ds and hour with one hour of some days; gives its folder, which is not there yet."""

    def make(days, hour, **table):
        root = tmp_path / "logs"
        columns = [hbstore.Column("ds", "date"), hbstore.Column("hour", "int")]
        with hbstore.connect(shop) as store:
            store.create_table(hbstore.Table("shop", "logs", columns, location=f"file:{root}", **table))
            store.add_partitions("shop", "logs", [hbstore.Partition((f"2013-01-0{day}", hour)) for day in days])
        return root

    return make


@pytest.fixture
def open_shop(shop):
    """The same store in Python."""
    with hbstore.connect(shop) as store:
        yield store


@pytest.fixture
def model_file(tmp_path):
    """A file with a storage, a cube and a fact."""
    file = tmp_path / "model.yaml"
    file.write_text(MODEL)
    return str(file)


@pytest.fixture
def model(shop, model_file):
    """The fact shop.sales on the storage s1: from 2015-01-29-06 hours, from 2015-01-30 to 02-01 days."""
    with hbstore.connect(shop) as store:
        cubes = Cubes(store, "shop")
        cubes.create_all(read_documents(model_file))
        hours = [PartitionDesc("HOURLY", {"dt": f"2015-01-29-{hour:02}"}) for hour in range(6, 24)]
        days = [PartitionDesc("DAILY", {"dt": day}) for day in ("2015-01-30", "2015-01-31", "2015-02-01")]
        cubes.add_partitions("sales", "s1", [*hours, *days])
    return shop


@pytest.fixture
def cubes(model):
    """The same model in Python."""
    with hbstore.connect(model) as store:
        yield Cubes(store, "shop")
