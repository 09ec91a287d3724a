"""Keys cut into fields, key lines of plans, and values that are looked for on them."""

from __future__ import annotations

from random import Random

import pytest

from hbstore import Column, Partition, Table, connect
from hbstore.console.plans.key_fields import key_fields
from hbstore.console.plans.key_line import Reading, key_line, lanes
from hbstore.console.plans.partition_grid import partition_grid
from hbstore.console.plans.sampled_values import sampled_values
from hbstore.filters.parser import parse_filter
from hbstore.keys.row_key import TAG_NULL, TAG_TEXT, row_key, successor, table_prefix, text_cell
from hbstore.keys.types import parse_type
from hbstore.plans.planner import plan_filter
from hbstore.plans.schema import KeySchema
from hbstore.plans.statistics import Statistics
from hbstore.rows.interface import Costs

SCHEMA = KeySchema(b"shop\0sales\0", ("ds", "hour", "region"), tuple(map(parse_type, ("date", "int", "string"))))
COSTS = Costs(seek=10e-6, get=3e-6, read=1e-6, check=0.2e-6)
LARGE = Statistics((250, 6_000, 1_000_000))


def planned(text):
    return plan_filter(parse_filter(text), SCHEMA, LARGE, COSTS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ds = '2013-01-01' and hour = 5 and region = 'eu'", "value ds '2013-01-01' value hour 5 value region 'eu'"),
        ("ds = '2013-01-01' and hour > 5 and hour < 9", "value ds '2013-01-01' value hour 6"),
        ("ds = '2013-01-01' and hour is null", "sales value ds '2013-01-01'"),
        ("ds = '2013-01-01' and hour = 5 and region > 'eu'", "value hour 5 value region 'eu' behind this value"),
        ("ds = '2013-01-01' and hour = 5 and region like 'e%'", "value hour 5 region 'e…'"),
        ("ds > '2013-01-01'", "value ds '2013-01-02'"),
    ],
)
def test_the_start_of_a_scan_is_cut_into_fields(text, said):
    start = planned(text).scans[0].start.key
    fields = key_fields(start, SCHEMA)
    assert b"".join(field.data for field in fields) == start
    assert said in " ".join(field.text for field in fields)


def test_a_later_table_of_a_name_has_the_number_of_its_life_in_its_keys():
    schema = KeySchema(table_prefix("shop", "sales", 300), SCHEMA.names, SCHEMA.types)
    start = schema.prefix + text_cell(SCHEMA.types[0], "2013-01-01")
    fields = key_fields(start, schema)
    assert b"".join(field.data for field in fields) == start
    assert [field.text for field in fields[:3]] == ["shop", "sales", "the one of change 300"]


def test_no_byte_of_an_end_is_lost():
    texts = ("hour = 5", "ds is not null", "region like 'a%'", "ds > '2013-01-01' and hour = 3", "ds = '9999-12-31'")
    for text in (*texts, "ds = '2013-01-01' and hour = 5 and region in ('a', 'b') or ds is null"):
        for scan in planned(text).scans:
            for key in (scan.start.key, scan.stop.key):
                assert b"".join(field.data for field in key_fields(key, SCHEMA)) == key
    whole = key_fields(successor(SCHEMA.prefix), SCHEMA)
    assert [field.text for field in whole] == ["behind the table"]


def test_a_value_that_is_cut_is_shown_as_bytes():
    end = SCHEMA.prefix + text_cell(SCHEMA.types[0], "2013-01-01") + b"\x02\x80"
    assert [(field.kind, field.text) for field in key_fields(end, SCHEMA)][-1] == ("end", "hour 0x0280")


def test_the_key_behind_a_point_lookup():
    key = row_key(
        SCHEMA.prefix, [text_cell(kind, text) for kind, text in zip(SCHEMA.types, ("x", "5", "eu"), strict=True)]
    )
    *_, trailer, behind = key_fields(key + b"\0", SCHEMA)
    assert (trailer.kind, trailer.text, behind.text) == ("trailer", "cells at 11, 14, 23", "behind this key")
    assert "ds 'x'" in [field.text for field in key_fields(key, SCHEMA)]


def test_lines_below_values_that_have_the_same_read_are_one():
    line = key_line(planned("ds in ('2013-01-01', '2013-02-01', '2013-03-01') and hour in (5, 9) and region = 'eu'"))
    assert [one.reading for one in line] == [Reading.BELOW] * 3
    (first, _), (second, _), (third, _) = lanes(line, SCHEMA, 4, 6)
    assert [lane.label for lane in (*first, *second, *third)] == ["", "3 × ds", "3 × ds × 2 × hour"]
    assert [one.reading for one in third[0].line] == [Reading.KEY]
    assert second[0].line[0].scan == 0


def test_a_skip_scan_and_what_it_checks():
    (skip,) = key_line(planned("hour > 5 and region like '%u'"))
    assert skip.reading is Reading.SKIPPED
    columns = lanes((skip,), SCHEMA, 4, 6)
    assert columns[1][0][0].label == "each ds"
    assert [one.reading for one in columns[1][0][0].line] == [Reading.CHECKED]
    (scan,) = key_line(planned("ds = '2013-01-01'"))
    assert (scan.reading, scan.below) == (Reading.ALL, ())


def test_what_is_too_much_is_counted():
    days = " or ".join(f"ds = '2013-01-{day:02d}' and hour = {day}" for day in range(1, 28, 2))
    (_, (shown, more), *_) = lanes(key_line(planned(days)), SCHEMA, 4, 6)
    assert (len(shown), more) == (6, 8)


KINDS = {
    "int": lambda random: str(random.choice((random.randrange(-9, 99), random.randrange(-(2**31), 2**31)))),
    "date": lambda random: f"{random.randrange(1, 9999):04d}-0{random.randrange(1, 9)}-11",
    "string": lambda random: "".join(random.choice("ab\0ö/") for _ in range(random.randrange(1, 12))),
    "double": lambda random: repr(random.uniform(-1e9, 1e9)),
    "boolean": lambda random: random.choice(("true", "false")),
    "timestamp": lambda random: f"20{random.randrange(10, 99)}-01-02 03:04:05",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_values_are_those_that_there_are(kind, seed):
    random = Random(f"{kind} {seed}")
    texts = {KINDS[kind](random) for _ in range(random.choice((1, 3, 40, 300)))}
    texts |= {None, *(f" {text}" for text in sorted(texts)[:: random.choice((1, 4, 400))])}  # respelled, but of strings
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", [Column("a", kind), Column("b", "int")]))
        partitions = [Partition((text, str(n))) for text in texts for n in (1, 2)]
        store.table("d.t").add([*partitions, Partition(("no value \U0001f600", "1"))], invalid_values="keep")
        schema = store.table_row("d", "t").definition.schema
        cells = sorted({text_cell(schema.types[0], text or "") for text in (*texts, "no value \U0001f600")})
        whole = sampled_values(store.rows, schema, (), 1_000, None)
        assert (list(whole.cells), whole.complete) == (cells, True)
        some = sampled_values(store.rows, schema, (), 16, 5_000)
        assert set(some.cells) <= set(cells)
        assert list(some.cells) == sorted(some.cells)
        if not some.complete:
            values = [cell for cell in cells if cell != TAG_NULL and cell[:1] != TAG_TEXT]
            assert {TAG_NULL, values[0], values[-1]} <= set(some.cells)
            assert len(some.cells) >= min(len(cells), 10)
        grid = partition_grid(store.rows, schema, Statistics((len(cells), 2 * len(cells))))
        assert sum(grid.counts.values()) == 2 * len(cells) - 1 or not grid.complete


def test_no_values():
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", [Column("a", "int")]))
        schema = store.table_row("d", "t").definition.schema
        assert sampled_values(store.rows, schema, (), 10, None).cells == ()
        assert partition_grid(store.rows, schema, Statistics()).counts == {}
        store.table("d.t").add([("1",), ("70",)])
        grid = partition_grid(store.rows, schema, Statistics((2,)))
        assert len(grid.across) == 35  # every place from the first to the last, of two values each
        assert grid.counts == {(0, 0): 1, (34, 0): 1}
