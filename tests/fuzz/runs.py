"""The runs of `make fuzz`: each takes seed after seed until there is enough or time is over; it prints what differs."""

from __future__ import annotations

import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
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
from tests.fuzz.histories import run_history
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


@dataclass
class Progress:
    """How far a run is.

    Attributes:
        first: the seed that it begins with.
        enough: of what it compares.
        seconds: after which it ends before there is enough.
    """

    first: int
    enough: float
    seconds: float
    began: float = field(default_factory=time.monotonic)
    shown: float = field(default_factory=time.monotonic)

    def seeds(self, done):
        """Seeds until there is enough, by a function that says how much there is, or the time is over."""
        for seed in count(self.first):
            if done() >= self.enough or self.is_over():
                return
            yield seed

    def is_over(self):
        """Whether its time is."""
        return time.monotonic() - self.began >= self.seconds

    def is_due(self):
        """Whether people wait for a word of it."""
        due = time.monotonic() - self.shown > REPORT_SECONDS
        if due:
            self.shown = time.monotonic()
        return due

    def rate(self, done):
        """How much it does in a second."""
        return f"{done / (time.monotonic() - self.began):,.0f} a second"

    def __str__(self):
        return f"{time.monotonic() - self.began:,.0f} s"


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
    progress, seen, asked = Progress(first, queries, seconds), Counter(), Counter()

    def failed(error):
        seen["failed"] += 1
        if seen["failed"] <= SHOWN_FAILURES:
            traceback.print_exception(error, limit=0)

    for seed in progress.seeds(asked.total):
        seen.update(compare_cubes(seed, CUBE_QUERIES, failed))
        asked[seed] = CUBE_QUERIES
        if progress.is_due():
            print(f"{asked.total():,} cube queries, {progress.rate(asked.total())}: {dict(seen)}", flush=True)
    outcome = f"{seen['failed']} failed" if seen["failed"] else "all equal"
    print(f"{asked.total():,} cube queries in {progress}, {outcome}; {dict(seen)}")
    return 1 if seen["failed"] else 0


def run_stars(first, queries, seconds):
    """Compare cube queries of random stars on Spark; it ends with the first that differs, and says its seed before."""
    from tests.fuzz.stars import opened  # which need PySpark
    from tests.spark.star_comparison import compare as compare_stars

    progress, seen = Progress(first, queries, seconds), Counter()
    with tempfile.TemporaryDirectory() as folder, opened() as spark:
        for seed in progress.seeds(seen.total):
            print(f"python -m tests.fuzz --stars --seed {seed} --pairs 1: {dict(seen)}", flush=True)
            seen.update(compare_stars(spark, Path(folder) / str(seed), seed, STAR_QUERIES))
    print(f"{seen.total():,} cube queries on Spark in {progress}, all equal; {dict(seen)}")
    return 0


def run_drivers(port, first, calls, seconds):
    """Send mutated calls to a server."""
    progress, seen = Progress(first, calls, seconds), Counter()
    for seed in progress.seeds(seen.total):
        print(f"python -m tests.fuzz --sql-port {port} --seed {seed} --pairs 1: {dict(seen)}", flush=True)
        seen.update(attack(port, Random(seed), CALLS, user="ann", password="x"))  # noqa: S106
    print(f"{seen.total():,} mutated calls in {progress}, all answered or ended; {dict(seen)}")
    return 0


def run_expressions(first, strings, seconds):
    """Read mutated expressions."""
    progress, seen, slowest = Progress(first, strings, seconds), Counter(), 0.0
    for seed in progress.seeds(seen.total):
        outcomes, longest = read_mutated(Random(seed), min(EXPRESSIONS, strings - seen.total()))
        seen.update(outcomes)
        slowest = max(slowest, longest)
        print(f"python -m tests.fuzz --expressions --seed {seed} --pairs 1: {dict(seen)}", flush=True)
    print(
        f"{seen.total():,} mutated expressions in {progress}, all read or refused; {dict(seen)}; "
        f"the slowest took {slowest:.3f} s of the processor"
    )
    return 0


def run_hive(first, expressions, seconds):
    """Compare expressions of Hive's classes with what Hive says; 1 after failures."""
    from tests.hive_expressions.comparison import compare as compare_hive
    from tests.hive_expressions.hive import RELEASES, compiled

    progress, seen, failures = Progress(first, expressions, seconds), Counter(), 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = {release: compiled(release, folder / release) for release in RELEASES}
        for seed in progress.seeds(seen.total):
            release = RELEASES[seed % len(RELEASES)]
            (folder / str(seed)).mkdir()
            outcomes, wrong = compare_hive(release, paths[release], seed, HIVE_EXPRESSIONS, folder / str(seed))
            seen.update(outcomes)
            failures += len(wrong)
            print(*wrong[:SHOWN_FAILURES], sep="\n", end="", file=sys.stderr, flush=True)
            print(f"python -m tests.fuzz --hive --seed {seed} --pairs 1: {release}, {dict(seen)}", flush=True)
    print(f"{seen.total():,} expressions of Hive in {progress}, {failures} differ; {dict(seen)}")
    return 1 if failures or seen["class"] else 0


def run_times(first, expressions, seconds, instants):
    """Compare expressions of times with Spark's values; 1 after failures, each of which is printed with its seed."""
    from tests.fuzz.times import compared_times  # which needs PySpark

    progress, seen = Progress(first, expressions, seconds), Counter()
    with closing(compared_times(first, instants)) as compared:
        for seed, text, outcome in compared:
            seen[outcome or "wrong"] += 1
            if not outcome:
                print(f"{text}\npython -m tests.fuzz --times 1 --seed {seed}", file=sys.stderr, flush=True)
            if progress.is_due():
                print(f"expressions of times: {dict(seen)}", flush=True)
            if seen.total() >= expressions or progress.is_over():
                break
    print(f"{seen.total():,} expressions at {instants:,} times in {progress}: {dict(seen)}")
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

    progress, seen = Progress(first, expressions, seconds), Counter()
    with opened() as values:
        for seed in progress.seeds(seen.total):
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
    print(f"{seen.total():,} expressions in {progress}; {dict(seen)}")
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
    progress, pairs_of = Progress(first, pairs, seconds), tally.PAIRS.total
    tally.watch(setattr)
    with tempfile.TemporaryDirectory() as folder:
        urls = _urls(backend, folder)
        stores = [connect(url) for url in urls]
        for seed in progress.seeds(pairs_of):
            if progress.is_due():
                print(f"{pairs_of():,} pairs, {progress.rate(pairs_of())}, {dict(tally.KINDS)}", flush=True)
            at = seed % len(stores)
            if urls[at].startswith("memory"):  # fresh, as memory keeps what it is given
                stores[at] = connect(urls[at])
            try:
                run_table(stores[at], seed, FILTERS)
            except Exception:  # noqa: BLE001  whatever it is, it is a failure
                traceback.print_exc()
                print(f"python -m tests.fuzz --seed {seed} --pairs 1 --backend {backend}", file=sys.stderr)
                return 1
    print(f"{pairs_of():,} pairs in {progress}, all equal; {dict(tally.KINDS)}")
    return 0


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
    progress, done = Progress(seed, number, seconds), Counter()
    for at in progress.seeds(done.total):
        with closing(connect("memory://?atomic=false" if backend in (None, "nonatomic") else backend)) as store:
            try:
                run_history(at, store.rows)
            except Exception:  # noqa: BLE001  whatever it is, it is a failure
                traceback.print_exc()
                print(f"\npython -m tests.fuzz --histories 1 --seed {at}", file=sys.stderr)
                return 1
        done[at] = 1
        if progress.is_due():
            print(f"{done.total():,} histories, the next one is --seed {at + 1}", flush=True)
    print(f"{done.total():,} histories in {progress}, all as the model")
    return 0
