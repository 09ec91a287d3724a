"""Extras: in an environment that has nothing but the packages of an extra, its features work, and others name theirs.

A bare environment has the wheel, and links to the packages that pip would install with it for the extra, as the
metadata of what is installed here says.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import venv
from contextlib import contextmanager
from importlib import metadata

import pytest
import urllib3
from packaging.requirements import Requirement

from hbstore.extras import MODULES, PYSPARK, check_extra, extra_of
from hbstore.release import VERSION, commit
from tests.processes import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = {"none": (), **{name: PROJECT["optional-dependencies"][name] for name in MODULES if name != "airflow"}}
"""Airflow has an environment of its own: tests/airflow."""

ROOMS = {
    "web": ("console", "query_service", "web"),
    "spark": ("spark",),
    "service": ("console", "hiveserver2", "query_service", "spark", "web"),
}
"""The rooms whose modules an extra is for; all others need none."""

OF_SPARK = (
    "hbstore.query_service.cube_hints",
    "hbstore.query_service.pulse",
    "hbstore.query_service.result_writing",
    "hbstore.query_service.small_results",
    "hbstore.query_service.spark_",
    "hbstore.query_service.statement",
    "hbstore.query_service.tracking",
)
"""What runs in Spark's process."""

ELSEWHERE = ("hbstore.__main__", "hbstore.airflow", "hbstore.servers.http", "hbstore.servers.http_bounds")


def normal(name):
    """A distribution's name as package indexes write it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(requirements):
    """The distributions that pip would install."""
    found, left = {}, [(Requirement(one), "") for one in requirements]
    while left:
        requirement, extra = left.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = normal(requirement.name)
        wanted = {"", *requirement.extras} - found.get(name, set())
        if wanted:
            found.setdefault(name, set()).update(wanted)
            inner = metadata.requires(name) or ()
            left += [(Requirement(one), extra) for one in inner for extra in wanted]
    return found


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory):
    """The Python of an environment that has the wheel and an extra's packages."""
    pythons = {}

    def make(extra):
        if extra not in pythons:
            folder = tmp_path_factory.mktemp(extra)
            venv.create(folder, symlinks=True)
            packages = next(folder.glob("lib/*/site-packages"))
            install = ["--quiet", "--no-deps", "--no-compile", "--target", str(packages), str(wheel)]
            subprocess.run([sys.executable, "-m", "pip", "install", *install], check=True)
            for name in closure([*PROJECT["dependencies"], *EXTRAS[extra]]):
                distribution = metadata.distribution(name)
                for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
                    if not (packages / top).exists():
                        (packages / top).symlink_to(distribution.locate_file(top))
            pythons[extra] = folder / "bin" / "python"
        return pythons[extra]

    return make


@pytest.fixture
def run(bare, tmp_path):
    """Runs Python, or a command of hbstore, where nothing but an extra is installed."""

    def start(extra, *words, program=None, call=subprocess.run, **environment):
        begin = ["-m", "hbstore"] if program is None else ["-c", program]
        outer = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return call(
            [bare(extra), *begin, *words],
            cwd=tmp_path,
            text=True,
            env=outer | environment,
            stdout=subprocess.PIPE,
            stderr=None if call is subprocess.Popen else subprocess.PIPE,
        )

    return start


def modules(*rooms):
    names = []
    for path in sorted((ROOT / "hbstore").rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if rooms and parts[1] in rooms:
            names.append(name)
        if not rooms and parts[1] not in {*ROOMS["service"]} and name not in ELSEWHERE:
            names.append(name)
    return names


@pytest.mark.parametrize("extra", ["none", "web", "spark", "service"])
def test_each_module_can_be_imported_where_its_extra_is_installed(run, extra):
    names = modules() if extra == "none" else modules(*ROOMS[extra])
    if extra == "web":
        names = [name for name in names if not name.startswith(OF_SPARK)]
    program = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    done = run(extra, *names, program=program)
    assert not done.stderr


def test_what_the_code_imports_is_declared():
    """Each package that a module of hbstore names is one of pyproject.toml's, not only what another one brings."""
    declared = {
        normal(Requirement(one).name)
        for one in [*PROJECT["dependencies"], *(line for extra in EXTRAS.values() for line in extra)]
    } | {"apache-airflow-core"}
    packages = {**metadata.packages_distributions(), "airflow": ["apache-airflow-core"]}
    named = {}
    for path in (ROOT / "hbstore").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            of = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            of = [alias.name for alias in node.names] if isinstance(node, ast.Import) else of
            for name in {one.split(".")[0] for one in of} - {"hbstore"} - sys.stdlib_module_names:
                named.setdefault(name, path.relative_to(ROOT))
    lacking = {
        name: str(path) for name, path in named.items() if not {normal(one) for one in packages[name]} & declared
    }
    assert not lacking


def test_an_extra_brings_the_modules_that_its_hints_speak_of():
    packages = metadata.packages_distributions()
    for extra, names in MODULES.items():
        if extra == "airflow":
            continue
        brought = {normal(Requirement(one).name) for one in EXTRAS[extra]}
        assert {normal(packages[name][0]) for name in names} <= brought, extra
        check_extra(extra, "a test")
    assert (extra_of("uvicorn"), extra_of("pyspark.sql"), extra_of("pyarrow")) == ("web", "spark", "client")


def lacks(done, wheel, extra):
    """Whether a command told in two lines what is missing, with the command that installs it."""
    packages = ", ".join(MODULES[extra])
    hint = "Hint: pip install '(.*?)'(?:; .*)?\n"
    told = re.fullmatch(rf"Error: .* is not installed: missing={packages}\n{hint}", done.stderr)
    return done.returncode == 2 and told is not None and told[1] == f"{wheel}[{extra}]"


def test_commands_say_which_extra_is_missing(run, wheel):
    store = ("--store", "catalog.db")

    def do(*words, **options):
        return run("none", *store, *words, **options)

    assert do("init", "--database", "shop").returncode == 0
    assert do("create-table", "shop.sales", "--partition", "ds date", "--location", "sales").returncode == 0
    assert do("add-partition", "shop.sales", "ds=2013-01-01").returncode == 0
    assert do("partitions", "shop.sales", "--filter", "ds > '2012-01-01'").stdout == "ds=2013-01-01\n"
    assert lacks(do("serve", "--http-port", "0"), wheel, "web")
    assert lacks(do("serve", "--sql-port", "0"), wheel, "service")
    assert lacks(do("timeline", "rebuild", "shop.sales", "--spark"), wheel, "spark")


@pytest.mark.parametrize("words", ["import hbstore.spark", "import hbstore.airflow"])
def test_imports_say_which_extra_is_missing(run, words):
    done = run(
        "none",
        program=f"try:\n {words}\nexcept ImportError as error: print(type(error).__name__, error)",
    )
    extra = words.rpartition(".")[2]
    assert done.stdout.startswith(f"MissingPackage a package that hbstore.{extra} needs is not installed: missing=")
    assert f"[{extra}]" in done.stdout


@pytest.mark.parametrize("form", ["folder", "zip"])
def test_an_old_pyspark_is_named_before_it_is_imported(run, tmp_path, form):
    """A Spark on the PYTHONPATH, of which pip knows nothing: its folder, or what YARN gives a job."""
    old = tmp_path / "old"
    (old / "pyspark").mkdir(parents=True)
    (old / "pyspark" / "__init__.py").write_text("raise AssertionError")
    (old / "pyspark" / "version.py").write_text('__version__: str = "3.5.9"\n')
    place = old if form == "folder" else shutil.make_archive(str(old), "zip", old)
    program = "try:\n import hbstore.spark\nexcept ImportError as error: print(type(error).__name__, error)"
    done = run("client", program=program, PYTHONPATH=str(place))
    assert done.stdout == (
        "MissingPackage the PySpark that is installed is too old for hbstore.spark: installed=3.5.9,"
        " needed=4.0 or later. pip install 'pyspark>=4.0'; a cluster that runs the jobs has to have that version, too\n"
    )


def test_the_oldest_pyspark_is_the_one_that_pip_installs():
    assert f"pyspark>={'.'.join(map(str, PYSPARK))}" in EXTRAS["spark"]


@contextmanager
def served(run, extra, *options, **environment):
    command = ("--store", "catalog.db", "serve", "--port", "0", "--json", *options)
    process = run(extra, *command, call=subprocess.Popen, **environment)
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()


def test_the_metastore_is_served_where_nothing_more_is_installed(run):
    with served(run, "none") as doors:
        assert doors["uri"].startswith("thrift://127.0.0.1:")


def test_the_console_is_shown_without_pyspark_and_without_java(run):
    options = ("--http-port", "0")
    with served(run, "web", *options, PATH="/nowhere", JAVA_HOME="") as doors:
        health = urllib3.request("GET", doors["http"] + "/health").json()
        assert health == {"ok": True, "spark": False, "version": VERSION, "commit": commit()}
        page = urllib3.request("GET", doors["http"] + "/", headers={"accept": "text/html"})
        assert page.status == 200
        assert "<html" in page.data.decode()
        query = urllib3.request("POST", doors["http"] + "/queries", json={"text": "SELECT 1"}).json()
        ended = urllib3.request("GET", f"{doors['http']}/queries/{query['id']}?wait=60").json()
        assert (ended["state"], ended["problem"]["error"]) == ("failed", "MissingPackage")
        assert "[service]" in ended["problem"]["hint"]


def test_all_doors_open_where_all_is_installed(run):
    ports = ("--http-port", "0", "--sql-port", "0", "--metrics-port", "0")
    with served(run, "service", *ports) as doors:
        for name in ("uri", "http", "sql", "metrics"):
            parts = urllib3.util.parse_url(doors[name].removeprefix("jdbc:"))
            socket.create_connection((parts.host, parts.port)).close()
