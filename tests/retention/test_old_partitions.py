"""Which partitions are old: beside Python's own dates, for each type of column and each way to write a time."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, InvalidInput, Partition, Table, connect
from hbstore.ddl import execute
from hbstore.model.retention import Retention, parse_age, retention_of
from hbstore.model.structs import partition_values
from hbstore.retention.old_partitions import old_partitions
from tests.store.timelines import declared

NOW = datetime(2026, 11, 29, 10, 30, tzinfo=UTC)


def table(columns, **parameters):
    return Table("shop", "sales", partition_columns=columns, parameters=parameters)


def old_of(definition, values, retention, now=NOW):
    """The values of the partitions that are old, and how many of those that were met hold no time."""
    with connect("memory://") as store:
        store.create_database("shop")
        store.create_table(definition)
        store.add_partitions("shop", "sales", [Partition(one) for one in values], invalid_values="keep")
        old = old_partitions(store, store.get_table("shop", "sales"), retention, now)
        return {partition_values(payload) for payload in old.payloads}, old.timeless


@given(
    st.sets(st.dates(date(1, 1, 2), date(9999, 12, 30)), max_size=12),
    st.integers(1, 200),
    st.sampled_from("hdw"),
    st.dates(date(1960, 1, 1), date(2100, 1, 1)),
    st.times(),
    st.sampled_from(["date", "string", "int", "digits"]),
)
def test_days_are_old_when_they_have_ended_that_long_ago(days, number, unit, today, hour, kind):
    now = datetime.combine(today, hour, UTC)
    age = timedelta(**{{"h": "hours", "d": "days", "w": "weeks"}[unit]: number})
    days |= {(now - age).date() + timedelta(days=near) for near in range(-2, 3)}
    write = {"date": date.isoformat, "string": date.isoformat}.get(kind, lambda day: day.isoformat().replace("-", ""))
    if kind == "int":
        days = {day for day in days if day.year >= 1000}
    columns = [Column("ds", {"digits": "string"}.get(kind, kind))]
    ends = {day: datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1) for day in days}
    expected = {(write(day),) for day, end in ends.items() if end <= now - age}
    retention = Retention(parse_age(f"{number}{unit}"))
    assert old_of(table(columns), [(write(day),) for day in days], retention, now) == (expected, 0)


@pytest.mark.parametrize(
    ("kind", "old", "young"),
    [
        ("timestamp", ["2026-11-29 08:30:00", "2026-11-29 08:29:59.999999999"], ["2026-11-29 08:30:00.000000001"]),
        ("string", ["2026-11-29-07", "2026-11-29-07-59", "2026-11-28", "2026-10"], ["2026-11-29-08", "2026-11"]),
        (
            "string",
            ["2026-W47", *(f"2026-{month:02}" for month in range(1, 11))],
            ["2026-W48", "2026-11-29", "2027-01-01"],
        ),
        ("string", ["2026112907"], ["2026112908", "20261129"]),
    ],
)
def test_a_time_is_old_behind_its_end(kind, old, young):
    found, timeless = old_of(table([Column("t", kind)]), [(one,) for one in old + young], Retention(timedelta(hours=2)))
    assert (found, timeless) == ({(one,) for one in old}, 0)


@pytest.mark.parametrize(
    ("kind", "text"),
    [("date", "soon"), ("string", "2013-99-99"), ("string", "1"), ("int", "7"), ("int", "1999"), ("string", "2013")],
)
def test_what_holds_no_time_is_never_old(kind, text):
    found, _ = old_of(table([Column("t", kind)]), [(text,), (None,)], Retention(timedelta(hours=1)))
    assert found == set()


@pytest.mark.parametrize(("periods", "is_old"), [("DAILY,MONTHLY", True), ("DAILY,QUARTERLY", False), (None, True)])
def test_the_declared_period_counts(periods, is_old):
    """2026-10 is a month, or a quarter where the table says so."""
    said = {} if periods is None else declared(periods, "dt")
    found, _ = old_of(table([Column("dt", "string")], **said), [("2026-10",)], Retention(timedelta(days=20)))
    assert found == ({("2026-10",)} if is_old else set())
    both = table([Column("region", "string"), Column("dt", "string")], **declared("DAILY,MONTHLY", "dt"))
    values = [("eu", "2026-10"), ("eu", "2026-11-08"), ("eu", "2026-11-09"), ("eu", "latest"), ("us", "2026-10")]
    kept = {values[2], values[3]}
    assert old_of(both, values, Retention(timedelta(days=20)))[0] == {*values} - kept


def test_the_column_that_is_named_counts():
    columns = [Column("region", "string"), Column("made", "date"), Column("sold", "date")]
    values = [("eu", "2020-01-01", "2026-11-29"), ("us", "2026-11-29", "2020-01-01")]
    week = timedelta(days=7)
    assert old_of(table(columns), values, Retention(week, "made"))[0] == {values[0]}
    assert old_of(table(columns), values, Retention(week, "sold"))[0] == {values[1]}
    with pytest.raises(InvalidInput, match="cannot be told"):
        old_of(table(columns), values, Retention(week))


@pytest.mark.parametrize("text", ["", "90", "d", "0d", "-1d", "1.5d", "3m", "9999999d", "90 d"])
def test_what_is_no_age(text):
    with pytest.raises(InvalidInput, match="36h, 90d or 12w"):
        parse_age(text)


@pytest.mark.parametrize("text", ["999999w", "36601d"])
def test_an_age_that_no_time_has_is_refused(text):
    """Else there were no time to compare with, and the thread of a server ended."""
    with pytest.raises(InvalidInput, match="at most 100 years"):
        parse_age(text)
    assert parse_age("36600d") < datetime.now(UTC) - datetime(1, 1, 1, tzinfo=UTC)


def test_a_table_says_how_long():
    columns = [Column("ds", "date")]
    assert retention_of(table(columns)) is None
    said = {"hbstore.retention": "12w", "hbstore.retention.column": "DS"}
    assert retention_of(table(columns, **said)) == Retention(timedelta(weeks=12), "ds")
    for wrong in ({"hbstore.retention": "soon"}, {**said, "hbstore.retention.column": "amount"}):
        with pytest.raises(InvalidInput):
            retention_of(table(columns, **wrong))


def test_no_table_is_given_an_age_that_cannot_be_read(monkeypatch):
    """Servers would only warn, and drop nothing."""
    with connect("memory://") as store:
        store.create_database("shop")
        for name in ("hbstore.retention", "hbstore.retention.column", "cube.storagetable.update.periods"):
            with pytest.raises(InvalidInput, match=re.escape(f"argument=parameters['{name}'], type=int")):
                store.create_table(table([Column("ds", "date")], **{"hbstore.retention": "90d", name: 90}))
        with pytest.raises(InvalidInput, match=r"no partition columns.*leave hbstore.retention out"):
            store.create_table(table([], **{"hbstore.retention": "90d"}))
        odd = table([Column("ds", "date")], **{"hbstore.retention": "90x"})
        with pytest.raises(InvalidInput, match="age=90x"):
            store.create_table(odd)
        with monkeypatch.context() as earlier:  # versions took any text
            earlier.setattr("hbstore.store.tables.check_parameters", lambda _: None)
            store.create_table(odd)
        store.alter_table(replace(odd, owner="ann"))
        store.rename_table("shop", "sales", replace(odd, name="sold"))
        for statement in ("'hbstore.retention' = '90 days'", "'hbstore.retention.column' = 'dss'"):
            with pytest.raises(InvalidInput):
                execute(store, f"ALTER TABLE shop.sold SET TBLPROPERTIES ({statement})")
        execute(store, "ALTER TABLE shop.sold SET TBLPROPERTIES ('hbstore.retention' = '90d')")
        renamed = replace(store.get_table("shop", "sold"), name="sales", parameters=odd.parameters)
        with pytest.raises(InvalidInput, match="age=90x"):
            store.rename_table("shop", "sold", renamed)
