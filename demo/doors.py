"""The cube's question at the doors of one server: over HTTP, and by Hive's JDBC driver from a program in Java."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any, Final

import pyspark
from rich.console import Console

import hbstore.client
from endpoint import Endpoint
from flights_cube import DATABASE
from hbstore.texts.wording import plural

OPTIONS: Final = (
    *("--http-port", "0", "--sql-port", "0", "--spark-master", "local[2]"),
    *("--spark-conf", "spark.sql.shuffle.partitions=2", "--spark-conf", "spark.driver.memory=1g"),
)
"""Of the server: its two doors for queries, and its own Spark."""

PROGRAM: Final = Path(__file__).parent / "AskFlights.java"
SHOWN_ROWS: Final = 2


def ask_at_doors(server: Endpoint, question: str, console: Console) -> bool:
    """Ask at both doors and show the answers; whether they are equal."""
    console.print()
    console.rule("[bold]the same question, asked of a server", align="left")
    answers = []
    for door, address, ask in (
        ("over HTTP", server.http, over_http),
        ("by JDBC", f"{server.sql}/{DATABASE}", by_jdbc),
    ):
        started = time.perf_counter()
        rows = ask(address, question)
        seconds = time.perf_counter() - started
        answers.append(rows)
        console.print(f"{door:<10} {address}  {plural(len(rows), 'row')}  [dim]({seconds:.1f} s)[/]")
        for name, flights, delay in rows[:SHOWN_ROWS]:
            console.print(f"  row      {name}: {flights:,} flights, {delay:.2f} min late")
    equal = answers[0] == answers[1] and len(answers[0]) > 0
    console.print("[green]equal answers[/]" if equal else "[bold red]DIFFERENT ANSWERS[/]")
    return equal


def over_http(url: str, question: str) -> list[tuple[Any, ...]]:
    """The rows by hbstore's own client."""
    with hbstore.client.connect(url) as connection:
        return connection.query(question, database=DATABASE).wait().rows()


def by_jdbc(url: str, question: str) -> list[tuple[Any, ...]]:
    """The rows by a program in Java, with the driver among pyspark's jars."""
    jars = Path(pyspark.__file__).parent / "jars" / "*"
    command = ["java", "-cp", str(jars), str(PROGRAM), url, question]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)  # noqa: S603
    if done.returncode:
        raise SystemExit(f"the program in Java failed:\n{done.stderr}")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    return [(name, int(flights), float(delay)) for name, flights, delay in lines]
