"""Filters as large as programs write them, answered on every backend: long lists, long ORs, deep nesting."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, connect
from tests.backends import BACKENDS, backend_url

PLACE = ("large", "t")
EVERY = [(a, b) for a in range(40) for b in range(25)]
MANY, DEEP = 5_000, 1_000


@pytest.fixture(scope="module", params=BACKENDS)
def store(request, tmp_path_factory):
    with connect(backend_url(request, tmp_path_factory.mktemp("large"))) as store:
        store.create_database("large")
        columns = [Column("a", "int"), Column("b", "int"), Column("c", "int")]
        store.create_table(Table(*PLACE, partition_columns=columns))
        store.add_partitions(*PLACE, [Partition((str(a), str(b), "-1")) for a, b in EVERY])
        yield store
        store.drop_database("large", cascade=True)


def listed(numbers):
    return ", ".join(map(str, numbers))


def nested():
    """``((…(a = 7) or b = 0) and a >= 0) or b = 1 …``, and what it selects."""
    text, chosen = "a = 7", {(a, b) for a, b in EVERY if a == 7}
    for level in range(DEEP // 2):
        b, least = level % 5 * 5, level % 11
        text = f"(({text}) or b = {b}) and a >= {least}"
        chosen = {(one, two) for one, two in EVERY if ((one, two) in chosen or two == b) and one >= least}
    return text, chosen


THIRDS = range(0, 3 * MANY, 3)
PAIRS = {(at % 97, at % 89) for at in range(MANY)}
NESTING, NESTED = nested()
CASES = {
    "a list": (f"a in ({listed(THIRDS)})", lambda a, _: a % 3 == 0),
    "a list of the second column": (f"b in ({listed(THIRDS)})", lambda _, b: b % 3 == 0),
    "not in a list": (f"a not in ({listed(THIRDS)}) and b = 5", lambda a, b: a % 3 != 0 and b == 5),
    "two lists": (f"a in ({listed(THIRDS)}) and b in ({listed(THIRDS)})", lambda a, b: a % 3 == b % 3 == 0),
    "ORed equalities": (" or ".join(f"a = {at}" for at in THIRDS), lambda a, _: a % 3 == 0),
    "ORed pairs": (
        " or ".join(f"(a = {at % 97} and b = {at % 89})" for at in range(MANY)),
        lambda a, b: (a, b) in PAIRS,
    ),
    "ORed columns": (
        " or ".join(f"{'ab'[at % 2]} = {2 * at}" for at in range(MANY)),
        lambda a, b: a % 4 == 0 or b % 4 == 2,
    ),
    "three ORed lists": (
        f"a in ({listed(range(1, 3 * MANY, 3))}) or b in ({listed(THIRDS)}) or c in ({listed(range(MANY))})",
        lambda a, b: a % 3 == 1 or b % 3 == 0,
    ),
    "pairs or a column": (
        " or ".join((f"(a = {at % 97} and b = {at % 89})", f"b = {5 * at}")[at % 2] for at in range(MANY)),
        lambda a, b: (a, b) in {(at % 97, at % 89) for at in range(0, MANY, 2)} or b % 10 == 5,
    ),
    "no pair": (
        f"struct(a, b) not in ({', '.join(f'struct({at % 97}, {at % 89})' for at in range(MANY))})",
        lambda a, b: (a, b) not in PAIRS,
    ),
    "ORed pairs of open ranges": (
        " or ".join(f"(a > {at} and b = {at % 25})" for at in range(MANY)),
        lambda a, b: a > b,
    ),
    "ORed ranges": (" or ".join(f"b between {9 * at} and {9 * at + 2}" for at in range(MANY)), lambda _, b: b % 9 < 3),
    "structs": (
        f"struct(a, b) in ({', '.join(f'struct({at % 97}, {at % 89})' for at in range(MANY))})",
        lambda a, b: (a, b) in PAIRS,
    ),
    "negations": ("not (" * DEEP + "a = 5" + ")" * DEEP, lambda a, _: a == 5),
    "parentheses": ("(" * DEEP + "a = 5 and b > 3" + ")" * DEEP, lambda a, b: a == 5 and b > 3),
    "nesting": (NESTING, lambda a, b: (a, b) in NESTED),
}


@pytest.mark.parametrize("case", CASES)
def test_every_backend_answers(store, case):
    text, selects = CASES[case]
    expected = [(str(a), str(b), "-1") for a, b in EVERY if selects(a, b)]
    assert 0 < len(expected) < len(EVERY)
    assert [one.values for one in store.get_partitions_by_filter(*PLACE, text)] == expected
    assert store.count_partitions(*PLACE, text) == len(expected)
