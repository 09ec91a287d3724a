"""The benchmark's questions: what they call right is what a store finds, and the table is read rightly."""

from __future__ import annotations

import random

import pytest
from rich.console import Console

from benchmarks.metastore.figures import Figure, show
from benchmarks.metastore.filling import fill_sql
from benchmarks.metastore.questions import QUESTIONS
from benchmarks.metastore.sales import KEYS, Spec, specs
from hbstore import Column, Partition, Table, connect

DAYS = 12


@pytest.fixture(scope="module")
def store():
    with connect("memory://") as store:
        store.create_database("bench")
        columns = [Column(name, kind) for name, kind in KEYS]
        store.create_table(Table("bench", "sales", partition_columns=columns))
        partitions = [Partition((one.ds, str(one.hour), one.region)) for one in specs(DAYS)]
        store.add_partitions("bench", "sales", partitions)
        yield store


def filter_of(call):
    """The filter's text in a call of get_partitions_by_filter; None for other calls."""
    _, method, rest = call.partition(b"get_partitions_by_filter")
    if not method:
        return None
    field = rest.index(b"\x0b\x00\x03")
    size = int.from_bytes(rest[field + 3 : field + 7], "big")
    return rest[field + 7 : field + 7 + size].decode()


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_the_answers_are_right(store, question):
    pick = random.Random(7)
    for _ in range(5):
        asked = question.make(pick, DAYS)
        text = filter_of(asked.call)
        if text is not None:
            found = store.get_partitions_by_filter("bench", "sales", text, like_dialect="hive2")
            assert sorted(one.values for one in found) == sorted(
                (one.ds, str(one.hour), one.region) for one in asked.partitions
            )


def test_most_questions_have_new_literals_each_time():
    pick = random.Random(7)
    asked = {question.name: {question.make(pick, 250).call for _ in range(3)} for question in QUESTIONS}
    fixed = {name for name, calls in asked.items() if len(calls) == 1}
    assert fixed == {"get_table", "LIKE prefix", "all names", "all partitions"}


def test_the_full_table_is_that_of_the_figures():
    counts = {question.name: question.make(random.Random(7), 250).count for question in QUESTIONS}
    assert list(counts.values()) == [0, 1, 100, 100, 200, 200, 200, 4_000, 3_600, 100_000, 100_000]


def test_times_are_better_when_they_are_shorter_and_rates_when_they_are_higher():
    time = Figure("a time", (0.002, 0.02, 0.1), aim=10)
    assert [time.ratio(at) for at in (0, 1)] == [50, 5]
    assert [time.met(at) for at in (0, 1)] == [True, False]
    rate = Figure("a rate", (6_000, 4_000, 100), aim=50, rate=True)
    assert [rate.met(at) for at in (0, 1)] == [True, False]
    fixed = Figure("a rate", (6_000, 4_000, 100), at_least=5_000, rate=True)
    assert [fixed.met(at) for at in (0, 1)] == [True, False]
    assert Figure("no aim", (1, 1, 1)).met(0) is None


def test_a_refusal_of_the_reference_is_no_aim_missed_and_one_of_ours_is():
    refused = Figure("a time", (0.002, None, None), aim=10)
    assert [refused.ratio(at) for at in (0, 1)] == [None, None]
    assert [refused.met(at) for at in (0, 1)] == [None, False]
    console = Console(width=150)
    with console.capture() as captured:
        show(console, "title", ["SQLite", "HBase", "HMS"], [refused], reference=True)
    assert captured.get().count("refused") == 2


def test_the_table_shows_each_server_beside_the_reference():
    console = Console(width=150)
    with console.capture() as captured:
        show(console, "title", ["SQLite", "HBase", "HMS"], [Figure("f", (0.002, 0.02, 0.1), aim=10)], reference=True)
    (line,) = [line for line in captured.get().splitlines() if line.startswith("│ f")]
    assert [cell.strip() for cell in line.strip("│").split("│")] == [
        *("f", "100.0 ms", "2.00 ms", "50.0", "yes", "20.0 ms", "5.0", "NO", "10 x")
    ]


def test_the_table_without_a_reference_has_no_ratios():
    console = Console(width=150)
    with console.capture() as captured:
        show(console, "title", ["SQLite"], [Figure("f", (0.002,), aim=10)], reference=False)
    (line,) = [line for line in captured.get().splitlines() if line.startswith("│ f")]
    assert [cell.strip() for cell in line.strip("│").split("│")] == ["f", "2.00 ms", "10 x"]


def test_the_sql_copies_rows_for_each_partition():
    text = fill_sql([Spec("2013-01-02", 3, "r04"), Spec("2013-01-02", 4, "r04")], "file:/w/sales")
    _, _, rest = text.partition("COPY fill FROM STDIN;\n")
    rows, _, _ = rest.partition("\\.\n")
    assert rows.splitlines() == [
        "0\tds=2013-01-02/hour=3/region=r04\tfile:/w/sales/ds=2013-01-02/hour=3/region=r04\t2013-01-02\t3\tr04",
        "1\tds=2013-01-02/hour=4/region=r04\tfile:/w/sales/ds=2013-01-02/hour=4/region=r04\t2013-01-02\t4\tr04",
    ]
