"""The programs of docs/java.md compile and run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from tests.hiveserver2.clients.jdbc import jdbc_jars
from tests.quick_java import OPTIONS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

PAGE = Path(__file__).parents[3] / "docs" / "java.md"
SECONDS = 120


def programs():
    """The sources, by the names of their classes."""
    sources = re.findall(r"```java\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    return {re.search(r"public class (\w+)", source)[1]: source for source in sources}


def run(name, path, folder, *words):
    """What a program says."""
    source = folder / f"{name}.java"
    source.write_text(programs()[name], encoding="utf-8")
    subprocess.run(["javac", "-d", str(folder), "-cp", path, str(source)], check=True, timeout=SECONDS)
    command = ["java", *OPTIONS.split(), "-cp", f"{path}{os.pathsep}{folder}", name, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_program_asks_a_table_and_a_cube_and_cancels(place, tmp_path):
    path = os.pathsep.join(jdbc_jars().class_path("4.0"))
    lines = run("AskSales", path, tmp_path, f"{place.url}/shop")
    assert lines[:4] == ["2015-01-01: 1.50", "2015-01-02: 3.50", "a: 1 minutes", "b: 2 minutes"]
    log = [line for line in lines if line.startswith("> ")]
    assert log[0].startswith("> query ")
    assert "tasks" in log[-1]
    (error,) = (line for line in lines[4:] if not line.startswith("> "))
    assert error.startswith("01000: ")


def test_a_program_asks_for_partitions(place, tmp_path):
    path = f"{jdbc_jars().spark_jars()}/*"
    lines = [line for line in run("ListSales", path, tmp_path, place.serve.ready["uri"]) if "WARN" not in line]
    assert lines == ["[empty, lake_rides_daily, sales, seen]", "[2015-01-02]: 2 columns", "1"]


def test_the_python_of_the_page_runs(place, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names = {}
    exec(code.replace("10000", str(place.port)), names)  # noqa: S102
    names["cursor"].close()
    names["engine"].dispose()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "[(1, Decimal('1.50')), (2, None)]"
    assert "'sales'" in printed[1]
    assert printed[2] == "[(3,)]"
