"""What queries run on, as it is installed: Java by the files of its home, without starting it."""

from __future__ import annotations

import sys

import pytest

from hbstore.errors import MissingPackage
from hbstore.installed import check_spark, java_program, java_version, spark_version
from hbstore.query_service import engine


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A folder with a program `java`, of which JAVA_HOME is."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "java"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    return tmp_path


def test_the_java_of_java_home(home):
    (home / "release").write_text('IMPLEMENTOR="Debian"\nJAVA_VERSION="17.0.15"\nOS_ARCH="x86_64"\n')
    assert java_program() == home / "bin" / "java"
    assert java_version() == "17.0.15"


@pytest.mark.parametrize("release", [None, "", "JAVA_VERSION=17\n"])
def test_a_java_that_does_not_say_its_version(home, release):
    if release is not None:
        (home / "release").write_text(release)
    assert java_program() is not None
    assert java_version() is None


def test_the_java_of_path_is_followed_to_its_home(home, tmp_path_factory, monkeypatch):
    (home / "release").write_text('JAVA_VERSION="21.0.1"\n')
    elsewhere = tmp_path_factory.mktemp("bin")
    (elsewhere / "java").symlink_to(home / "bin" / "java")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(elsewhere))
    assert java_version() == "21.0.1"


def test_no_java(monkeypatch, tmp_path):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (java_program(), java_version()) == (None, None)


def test_the_installed_pyspark():
    import pyspark

    assert spark_version() == pyspark.__version__


def test_a_server_without_pyspark_says_that_it_is_the_servers(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark", None)
    said = str(engine._missing())
    assert "a package that the server's Spark needs is not installed: missing=pyspark" in said
    assert "[service]" in said


@pytest.mark.parametrize(
    ("version", "said"),
    [
        (None, None),
        ("17.0.15", None),
        ("21", None),
        ("11.0.2", "the Java that is installed is too old for Spark: installed=11.0.2, needed=17 or later."),
        ("1.8.0_402", "the Java that is installed is too old for Spark: installed=1.8.0_402, needed=17 or later."),
    ],
)
def test_which_java_is_new_enough(home, version, said):
    if version is not None:
        (home / "release").write_text(f'JAVA_VERSION="{version}"\n')
    if said is None:
        check_spark("Spark")
    else:
        with pytest.raises(MissingPackage) as caught:
            check_spark("Spark")
        assert str(caught.value).startswith(said)
