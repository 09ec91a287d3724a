"""What is asked: each question with new literals every time, and the partitions that are the right answer."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from benchmarks.data import DAYS, HOURS, REGIONS
from benchmarks.metastore.calls import message
from benchmarks.metastore.sales import DATABASE, TABLE, Spec, specs

ALL = -1
ORED = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """A call, and what it has to return: partitions, so many names, or (neither) something else."""

    call: bytes
    partitions: tuple[Spec, ...] = ()
    names: int = 0

    @property
    def count(self) -> int:
        """How many items the answer has."""
        return len(self.partitions) or self.names


@dataclass(frozen=True, slots=True)
class Question:
    """One line of the table.

    Args:
        name: what is asked, in words.
        make: a call with literals of its own.
        aim: how many times faster than the reference the answer should be.
        runs: how often it is asked.
        first_byte: whether the aim is for the reply's first byte; else for its last one.
    """

    name: str
    make: Callable[[random.Random, int], Asked]
    aim: float
    runs: int = 100
    first_byte: bool = False


def _filter(text: str, hits: list[Spec]) -> Asked:
    call = message("get_partitions_by_filter", db_name=DATABASE, tbl_name=TABLE, filter=text, max_parts=ALL)
    return Asked(call, tuple(hits))


def _is(spec: Spec) -> str:
    return f'(ds = "{spec.ds}" and hour = {spec.hour} and region = "{spec.region}")'


def _triple(pick: random.Random, days: int) -> Spec:
    return Spec(pick.choice(DAYS[:days]), pick.choice(HOURS), pick.choice(REGIONS))


def get_table(_: random.Random, __: int) -> Asked:
    """The table."""
    return Asked(message("get_table", dbname=DATABASE, tbl_name=TABLE))


def point(pick: random.Random, days: int) -> Asked:
    """One partition."""
    hit = _triple(pick, days)
    return _filter(f'ds = "{hit.ds}" and hour = {hit.hour} and region = "{hit.region}"', [hit])


def int_range(pick: random.Random, days: int) -> Asked:
    """Four hours of a day."""
    day, first = pick.choice(DAYS[:days]), pick.randrange(13)
    hits = [Spec(day, hour, region) for hour in range(first, first + 4) for region in REGIONS]
    return _filter(f'ds = "{day}" and hour >= {first} and hour < {first + 4}', hits)


def string_range(pick: random.Random, days: int) -> Asked:
    """The same hour of four days."""
    first, hour = pick.randrange(days - 4), pick.choice(HOURS)
    hits = [Spec(day, hour, region) for day in DAYS[first : first + 4] for region in REGIONS]
    return _filter(f'ds >= "{DAYS[first]}" and ds < "{DAYS[first + 4]}" and hour = {hour}', hits)


def two_ranges(pick: random.Random, days: int) -> Asked:
    """Four hours of a day or four hours of another one."""
    parts, hits = [], []
    for day in pick.sample(DAYS[:days], 2):
        first = pick.randrange(13)
        parts.append(f'(ds = "{day}" and hour >= {first} and hour < {first + 4})')
        hits += [Spec(day, hour, region) for hour in range(first, first + 4) for region in REGIONS]
    return _filter(" or ".join(parts), hits)


def ored_days(pick: random.Random, days: int) -> Asked:
    """200 ORs of ds, and an hour, and a region."""
    chosen = pick.sample(DAYS[:days], min(ORED, days))
    one = _triple(pick, days)
    text = " or ".join(f'ds = "{day}"' for day in chosen)
    hits = [Spec(day, one.hour, one.region) for day in chosen]
    return _filter(f'({text}) and hour = {one.hour} and region = "{one.region}"', hits)


def ored_triples(pick: random.Random, days: int) -> Asked:
    """200 ORs of a ds, an hour and a region each."""
    chosen = pick.sample(list(product(DAYS[:days], HOURS, REGIONS)), ORED)
    hits = [Spec(*values) for values in chosen]
    return _filter(" or ".join(_is(hit) for hit in hits), hits)


def region(pick: random.Random, days: int) -> Asked:
    """The third column alone."""
    chosen = pick.choice(REGIONS)
    return _filter(f'region = "{chosen}"', [one for one in specs(days) if one.region == chosen])


def like_prefix(_: random.Random, days: int) -> Asked:
    """Nine days by their beginning, in the pattern language of Hive 2."""
    return _filter('ds like "2013-01-0.*"', specs(min(days, 9)))


def all_names(_: random.Random, days: int) -> Asked:
    """The names of all partitions."""
    call = message("get_partition_names", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL)
    return Asked(call, names=len(specs(days)))


def all_partitions(_: random.Random, days: int) -> Asked:
    """All partitions."""
    call = message("get_partitions", db_name=DATABASE, tbl_name=TABLE, max_parts=ALL)
    return Asked(call, tuple(specs(days)))


QUESTIONS = (
    Question("get_table", get_table, aim=1, runs=300),
    Question("filter of three equalities", point, aim=10, runs=300),
    Question("int range", int_range, aim=1),
    Question("string range", string_range, aim=1),
    Question("OR of two ranges", two_ranges, aim=1),
    Question("200 ORs of ds, and hour, region", ored_days, aim=1, runs=50),
    Question("200 ORs of full triples", ored_triples, aim=20, runs=30),
    Question("region only (not leading)", region, aim=5, runs=15, first_byte=True),
    Question("LIKE prefix", like_prefix, aim=1, runs=3),
    Question("all names", all_names, aim=1, runs=9),
    Question("all partitions", all_partitions, aim=5, runs=5, first_byte=True),
)
