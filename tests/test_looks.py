"""How public objects look: a repr of one line whatever they hold, and well-formed pictures in notebooks."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from hbstore import (
    Column,
    ColumnStatistic,
    Database,
    Partition,
    StorageDescriptor,
    Table,
    col,
    connect,
    parse_filter,
)
from hbstore.cubes import Cube, Cubes, Measure, PartitionDesc, cover
from hbstore.ddl import Session, execute
from hbstore.filters import Comparison, IsNull, Operator, Or, Text
from hbstore.publishing import Manifest, PartitionWrite, Publication, Publisher, Stream, StreamBatch, StreamRecord
from hbstore.repair import Walked, compared
from hbstore.spark import PrunedRead, Written
from hbstore.timelines import RangesPartitionTimeline, Runs, StoreAllPartitionTimeline, UpdatePeriod
from hbstore.transfer import Outcome, TableTransfer, Transfer

LONG = "long " * 200
HOSTILE = "</title><script>alert(1)</script>\n\"'&"
DECLARED = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY"}


@pytest.fixture(scope="module")
def store():
    with connect("memory://") as store:
        store.create_database(Database("shop", description=LONG, location=LONG))
        store.create_table(
            Table(
                "shop",
                "sales",
                location=f"s3://{LONG}",
                columns=[Column(f"c{number}", "string", LONG) for number in range(200)],
                partition_columns=[Column("ds", "string"), Column("hour", "int"), Column("region", "string")],
                parameters=DECLARED,
            )
        )
        sales = store.table("shop.sales")
        sales.add([(f"2015-01-{day:02}", str(hour), "eu") for day in range(1, 31) if day != 9 for hour in range(24)])
        sales.add([("2015-02-01", "0", HOSTILE), ("2015-02-01", "1", LONG)])
        yield store


def wide():
    return " or ".join(f"(hour = {number} and region = '{LONG}')" for number in range(50))


@pytest.fixture(scope="module")
def cubes(store):
    cubes = Cubes(store, "shop")
    cubes.create(Cube(name="rides", measures=[Measure(name=f"m{number}", type="int") for number in range(200)]))
    return cubes


@pytest.fixture(scope="module")
def objects(store, cubes):
    sales = store.table("shop.sales")
    hive = store.hive
    daily = sales.timelines["DAILY"]
    every_other = RangesPartitionTimeline("s1", UpdatePeriod.DAILY, "dt")
    every_other.add_all(UpdatePeriod.DAILY.times(0, 100_000))
    every_other.drop_all(map(UpdatePeriod.DAILY.time, range(1, 100_000, 2)))
    days = {UpdatePeriod.DAILY: [every_other]}
    found = cover(days, UpdatePeriod.DAILY.time(0), UpdatePeriod.DAILY.time(1_000), partial=True)
    plan = sales.plan(wide())
    return [
        store,
        store.hive,
        sales,
        sales.definition,
        store.get_database("shop"),
        StorageDescriptor([Column(f"c{number}", LONG) for number in range(200)], input_format=LONG),
        sales.partitions(),
        sales.partitions("hour > 99"),
        sales.partitions()[0],
        Partition((LONG, HOSTILE), location=LONG, parameters={"a": LONG}),
        sales.schema,
        sales.timelines,
        daily,
        sales.totals(),
        plan,
        plan.get_plans()[0],
        plan.get_plans()[0].start,
        sales.explain(wide()),
        sales.explain(wide(), analyze=True),
        col("ds").isin([LONG] * 100),
        UpdatePeriod.DAILY,
        store.rows,
        store.rows.costs,
        next(store.rows.whole_rows(b"", b"\xff")),
        *sales.definition.key_types,
        store.timelines,
        store.column_statistics,
        store.documents,
        store.publications,
        *(hive.functions, hive.locks, hive.transactions, hive.roles, hive.grants, hive.marks),
        cubes,
        cubes.cube("rides"),
        cubes.cube("rides").measures[0],
        Measure(name="m", type="int", description=LONG),
        PartitionDesc("DAILY", {"dt": "2015-01-29"}, {"region": LONG}, parameters={"a": LONG}),
        found,
        found.partitions,
        parse_filter(wide()),
        parse_filter(f"region in ('{LONG}', 'eu')"),
        Or((Comparison("region", Operator.EQ, Text("both '\" quotes")), IsNull("ds"))),
        store.table_row("shop", "sales"),
        Runs.of(range(0, 10_000, 2)),
        Session(store),
        *execute(store, "SHOW PARTITIONS shop.sales"),
        compared(sales.definition, Walked([], []), sales.partitions(), gone={f"s3://{LONG}"}),
        Publisher(store),
        Manifest("7", "file:/data", tuple(PartitionWrite((LONG,), LONG) for _ in range(50))),
        PartitionWrite((LONG,), LONG, {LONG: LONG}),
        Publication("7", decided=True, until=4e9, places=frozenset(f"{number:016x}" for number in range(50))),
        StreamBatch(Stream("4e5f", "shop.sales"), 7, "a1"),
        StreamRecord(Stream("4e5f", "shop.sales"), tuple((number, f"{number:032x}") for number in range(16))),
        Transfer("thrift://host:9083", tables=tuple(TableTransfer("shop.sales", "created") for _ in range(50))),
        TableTransfer("shop.sales", "created", untyped=(LONG,)),
        Outcome(added=1_000_000, kept=(LONG,) * 50, refused=((LONG, LONG),)),
        ColumnStatistic("c", "bigint", LONG.encode()),
        PrunedRead(sales.definition, sales.partitions(), sales.totals(), sales.totals()),
        Written((LONG,) * 20, (LONG,), 5, 1_000, 3),
    ]


def test_a_repr_is_one_line_of_a_length_that_one_reads(objects):
    for one in objects:
        text = repr(one)
        assert "\n" not in text, type(one)
        assert len(text) <= 300, type(one)
        assert " object at 0x" not in text, type(one)


def test_pictures_are_well_formed_and_take_no_markup_from_values(objects):
    drawn = [one for one in objects if hasattr(one, "_repr_html_")]
    assert len(drawn) >= 12
    for one in drawn:
        html = one._repr_html_()
        ET.fromstring(f"<div>{html}</div>")  # noqa: S314  made here
        assert "<script" not in html


def test_a_table_in_a_notebook_shows_its_columns_and_totals(store):
    html = store.table("shop.sales")._repr_html_()
    assert html.startswith("<div>shop.sales at s3://long")
    for text in ("c199", "<td>region</td><td>string</td><td>partition column</td>", "698 partitions", "without"):
        assert text in html
    assert html == store.get_table("shop", "sales")._repr_html_() + store.totals("shop", "sales")._repr_html_()


def test_texts_in_tables_are_escaped():
    table = Table("d", "t", [Column("ds", "date", HOSTILE)], [Column(HOSTILE, "int")], location=HOSTILE)
    html = table._repr_html_()
    assert html.count("&lt;script&gt;alert(1)") == 3
    assert "<script" not in html


def test_cubes_in_a_notebook_are_listed_by_kind(cubes):
    assert "<tr><td>cube</td><td>1</td><td>rides</td></tr>" in cubes._repr_html_()


def test_what_is_gone_says_so_in_a_notebook():
    store = connect("memory://")
    store.create_database("d")
    store.create_table(Table("d", "t", [Column("n", "int")]))
    table, cubes = store.table("d.t"), Cubes(store, "d")
    store.drop_database("d", cascade=True)
    assert "database does not exist" in table._repr_html_()
    assert "database does not exist" in cubes._repr_html_()
    store.close()
    assert "the store is closed" in table._repr_html_()


def boxes(html):
    svg = ET.fromstring(re.search("<svg.*</svg>", html)[0])  # noqa: S314  made here
    return [dict(box.attrib) for box in svg.iter() if box.tag.endswith("rect")]


def test_a_timeline_shows_its_hole_in_another_colour_where_it_is():
    timeline = RangesPartitionTimeline("s1", UpdatePeriod.DAILY, "dt")
    timeline.add_all(UpdatePeriod.DAILY.times(1_000, 1_010))
    timeline.drop(UpdatePeriod.DAILY.time(1_004))
    first, hole, last = boxes(timeline._repr_html_())
    assert first["fill"] == last["fill"] != hole["fill"]
    widths = [float(box["width"]) for box in (first, hole, last)]
    assert widths == pytest.approx([480 * 4 / 10, 480 / 10, 480 * 5 / 10], abs=0.5)


def test_a_damaged_timeline_says_so_instead_of_a_picture():
    timeline = StoreAllPartitionTimeline("s1", UpdatePeriod.DAILY, "dt")
    assert not timeline.init_from_properties({"partitions": "2015-01-02,2015-01-01"})
    assert "damaged" in repr(timeline)
    assert "damaged" in timeline._repr_html_()
    assert "<svg" not in timeline._repr_html_()


def test_a_heat_map_has_a_cell_for_each_value_of_the_first_two_columns(store):
    html = store.table("shop.sales").partitions("ds < '2015-02-01'")._repr_html_()
    assert len(boxes(html)) == 29 * 24
    assert "ds=2015-01-01" in html
    assert html.index("hour=9<") < html.index("hour=10<")  # in the column's order


def test_a_plan_shows_a_range_for_each_scan_and_what_is_checked_in_another_colour(store):
    sales = store.table("shop.sales")
    line, first, second, *_ = boxes(sales.plan("ds < '2015-01-03' or ds > '2015-01-20' and hour = 5")._repr_html_())
    assert first["fill"] != second["fill"]
    assert float(line["width"]) > float(first["x"]) + float(first["width"])
    assert "nothing is read" in sales.plan("ds < '2015-01-03' and ds > '2015-01-20'")._repr_html_()


def test_pictures_of_many_partitions_stay_small():
    with connect("memory://") as store:
        store.create_database("d")
        store.create_table(Table("d", "t", [Column("n", "int"), Column("m", "int")]))
        table = store.table("d.t")
        table.add([(str(n), str(m)) for n in range(400) for m in range(50)])
        assert len(boxes(table.partitions()._repr_html_())) <= 120 * 24
