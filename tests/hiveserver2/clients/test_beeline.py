"""beeline 2.3.10 as a process: tables, errors of one line, files of statements, exit codes, progress."""

from __future__ import annotations

import subprocess

import pytest

from tests.hiveserver2.clients.conftest import CUBE_QUERY
from tests.hiveserver2.clients.jdbc import TRANSPORTS, jdbc_jars
from tests.quick_java import OPTIONS

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS = 120


def beeline(place, *words, transport="http", database="shop"):
    """A run of beeline, which says tables on stdout and all else on stderr. Each transport has some of the tests."""
    path = ":".join(jdbc_jars().beeline_class_path())
    url = f"{place.url}/{database}{TRANSPORTS[transport]}"
    command = ["java", *OPTIONS.split(), "-cp", path, "org.apache.hive.beeline.BeeLine", "-u", url, "-n", "ann"]
    return subprocess.run(
        [*command, "--color=false", *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )


def test_statements_of_the_command_line(place):
    done = beeline(
        place,
        *("-e", "SELECT id, amount FROM sales WHERE ds = '2015-01-01' ORDER BY id"),
        *("-e", "CREATE TABLE IF NOT EXISTS of_beeline (id INT)", "-e", "DROP TABLE of_beeline"),
        *("-e", CUBE_QUERY),
        transport="sasl",
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("|")] == [
        *("| id  | amount  |", "| 1   | 1.50    |", "| 2   | NULL    |"),
        *("| bike  | minutes  |", "| a     | 1        |", "| b     | 2        |"),
    ]
    assert done.stderr.count("2 rows selected") == 2
    assert done.stderr.count("No rows affected") == 2


def test_an_error_is_one_line_and_the_exit_code(place):
    done = beeline(place, "-e", "SELECT 1 / 0", "-e", "SELECT 'goes on'")
    assert done.returncode == 1  # as many statements failed
    (error,) = (line for line in done.stderr.splitlines() if line.startswith("Error:"))
    assert "[DIVIDE_BY_ZERO]" in error
    assert error.endswith("(state=22012,code=0)")
    assert "\tat " not in done.stderr
    assert "goes on" in done.stdout
    missing = beeline(place, "-e", "SELECT * FROM missing", transport="nosasl")
    assert "Table not found" in missing.stderr
    assert "(state=42S02,code=10001)" in missing.stderr


def test_a_file_of_statements(place, tmp_path):
    file = tmp_path / "all.sql"
    file.write_text(
        "-- days of sales\nUSE shop;\n\nSELECT ds,\n  count(*) AS number\nFROM sales GROUP BY ds ORDER BY ds;\n"
        "SELECT 'a;b' AS `x`;\n",
        encoding="utf-8",
    )
    done = beeline(
        place, "-f", str(file), "--outputformat=csv2", "--silent=true", transport="nosasl", database="default"
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line] == [
        *("ds,number", "2015-01-01,2", "2015-01-02,1"),
        *("x", "a;b"),
    ]


def test_the_commands_of_beeline(place):
    done = beeline(place, "-e", "!tables", "-e", "!columns sales", "-e", "!describe sales")
    assert done.returncode == 0, done.stderr
    assert "sales" in done.stdout
    assert "amount" in done.stdout


def test_a_long_statement_shows_its_progress(place):
    """beeline asks for progress and logs, draws what it gets, and prints the table all the same."""
    slow = (
        "SELECT count(*) AS number FROM range(0, 16, 1, 16) "
        "WHERE java_method('java.lang.Thread', 'sleep', 500 + id) = 'null'"
    )
    done = beeline(place, "-e", slow)
    assert done.returncode == 0, done.stderr
    assert "| 16 " in done.stdout
    assert "MissingFormatArgument" not in done.stderr
    assert "Error" not in done.stderr
