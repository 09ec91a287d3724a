"""What is installed: the wheel, the locks, the commands of the Makefile."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.build import build_sdist, build_wheel
from packaging.requirements import Requirement

from hbstore.release import VERSION, commit

ROOT = Path(__file__).parents[1]
LOCKS = (ROOT / "requirements-build.lock", ROOT / "requirements-dev.lock")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
USE = """
import sys
from pathlib import Path
import hbstore

assert Path(hbstore.__file__).is_relative_to(sys.argv[1]), hbstore.__file__
assert str(hbstore.parse_filter("ds >= '2013-01-01' and hour in (5, 6)"))
with hbstore.connect("sqlite://catalog.db") as store:
    store.create_database("shop")
    columns = [hbstore.Column("ds", "date"), hbstore.Column("hour", "int")]
    store.create_table(hbstore.Table("shop", "sales", partition_columns=columns))
    store.add_partitions("shop", "sales", [hbstore.Partition(("2013-01-01", str(hour))) for hour in range(24)])
    print(*store.partition_names("shop", "sales", "hour in (5, 6)"))
"""


def test_the_wheel_holds_the_package_the_grammars_and_the_idl(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {str(path.relative_to(ROOT)) for path in (ROOT / "hbstore").rglob("*.py")}
    grammars = {f"hbstore/grammar/{path.name}" for path in (ROOT / "grammar").glob("*.lark")}
    assert grammars
    assert {"hbstore/py.typed", "hbstore/hive_metastore.thrift"} | tracked | grammars <= names
    assert {name.split("/")[0] for name in names} <= {"hbstore", f"hbstore-{PROJECT['project']['version']}.dist-info"}


def test_the_wheel_and_the_source_archive_hold_the_licence(wheel, tmp_path, monkeypatch):
    licence = (ROOT / "LICENSE").read_bytes()
    assert f"Version {PROJECT['project']['license'].split('-')[1]}".encode() in licence
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith("/LICENSE")]
        assert archive.read(name) == licence
        (about,) = [name for name in archive.namelist() if name.endswith("/METADATA")]
        assert b"\nLicense-File: LICENSE\n" in archive.read(about)
    monkeypatch.chdir(ROOT)
    name = build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        assert archive.extractfile(f"{name.removesuffix('.tar.gz')}/LICENSE").read() == licence


def test_packages_are_the_same_each_time_and_say_their_commit(wheel, tmp_path):
    """A wheel is the same in each build, in any folder, and when it is built from the source archive."""
    archive = Path(shutil.copy(tmp_path / build_in(ROOT, build_sdist, tmp_path), tmp_path / "first.tar.gz"))
    again = tmp_path / build_in(ROOT, build_sdist, tmp_path)
    assert archive.read_bytes() == again.read_bytes()
    with tarfile.open(again) as opened:
        opened.extractall(tmp_path, filter="data")
    inner = tmp_path / again.name.removesuffix(".tar.gz")
    built = tmp_path / build_in(inner, build_wheel, tmp_path)
    assert built.read_bytes() == wheel.read_bytes()
    assert zipfile.ZipFile(wheel).read("hbstore/commit.txt").decode() == f"{commit() or ''}\n"


def build_in(folder, build, into):
    """Build as pip does, in a process of its own; the file's name."""
    program = f"from hatchling.build import {build.__name__} as build; print(build({str(into)!r}))"
    return subprocess.check_output([sys.executable, "-c", program], cwd=folder, text=True).split()[-1]


def test_an_installed_wheel_works_outside_of_the_checkout(wheel, tmp_path):
    target, elsewhere = tmp_path / "installed", tmp_path / "elsewhere"
    elsewhere.mkdir()
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(target), str(wheel)]
    subprocess.run(install, check=True)
    environment = {**os.environ, "PYTHONPATH": str(target)}
    command = [sys.executable, "-c", USE, str(target)]
    done = subprocess.run(command, cwd=elsewhere, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == ["ds=2013-01-01/hour=5", "ds=2013-01-01/hour=6"]


def name_of(requirement):
    """A requirement's name as package indexes write it."""
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", requirement)[0]).lower()


def pinned(lock):
    """Package and version of each pin."""
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+) \\$", lock.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_host_and_hashes_all(lock):
    text = lock.read_text()
    assert not re.search(r"://|@|--(extra-)?index-url|--find-links|--trusted-host|file:/", text)
    assert "pypi" not in text.lower()
    entries = re.split(r"^(?=[a-z0-9])", re.sub(r"^ *#.*\n", "", text, flags=re.MULTILINE), flags=re.MULTILINE)[1:]
    assert len(entries) == len(pinned(lock))
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_locks_cover_every_dependency():
    project = PROJECT["project"]
    extras = {name: extra for name, extra in project["optional-dependencies"].items() if name != "airflow"}
    wanted = [*project["dependencies"], *(one for extra in extras.values() for one in extra)]
    airflow = (ROOT / "tests" / "airflow" / "requirements.txt").read_text()  # it conflicts with others
    assert {name_of(one) for one in project["optional-dependencies"]["airflow"]} <= {
        name_of(line) for line in airflow.splitlines() if "==" in line
    }
    assert {name_of(one) for one in wanted} <= pinned(LOCKS[1]).keys()
    assert {name_of(one) for one in PROJECT["build-system"]["requires"]} <= pinned(LOCKS[0]).keys()


OPEN_TO_STRANGERS = {
    "fastapi": "0.120.0",  # the last that wants a Starlette of the next line
    "h11": "0.14.0",  # takes what is no chunk for one (CVE-2025-43859)
    "jinja2": "3.1.5",  # lets templates out of their sandbox (CVE-2025-27516)
    "starlette": "0.49.0",  # takes quadratic time for a header Range (CVE-2025-62727)
    "urllib3": "2.6.2",  # unpacks replies without a bound (CVE-2025-66418, CVE-2025-66471, CVE-2026-21441)
}
"""Packages that read what others send, and a release that they must be later than."""


def test_no_release_with_a_hole_that_the_world_knows_is_admitted():
    project = PROJECT["project"]
    named = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    requirements = [Requirement(one) for one in named if name_of(one) in OPEN_TO_STRANGERS]
    assert {one.name for one in requirements} == OPEN_TO_STRANGERS.keys()
    assert [str(one) for one in requirements if one.specifier.contains(OPEN_TO_STRANGERS[one.name])] == []


def test_the_version_is_the_same_everywhere():
    assert PROJECT["project"]["version"] == VERSION


def test_the_locks_agree():
    build, dev = map(pinned, LOCKS)
    assert {name: build[name] for name in build.keys() & dev.keys()} == {
        name: dev[name] for name in build.keys() & dev.keys()
    }


def test_make_lists_every_target():
    text = (ROOT / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.*)$", text, re.MULTILINE)[1].split())
    targets = set(re.findall(r"^([a-z-]+):(?!=)", text, re.MULTILINE))
    listed = subprocess.run(["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [re.match(r"make ([a-z-]+) +\S", line) for line in listed.stdout.splitlines()]
    assert {line[1] for line in lines} == targets == phony


@pytest.mark.parametrize("script", ["dev/setup/tools.sh", "dev/setup/venv.sh", "dev/setup/lock.sh", ".ci/run"])
def test_scripts_can_be_run_and_parsed(script):
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def test_missing_tools_are_named_with_how_to_get_them(tmp_path):
    for tool in ("bash", "sed", "head", "env", "dirname"):
        (tmp_path / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    command = ["bash", "dev/setup/tools.sh", "git", "python", "java", "mvn"]
    environment = {"PATH": str(tmp_path)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    missing = [line for line in done.stderr.splitlines() if line.startswith("missing")]
    assert [line.split()[1] for line in missing] == ["git", "Python", "a", "Maven"]
    assert done.stderr.count("apt-get install") == done.stderr.count("brew install") == len(missing)


@pytest.mark.parametrize("may", [True, False])
def test_tools_are_installed_where_that_is_allowed(tmp_path, may):
    for tool in ("bash", "sed", "head", "env", "chmod", "mkdir"):
        (tmp_path / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    scripts = {
        "apt-get": f"#!/bin/bash\necho $DEBIAN_FRONTEND $@ >>{tmp_path}/calls\n"
        f"[[ $1 == update ]] || {{ echo >{tmp_path}/mvn; chmod +x {tmp_path}/mvn; }}\n",
        "sudo": '#!/bin/bash\n[[ $1 == -n ]] || exit 2\nshift\n[[ $1 == true ]] || exec "$@"\n',
    }
    for name, text in scripts.items():
        if may:
            (tmp_path / name).write_text(text)
            (tmp_path / name).chmod(0o755)
    command = ["bash", "dev/setup/tools.sh", "--install", "sed", "mvn"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    if may:
        assert (done.returncode, done.stderr) == (0, "installing with apt-get: maven\n")
        calls = (tmp_path / "calls").read_text().splitlines()
        assert calls == ["update -qq", "noninteractive install -y -qq --no-install-recommends maven"]
    else:
        assert done.returncode == 1
        assert done.stderr.startswith("missing: Maven (mvn)\n    Debian, Ubuntu: sudo apt-get install maven\n")


@pytest.mark.parametrize("version", ["3.10", "3.15"])
def test_a_python_that_is_not_supported_is_named(tmp_path, version):
    for tool in ("bash", "env"):
        (tmp_path / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    python = tmp_path / "python3"
    number = version.replace(".", ", ")
    python.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c \"import sys; sys.version_info = ({number}, 0, 'final', 0); $2\"\n"
    )
    python.chmod(0o755)
    command = ["bash", "dev/setup/tools.sh", "python"]
    done = subprocess.run(command, cwd=ROOT, env={"PATH": str(tmp_path)}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"missing: Python 3.11 to 3.14 (python3 is version {version})\n")


def test_the_pythons_are_the_same_everywhere():
    project = PROJECT["project"]
    prefix = "Programming Language :: Python :: 3."
    minors = [int(one.removeprefix(prefix)) for one in project["classifiers"] if one.startswith(prefix)]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert project["requires-python"] == f">=3.{minors[0]}"
    assert f"Python 3.{minors[0]} to 3.{minors[-1]}" in (ROOT / "README.md").read_text()
    assert (
        f"(3, {minors[0]}) <= sys.version_info[:2] <= (3, {minors[-1]})" in (ROOT / "dev/setup/python.sh").read_text()
    )


def test_an_old_java_is_named(tmp_path):
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\" 2024-01-16' >&2\n")
    java.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["bash", "dev/setup/tools.sh", "java"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{java} is version 11" in done.stderr
