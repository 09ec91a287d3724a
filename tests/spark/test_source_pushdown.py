"""Conditions of Spark that the format ``hbstore`` takes over, beside Spark's own answers."""

from __future__ import annotations

import datetime as dt
import random
from functools import reduce
from math import inf, nan

import pytest
from pyspark.sql import DataFrame
from pyspark.sql import datasource as pushed
from pyspark.sql import functions as f

import hbstore
from hbstore.filters.builder import Expression
from hbstore.keys.row_key import NULL_PARTITION, table_prefix
from hbstore.plans.schema import KeySchema
from hbstore.spark.source.pushdown import pushed_tree
from tests.spark.every_type import NOON, SPARK_TYPES, TYPES

pytestmark = pytest.mark.spark


def literal(value, name):
    """A value in Spark; dates as texts, as Python writes the year 1 with one digit on the way."""
    return f.lit(str(value) if isinstance(value, dt.date) else value).cast(SPARK_TYPES[name])


def random_condition(pick, name):
    """One of Spark's filters, and the condition that it stands for as an expression of Spark."""
    kind, _, values = TYPES[name]
    column, value = f.col(name), pick.choice(values)
    other = literal(value, name)
    makers = {
        pushed.EqualTo: column == other,
        pushed.EqualNullSafe: column.eqNullSafe(other),
        pushed.GreaterThan: column > other,
        pushed.GreaterThanOrEqual: column >= other,
        pushed.LessThan: column < other,
        pushed.LessThanOrEqual: column <= other,
    }
    if kind == "string" or "char" in kind:
        makers |= {
            pushed.StringStartsWith: column.startswith(value),
            pushed.StringEndsWith: column.endswith(value),
            pushed.StringContains: column.contains(value),
        }
    chosen = pick.randrange(len(makers) + 4)
    if chosen < len(makers):
        made, condition = list(makers.items())[chosen]
        given = made((name,), value)
    elif chosen == len(makers):
        given, condition = pushed.IsNull((name,)), column.isNull()
    elif chosen == len(makers) + 1:
        given, condition = pushed.IsNotNull((name,)), column.isNotNull()
    elif chosen == len(makers) + 2:
        given, condition = pushed.EqualNullSafe((name,), None), column.eqNullSafe(f.lit(None))
    else:
        some = pick.sample(values, pick.randint(1, len(values)))
        given, condition = (
            pushed.In((name,), tuple(some)),
            column.isin([literal(one, name) for one in some]),
        )
    return (pushed.Not(given), ~condition) if pick.random() < 0.3 else (given, condition)


def test_what_is_taken_over_selects_what_spark_selects(source, every_type):
    pick = random.Random(20)
    conditions = [random_condition(pick, name) for name in TYPES for _ in range(40)]
    frame = source(every_type)
    answers = frame.select("partition_name", *(one.alias(f"c{at}") for at, (_, one) in enumerate(conditions))).collect()
    columns = [hbstore.Column(name, kind) for name, (kind, _, _) in TYPES.items()]
    table = hbstore.Table("shop", "sales", partition_columns=columns)
    schema = KeySchema(table_prefix("shop", "sales"), table.partition_column_names, table.key_types)
    taken = dict.fromkeys(TYPES, 0)
    with hbstore.connect(every_type) as store:
        for at, (given, _) in enumerate(conditions):
            tree = pushed_tree(given, schema)
            if tree is None:
                continue
            ours = set(store.partition_names("shop", "sales", Expression(tree)))
            assert ours == {row.partition_name for row in answers if row[f"c{at}"]}, given
            taken[(given.child if isinstance(given, pushed.Not) else given).attribute[0]] += 1
    assert min(taken.values()) >= 15, taken


@pytest.mark.parametrize(
    "given",
    [
        pushed.IsNull(("i",)),
        pushed.Not(pushed.IsNotNull(("i",))),
        pushed.EqualTo(("s",), NULL_PARTITION),
        pushed.Not(pushed.EqualNullSafe(("s",), "a")),
        pushed.GreaterThan(("e",), nan),
        pushed.In(("e",), (1.0, inf)),
        pushed.In(("i",), (1, None)),
        pushed.EqualTo(("location",), "/x"),
        pushed.EqualTo(("i", "x"), 1),
        pushed.EqualTo(("i",), True),
        pushed.EqualTo(("i",), "1"),
        pushed.EqualTo(("d",), NOON),
        pushed.EqualTo(("ts",), NOON.replace(tzinfo=dt.UTC)),
    ],
)
def test_what_has_no_exact_filter_stays_with_spark(given):
    columns = [hbstore.Column(name, kind) for name, (kind, _, _) in TYPES.items()]
    table = hbstore.Table("shop", "sales", partition_columns=columns)
    assert pushed_tree(given, KeySchema(b"", table.partition_column_names, table.key_types)) is None


def test_spark_pushes_and_answers_the_same(source, every_type):
    """The whole way: Spark's own filters, all reads in one job, beside the conditions on rows read before."""
    conditions = [
        "s = 'a b' and i is null", "s is null and t >= 5", f"s = '{NULL_PARTITION}'", "i in (7, -1)", "i = 7 or l = 1",
        "d > date'2000-01-01' and d is not null", "not (ts <= timestamp_ntz'2013-01-01 12:00:00')", "not b", "e > 1",
        "m <=> 1.50", "n = 10000000000000000000000000000000000000", "f = cast(0.1 as float)", "length(s) = 3 and h < 1",
    ]  # fmt: skip
    frame = source(every_type)
    local = frame.sparkSession.createDataFrame(frame.collect(), frame.schema)

    def answers(frames):
        chosen = [
            one.where(text).select(f.lit(text), "partition_name") for one, text in zip(frames, conditions, strict=True)
        ]
        return sorted(map(tuple, reduce(DataFrame.unionAll, chosen).collect()))

    theirs = answers([local] * len(conditions))
    assert answers([source(every_type, pushdown="true") for _ in conditions]) == theirs
    assert {text for text, _ in theirs} == set(conditions) - {f"s = '{NULL_PARTITION}'"}


def test_a_frame_may_be_used_again_and_with_other_conditions(source, url, make_table):
    store = make_table(n="int")
    store.add_partitions("shop", "sales", [hbstore.Partition((str(n),)) for n in range(5)])
    frame = source(url, filter="n > 0")
    both = frame.where("n = 1").union(frame.where("n = 2")).union(frame)
    assert sorted(row.n for row in both.collect()) == [1, 1, 2, 2, 3, 4]
    store.add_partitions("shop", "sales", [hbstore.Partition(("77",)), hbstore.Partition(("-1",))])
    assert sorted(row.n for row in frame.collect()) == [1, 2, 3, 4, 77]


def test_the_plan_shows_what_was_pushed_besides_the_option(source, url, make_table, capsys):
    store = make_table(ds="string", hour="int")
    days = [f"2013-01-{day:02d}" for day in range(1, 32)]
    store.add_partitions("shop", "sales", [hbstore.Partition((day, str(hour))) for day in days for hour in range(24)])
    frame = source(url, filter="ds >= '2013-01-30'", plan="true", pushdown="true").where("hour = 5 and hour % 2 = 1")
    rows = frame.collect()
    assert [row.partition_name for row in rows] == ["ds=2013-01-30/hour=5", "ds=2013-01-31/hour=5"]
    (plan,) = {row.hbstore_plan for row in rows}
    assert "'2013-01-30'" in plan
    assert "hour = 5" in plan
    assert "%" not in plan
    frame.explain("formatted")
    assert "PushedFilters: [IsNotNull(hour), EqualTo(hour,5)]" in capsys.readouterr().out
