"""The sensor in the real Airflow: in a virtual environment of its own, as its packages get into others' way."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import venv
from contextlib import ExitStack
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.files.warehouse import Warehouse
from hbstore.query_service.access import Access
from hbstore.warehouse.service import Service
from hbstore.web.app import application
from hbstore.web.serving import http_served
from tests.processes import locked
from tests.query_service.test_service import serving
from tests.web.cubes import days, modelled

HERE, ROOT = Path(__file__).parent, Path(__file__).parents[2]
PINS = HERE / "requirements.txt"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hbstore" / "airflow"
"""Its installation takes minutes: all checkouts of a user share one for the same pins and Python, and it stays."""
INSTALL_SECONDS, RUN_SECONDS = 1_800, 1_200
WAITING = ("trigger", "poke", "reschedule", "deferred")
"""Cases that end when the last day is registered."""
RESTARTED = ("trigger", "restarted", "restarted_deferred")
"""Cases that begin while the server is away, which is started again when they say so."""
MOVING = ("moving", "moving_on")
"""Cases whose range ends now, which say what they ask at each poke, and end with their timeout."""
OTHERS = ("over", "template", "connection", "unknown", *MOVING, *RESTARTED[1:])
AWAY = "The sensor asks again until its timeout"
pytestmark = [
    pytest.mark.timeout(INSTALL_SECONDS + RUN_SECONDS),
    pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="its packages are pinned for Python 3.11"),
]


@pytest.fixture(scope="session")
def airflow(tmp_path_factory):
    """A Python that has Airflow, and an environment with an empty database of its own."""
    key = PINS.read_bytes() + f"{sys.version} {sys.base_prefix}".encode()
    folder = CACHE / hashlib.blake2b(key, digest_size=8).hexdigest()
    python = folder / "bin" / "python"
    installed = folder / "installed"
    CACHE.mkdir(parents=True, exist_ok=True)
    with locked(CACHE / f"{folder.name}.lock"):
        if not installed.exists():
            venv.create(folder, clear=True)
            options = ["--quiet", "--no-deps", "--no-compile", "--requirement", PINS]
            pip = [sys.executable, "-m", "pip", "--python", python]
            subprocess.run([*pip, "install", *options], check=True, timeout=INSTALL_SECONDS)
            installed.touch()
    home = tmp_path_factory.mktemp("airflow")
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")},
        "PYTHONPATH": str(ROOT),
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(HERE / "dags"),
        "NO_PROXY": "*",
    }
    migrate = [python, "-m", "airflow", "db", "migrate"]
    subprocess.run(migrate, env=environment, check=True, capture_output=True, timeout=RUN_SECONDS)
    return python, environment


@pytest.fixture(scope="session")
def answers(airflow, tmp_path_factory):
    """What came of each case of dags/covers.py, and all that Airflow said; the last day is registered meanwhile."""
    folder = tmp_path_factory.mktemp("served")
    with ExitStack() as stack:
        store = stack.enter_context(connect(f"sqlite://{folder}/store.db"))
        service, _ = stack.enter_context(serving(store, folder))
        store.create_database("shop")
        cubes = modelled(store)
        catalog = Service(store, Warehouse(str(folder / "warehouse"), also_under=()))
        doors = stack.enter_context(Doors(application(service, Access(), catalog=catalog)))
        return _run(airflow, doors, cubes)


class Doors:
    """A server that can be ended, and started again at the same port."""

    def __init__(self, app):
        self.port, self.is_open, self._app, self._stack = 0, False, app, ExitStack()

    def open(self):
        self.is_open = True
        self.port = self._stack.enter_context(http_served(self._app, "127.0.0.1", self.port))

    def close(self):
        self.is_open = False
        self._stack.close()

    def __enter__(self):
        self.open()
        return self

    def __exit__(self, *_):
        self.close()


def _run(airflow, doors, cubes):
    python, environment = airflow
    environment = {**environment, "AIRFLOW_CONN_HBSTORE": f"hbstore://:secret@127.0.0.1:{doors.port}/http"}
    environment["HBSTORE_SERVER"] = f"http://127.0.0.1:{doors.port}"
    words = [python, HERE / "dags" / "covers.py"]
    last_day, said, found = days("2015-01-31"), [], {}
    with subprocess.Popen(
        words,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        bufsize=1,
        cwd=HERE,
    ) as process:
        for line in process.stdout:
            said.append(line)
            word, _, rest = line.strip().partition(" ")
            if word == "waiting":
                if rest in RESTARTED:
                    doors.close()
                process.stdin.write("\n")
                if rest in WAITING:
                    cubes.add_partitions("rides_daily", "archive", last_day)
            elif AWAY in line and not doors.is_open:
                doors.open()
            elif word in (*WAITING, *OTHERS):
                found[word] = json.loads(rest)
                if word in WAITING:
                    cubes.drop_partitions("rides_daily", "archive", last_day)
        assert process.wait(RUN_SECONDS) == 0, "".join(said)
    return found, "".join(said)


@pytest.mark.parametrize("case", WAITING)
def test_it_waits_for_a_partition(answers, case):
    found, said = answers
    assert found[case] == ([{"complete": True}] if case == "trigger" else "success"), said


@pytest.mark.parametrize("case", ["template", "connection"])
def test_it_is_told_by_templates_and_connections(answers, case):
    found, said = answers
    assert found[case] == "success", said


@pytest.mark.parametrize("case", RESTARTED)
def test_it_waits_for_a_server_that_is_started_again(answers, case):
    found, said = answers
    assert found[case] in ("success", [{"complete": True}]), said
    assert "Connection refused" in said


@pytest.mark.parametrize("case", MOVING)
def test_it_asks_for_one_range_at_each_poke(answers, case):
    found, said = answers
    assert found[case] == "failed", said
    asked = re.findall(rf"asked covers_{case} (.*)", said)
    assert len(asked) > 1, said
    assert len(set(asked)) == 1


@pytest.mark.parametrize(("case", "why"), [("over", "AirflowSensorTimeout"), ("unknown", "ModelNotFound")])
def test_it_fails_when_its_time_is_over_or_there_is_no_such_fact(answers, case, why):
    found, said = answers
    assert found[case] == "failed"
    assert why in said
