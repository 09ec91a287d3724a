"""Compare random filters on random tables with the naive evaluation until told to stop.

    python -m tests.fuzz --seconds 600
    python -m tests.fuzz --pairs 1000000 --backend sqlite
    python -m tests.fuzz --backend hbase://127.0.0.1:9090/fuzz --pairs 20000
    python -m tests.fuzz --seed 123456 --pairs 200      # what a failure printed
    python -m tests.fuzz --cubes --pairs 20000          # cube queries of random stars
    python -m tests.fuzz --sql-port 10000 --pairs 20000 # mutated calls to a server that serves drivers at this port
    python -m tests.fuzz --expressions --pairs 100000   # mutated bytes of Hive's expressions
    python -m tests.fuzz --times 10000                  # expressions of times, beside Spark's values at a million times
    python -m tests.fuzz --spellings 160                # so many tables of odd partition values, in Spark
    python -m tests.fuzz --dialect --pairs 20000        # expressions of cube queries, as Spark reads them

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
from contextlib import closing
from itertools import count
from pathlib import Path
from random import Random

from hbstore import connect
from tests.cubes.query.comparison import compare as compare_cubes
from tests.exactness import tally
from tests.exactness.comparison import WAYS, compare, compare_algebra, compare_with_budget, compare_with_lies
from tests.exactness.worlds import DATABASE, STATISTICS_STATES, load
from tests.fuzz.drivers import attack
from tests.fuzz.expressions import read_mutated
from tests.fuzz.filters import random_tree
from tests.fuzz.values import random_world
from tests.metastore.spark.spelled_tables import differences

FILTERS = 200
"""For each table."""

CUBE_QUERIES = 50
"""For each star."""

CALLS = 5_000
"""Mutated calls of one seed."""

EXPRESSIONS = 5_000
"""Mutated expressions of one seed."""

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
    with tempfile.TemporaryDirectory() as folder:
        statements, differing = differences(Path(folder), first, tables)
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


def _arguments():
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Compare filters with naive evaluation.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--pairs", type=int, default=sys.maxsize, help="stop after so many pairs of table and filter")
    parser.add_argument("--backend", default="memory", help="memory, nonatomic, sqlite, all of these, or a store URL")
    parser.add_argument("--cubes", action="store_true", help="cube queries instead; --pairs counts them")
    parser.add_argument("--sql-port", type=int, help="mutated calls of drivers to this port instead, likewise")
    parser.add_argument("--expressions", action="store_true", help="mutated bytes of Hive's expressions, likewise")
    parser.add_argument("--times", type=int, help="so many expressions of times instead, beside Spark's values")
    parser.add_argument("--instants", type=int, default=1_000_000, help="at how many times; for --times")
    parser.add_argument(
        "--spellings", type=int, metavar="TABLES", help="tables of odd partition values in Spark instead"
    )
    parser.add_argument("--dialect", action="store_true", help="expressions of cube queries on Spark, likewise")
    parser.add_argument("--seed", type=int, help="seed of the first table; others follow it")
    return parser.parse_args()


def run_other(given, first):  # noqa: PLR0911  a part, a return
    """What is asked for in place of tables; None where it is tables."""
    if given.sql_port is not None:
        return run_drivers(given.sql_port, first, given.pairs, given.seconds)
    if given.times is not None:
        return run_times(first, given.times, given.seconds, given.instants)
    if given.spellings is not None:
        return run_spellings(first, given.spellings)
    if given.expressions:
        return run_expressions(first, given.pairs, given.seconds)
    if given.dialect:
        return run_dialect(first, given.pairs, given.seconds)
    if given.cubes:
        return run_cubes(first, given.pairs, given.seconds)
    return None


def _urls(backend, folder):
    known = {
        "memory": "memory://",
        "nonatomic": "memory://?atomic=false",
        "sqlite": f"sqlite://{Path(folder) / 'fuzz.db'}",
    }
    return list(known.values()) if backend == "all" else [known.get(backend, backend)]


def main():
    """Run; 1 after a failure, whose seed is printed."""
    given = _arguments()
    first = given.seed if given.seed is not None else time.time_ns() % 10**9
    if (code := run_other(given, first)) is not None:
        return code
    began = shown = time.monotonic()
    tally.watch(setattr)
    with tempfile.TemporaryDirectory() as folder:
        urls = _urls(given.backend, folder)
        stores = [connect(url) for url in urls]
        for seed in count(first):
            done = tally.PAIRS.total()
            if done >= given.pairs or time.monotonic() - began >= given.seconds:
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
                print(f"python -m tests.fuzz --seed {seed} --pairs 1 --backend {given.backend}", file=sys.stderr)
                return 1
    seconds = time.monotonic() - began
    print(f"{tally.PAIRS.total():,} pairs in {seconds:.0f} s, all equal; {dict(tally.KINDS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
