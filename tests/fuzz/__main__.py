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
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from hbstore import connect
from tests.cubes.query.comparison import compare as compare_cubes
from tests.exactness import tally
from tests.exactness.comparison import WAYS, compare, compare_algebra, compare_with_budget, compare_with_lies
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, load
from tests.fuzz.drivers import attack
from tests.fuzz.expressions import read_mutated
from tests.fuzz.filters import random_tree
from tests.fuzz.histories import run_history
from tests.fuzz.kills import kills
from tests.fuzz.races import races
from tests.fuzz.values import random_world
from tests.metastore.spark.process import SparkProcess
from tests.metastore.spark.spelled_tables import differences

FILTERS = 200
"""For each table."""

CUBE_QUERIES = 50
"""For each star."""

STAR_QUERIES = 35
"""For each star on Spark."""

CALLS = 5_000
"""Mutated calls of one seed."""

EXPRESSIONS = 5_000
"""Mutated expressions of one seed."""

HIVE_EXPRESSIONS = 3_000
"""Of one seed and release of Hive."""

SHOWN_FAILURES = 20
"""Wrong answers of cube queries that are printed."""

DIALECT_EXPRESSIONS = 1_000
"""Expressions of cube queries of one seed."""

REPORT_SECONDS = 10


def run_table(store, seed, filters):
    """Compare filters on one table; all is decided by the seed."""
    random = Random(seed)
    world = random_world(random)
    table = load(store, world, random.choice(STATISTICS_STATES))
    before = None
    for _ in range(filters):
        tree = random_tree(random, world, depth=random.choice((1, 2, 3)))
        try:
            compare(store, world, table, tree, random, (random.choice(WAYS),))
            if random.random() < 0.5:
                compare_with_lies(store, world, table, tree, random)
            if random.random() < 0.1:
                compare_with_budget(store, world, table, tree, random.choice((1, 2, 3, 5, 20)))
            if before is not None and random.random() < 0.1:
                compare_algebra(store, world, table, (before, tree))
        except BaseException:
            print(f"table: {world.columns}\nfilter: {tree!r}", file=sys.stderr)
            raise
        before = tree
    if not store.rows.url.startswith("memory"):
        store.drop_table(DATABASE, table)


def run_cubes(first, queries, seconds):
    """Compare cube queries of random stars; 1 after failures. Each prints its question, and others follow."""
    began = shown = time.monotonic()
    seen, asked = Counter(), 0

    def failed(error):
        seen["failed"] += 1
        if seen["failed"] <= SHOWN_FAILURES:
            traceback.print_exception(error, limit=0)

    for seed in count(first):
        if asked >= queries or time.monotonic() - began >= seconds:
            break
        seen.update(compare_cubes(seed, CUBE_QUERIES, failed))
        asked += CUBE_QUERIES
        if time.monotonic() - shown > REPORT_SECONDS:
            shown = time.monotonic()
            print(f"{asked:,} cube queries, {asked / (shown - began):.0f} a second: {dict(seen)}", flush=True)
    outcome = f"{seen['failed']} failed" if seen["failed"] else "all equal"
    print(f"{asked:,} cube queries in {time.monotonic() - began:.0f} s, {outcome}; {dict(seen)}")
    return 1 if seen["failed"] else 0


def run_stars(first, queries, seconds):
    """Compare cube queries of random stars on Spark; it ends with the first that differs, and says its seed before."""
    from tests.fuzz.stars import opened  # which need PySpark
    from tests.spark.star_comparison import compare as compare_stars

    began, seen = time.monotonic(), Counter()
    with tempfile.TemporaryDirectory() as folder, opened() as spark:
        for seed in count(first):
            if seen.total() >= queries or time.monotonic() - began >= seconds:
                break
            print(f"python -m tests.fuzz --stars --seed {seed} --pairs 1: {dict(seen)}", flush=True)
            seen += compare_stars(spark, Path(folder) / str(seed), seed, STAR_QUERIES)
    print(f"{seen.total():,} cube queries on Spark in {time.monotonic() - began:.0f} s, all equal; {dict(seen)}")
    return 0


def run_drivers(port, first, calls, seconds):
    """Send mutated calls to a server."""
    began, seen = time.monotonic(), Counter()
    for seed in count(first):
        if seen.total() >= calls or time.monotonic() - began >= seconds:
            break
        print(f"python -m tests.fuzz --sql-port {port} --seed {seed} --pairs 1: {dict(seen)}", flush=True)
        seen += attack(port, Random(seed), CALLS, user="ann", password="x")  # noqa: S106
    print(f"{seen.total():,} mutated calls in {time.monotonic() - began:.0f} s, all answered or ended; {dict(seen)}")
    return 0


def run_expressions(first, strings, seconds):
    """Read mutated expressions."""
    began, seen = time.monotonic(), Counter()
    slowest = 0.0
    for seed in count(first):
        if seen.total() >= strings or time.monotonic() - began >= seconds:
            break
        found, longest = read_mutated(Random(seed), min(EXPRESSIONS, strings - seen.total()))
        seen += found
        slowest = max(slowest, longest)
        print(f"python -m tests.fuzz --expressions --seed {seed} --pairs 1: {dict(seen)}", flush=True)
    print(
        f"{seen.total():,} mutated expressions in {time.monotonic() - began:.0f} s, all read or refused; {dict(seen)}; "
        f"the slowest took {slowest:.3f} s of the processor"
    )
    return 0


def run_hive(first, expressions, seconds):
    """Compare expressions of Hive's classes with what Hive says; 1 after failures."""
    from tests.hive_expressions.comparison import compare as compare_hive
    from tests.hive_expressions.hive import RELEASES, compiled

    began, seen, failures = time.monotonic(), Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {release: compiled(release, folder / release) for release in RELEASES}
        for seed in count(first):
            if seen.total() >= expressions or time.monotonic() - began >= seconds:
                break
            release = RELEASES[seed % len(RELEASES)]
            (folder / str(seed)).mkdir()
            found, wrong = compare_hive(release, paths[release], seed, HIVE_EXPRESSIONS, folder / str(seed))
            seen += found
            failures += len(wrong)
            print(*wrong[:SHOWN_FAILURES], sep="\n", end="", file=sys.stderr, flush=True)
            print(f"python -m tests.fuzz --hive --seed {seed} --pairs 1: {release}, {dict(seen)}", flush=True)
    print(f"{seen.total():,} expressions of Hive in {time.monotonic() - began:.0f} s, {failures} differ; {dict(seen)}")
    return 1 if failures or seen["class"] else 0


def run_times(first, expressions, seconds, instants):
    """Compare expressions of times with Spark's values; 1 after failures, each of which is printed with its seed."""
    from tests.fuzz.times import compared_times  # which needs PySpark

    began = shown = time.monotonic()
    seen = Counter()
    with closing(compared_times(first, instants)) as compared:
        for seed, text, outcome in compared:
            seen[outcome or "wrong"] += 1
            if not outcome:
                print(f"{text}\npython -m tests.fuzz --times 1 --seed {seed}", file=sys.stderr, flush=True)
            if time.monotonic() - shown > REPORT_SECONDS:
                shown = time.monotonic()
                print(f"expressions of times: {dict(seen)}", flush=True)
            if seen.total() >= expressions or time.monotonic() - began >= seconds:
                break
    print(f"{seen.total():,} expressions at {instants:,} times in {time.monotonic() - began:.0f} s: {dict(seen)}")
    return 1 if seen["wrong"] else 0


def run_spellings(first, tables):
    """Compare what Spark shows of tables of respelled values on an endpoint and on its own metastore."""
    with tempfile.TemporaryDirectory() as folder, closing(SparkProcess(folder)) as process:
        statements, differing = differences(process, Path(folder), range(first, first + tables))
    for ours, own in differing:
        print(f"hbstore:        {ours}\nown metastore:  {own}", file=sys.stderr)
    for seed in sorted({(ours or own)[0] for ours, own in differing}):
        print(f"python -m tests.fuzz --spellings 1 --seed {seed}", file=sys.stderr)
    print(f"{tables:,} tables, {dict(statements)}, {len(differing)} statements differ")
    return 1 if differing else 0


def run_dialect(first, expressions, seconds):
    """Compare what Spark reads in random expressions with what it reads in the same as hbstore writes them."""
    from tests.fuzz.dialect import opened  # which need PySpark
    from tests.spark.dialect_comparison import compare as compare_dialect
    from tests.spark.spark_expressions import any_expression

    began, seen = time.monotonic(), Counter()
    with opened() as values:
        for seed in count(first):
            if seen.total() >= expressions or time.monotonic() - began >= seconds:
                break
            random = Random(seed)
            for _ in range(min(DIALECT_EXPRESSIONS, expressions - seen.total())):
                try:
                    seen[compare_dialect(values, any_expression(random))] += 1
                except AssertionError as error:
                    seen["of other values"] += 1
                    print(*error.args, sep="\n", file=sys.stderr, flush=True)
            print(
                f"python -m tests.fuzz --dialect --seed {seed} --pairs {DIALECT_EXPRESSIONS}: {dict(seen)}", flush=True
            )
    print(f"{seen.total():,} expressions in {time.monotonic() - began:.0f} s; {dict(seen)}")
    return 1 if seen["of other values"] else 0


def _urls(backend, folder):
    known = {
        "memory": "memory://",
        "nonatomic": "memory://?atomic=false",
        "sqlite": f"sqlite://{Path(folder) / 'fuzz.db'}",
    }
    return list(known.values()) if backend == "all" else [known.get(backend, backend)]


def run_tables(backend, first, pairs, seconds):
    """Compare filters on tables; 1 after a failure, whose seed is printed."""
    began = shown = time.monotonic()
    tally.watch(setattr)
    with tempfile.TemporaryDirectory() as folder:
        urls = _urls(backend, folder)
        stores = [connect(url) for url in urls]
        for seed in count(first):
            done = tally.PAIRS.total()
            if done >= pairs or time.monotonic() - began >= seconds:
                break
            if time.monotonic() - shown > REPORT_SECONDS:
                shown = time.monotonic()
                print(f"{done:,} pairs, {done / (shown - began):,.0f} a second, {dict(tally.KINDS)}", flush=True)
            at = seed % len(stores)
            if urls[at].startswith("memory"):  # fresh, as memory keeps what it is given
                stores[at] = connect(urls[at])
            try:
                run_table(stores[at], seed, FILTERS)
            except Exception:  # noqa: BLE001  whatever it is, it is a failure
                traceback.print_exc()
                print(f"python -m tests.fuzz --seed {seed} --pairs 1 --backend {backend}", file=sys.stderr)
                return 1
    print(f"{tally.PAIRS.total():,} pairs in {time.monotonic() - began:.0f} s, all equal; {dict(tally.KINDS)}")
    return 0


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
        "so many histories of changes, with a process that dies at any write, beside a model; on --backend",
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


def run_checked(lines):
    """Print what comes until something is lost; 1 if it is."""
    try:
        for line in lines:
            print(line, flush=True)
    except AssertionError:
        traceback.print_exc()
        return 1
    return 0


def run_histories(seed, number, seconds, backend):
    """Play histories until one differs; 1 if it does."""
    began = shown = time.monotonic()
    for at in range(seed, seed + number):
        with closing(connect("memory://?atomic=false" if backend in (None, "nonatomic") else backend)) as store:
            try:
                run_history(at, store.rows)
            except AssertionError:
                traceback.print_exc()
                print(f"\npython -m tests.fuzz --histories 1 --seed {at}", file=sys.stderr)
                return 1
        if time.monotonic() - began > seconds:
            break
        if time.monotonic() - shown > REPORT_SECONDS:
            shown = time.monotonic()
            print(f"{at - seed + 1:,} histories, the next one is --seed {at + 1}", flush=True)
    print(f"{at - seed + 1:,} histories in {time.monotonic() - began:,.0f} s, all as the model")
    return 0


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
    chosen = [name for name in PARTS if getattr(options, name.replace("-", "_")) not in (None, False)]
    part = next((name for name in chosen if name != "backend"), "backend")  # which other parts take as well
    return PARTS[part].run(options)


if __name__ == "__main__":
    sys.exit(main())
