"""Compare random filters, queries, expressions and calls with what they should do, as long as is said.

    python -m tests.fuzz --help                         # the parts, and how long each should run
    python -m tests.fuzz --seconds 600
    python -m tests.fuzz --backend hbase://127.0.0.1:9090/fuzz --pairs 20000
    python -m tests.fuzz --seed 123456 --pairs 200      # what a failure printed

Each table has a seed of its own, so a failure is repeated by that one table. Run it under ``ulimit -v``: what is looked
for includes plans that would fill the memory.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.fuzz.kills import kills
from tests.fuzz.races import races
from tests.fuzz.runs import (
    run_checked,
    run_cubes,
    run_dialect,
    run_drivers,
    run_expressions,
    run_histories,
    run_hive,
    run_spellings,
    run_stars,
    run_tables,
    run_times,
)


@dataclass(frozen=True, slots=True)
class Part:
    """What can be compared.

    Attributes:
        what: that is.
        enough: the arguments of a run that an issue asks for.
        minutes: that this takes, about, on two quiet cores.
        run: takes the options, whose `seed` is a number; 1 after failures.
        argument: of argparse, for the option that has the part's name.
    """

    what: str
    enough: str
    minutes: int
    run: Callable[[argparse.Namespace], int]
    argument: Mapping[str, Any] = field(default_factory=lambda: {"action": "store_true"})


PARTS = {
    "backend": Part(
        "filters beside naive evaluation, on memory (also where no part is named), nonatomic, sqlite, all or a URL",
        "--backend all --pairs 300000",
        15,
        lambda options: run_tables(options.backend or "memory", options.seed, options.pairs, options.seconds),
        {"metavar": "NAME"},
    ),
    "cubes": Part(
        "cube queries of random stars, beside the same in SQL on base rows",
        "--cubes --pairs 30000",
        20,
        lambda options: run_cubes(options.seed, options.pairs, options.seconds),
    ),
    "stars": Part(
        "cube queries of random stars on Spark, beside the same in SQL on base rows",
        "--stars --pairs 2000",
        20,
        lambda options: run_stars(options.seed, options.pairs, options.seconds),
    ),
    "dialect": Part(
        "expressions of cube queries, as Spark reads them and as it reads what hbstore writes",
        "--dialect --pairs 20000",
        20,
        lambda options: run_dialect(options.seed, options.pairs, options.seconds),
    ),
    "times": Part(
        "so many expressions of times, beside Spark's values",
        "--times 1000",
        20,
        lambda options: run_times(options.seed, options.times, options.seconds, options.instants),
        {"type": int, "metavar": "NUMBER"},
    ),
    "spellings": Part(
        "so many tables of odd partition values, in Spark on an endpoint and on its own metastore",
        "--spellings 160",
        20,
        lambda options: run_spellings(options.seed, options.spellings),
        {"type": int, "metavar": "TABLES"},
    ),
    "expressions": Part(
        "mutated bytes of Hive's expressions: each is read or refused",
        "--expressions --pairs 2000000",
        5,
        lambda options: run_expressions(options.seed, options.pairs, options.seconds),
    ),
    "hive": Part(
        "expressions that the classes of Hive 2.3 to 4.1 write, beside what these select",
        "--hive --pairs 60000",
        15,
        lambda options: run_hive(options.seed, options.pairs, options.seconds),
    ),
    "kills": Part(
        "so many rounds in which jobs that append, and others that exchange and rename, are killed",
        "--kills 40",
        5,
        lambda options: run_checked(
            kills(
                options.seed,
                options.kills,
                url=options.store,
                in_s3=options.in_s3,
                servers=options.servers,
                seconds=options.seconds,
            )
        ),
        {"type": int, "metavar": "ROUNDS"},
    ),
    "races": Part(
        "so many rounds in which four clients at two servers create, rename, exchange and drop the same at once",
        "--races 2000",
        15,
        lambda options: run_checked(
            races(options.seed, options.races, url=options.store, in_s3=options.in_s3, seconds=options.seconds)
        ),
        {"type": int, "metavar": "ROUNDS"},
    ),
    "histories": Part(
        "so many histories of changes, struck by faults or with others within them, beside a model; on --backend",
        "--histories 100000",
        60,
        lambda options: run_histories(options.seed, options.histories, options.seconds, options.backend),
        {"type": int, "metavar": "NUMBER"},
    ),
    "sql-port": Part(
        "mutated calls of drivers to the server at this port: each is answered, or its connection ended",
        "--sql-port 10000 --pairs 100000",
        10,
        lambda options: run_drivers(options.sql_port, options.seed, options.pairs, options.seconds),
        {"type": int, "metavar": "PORT"},
    ),
}
"""By the option that chooses it."""


def how_long():
    """The lines that say how long each part should run."""
    rows = [(f'make fuzz ARGS="{part.enough}"', f"{part.minutes} minutes") for part in PARTS.values()]
    return [f"{command:<52}{minutes}" for command, minutes in rows]


def _arguments():
    lines = "\n".join(f"    {line}" for line in how_long())
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz",
        description="Compare what is random with what it should be, and print how to repeat what differs.",
        epilog=f"What issues ask for, and how long it takes, about, on two quiet cores:\n\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", help=part.what, **part.argument)
    parser.add_argument("--in-s3", action="store_true", help="the files of --kills and --races are in S3")
    parser.add_argument("--store", metavar="URL", help="of an empty store for --kills and --races; else SQLite's")
    parser.add_argument("--servers", type=int, default=0, help="so many are killed in --kills as well")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--pairs", type=int, default=sys.maxsize, help="stop after so many filters, queries or calls")
    parser.add_argument("--instants", type=int, default=1_000_000, help="at how many times; for --times")
    parser.add_argument("--seed", type=int, default=time.time_ns() % 10**9, help="of the first; others follow it")
    return parser.parse_args()


def main():
    """Run the part that is asked for; 1 after failures."""
    options = _arguments()
    values = {name: getattr(options, name.replace("-", "_")) for name in PARTS}
    chosen = [name for name, value in values.items() if value is not None and value is not False]  # 0 is a number
    part = next((name for name in chosen if name != "backend"), "backend")  # which other parts take as well
    return PARTS[part].run(options)


if __name__ == "__main__":
    sys.exit(main())
