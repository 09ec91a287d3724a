"""Tables in formats that hbstore does not know are read only where no others answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore.cubes.logical_tables import Column, DimTable, Serde, StorageTable, TableDescription
from hbstore.cubes.storage_tables import unreadable
from hbstore.errors import NoCandidate
from tests.cubes.small_cube import CUBE, fact, opened, partitions, table

RANGE = "time_range_in(start_time, '2015-01-01', '2015-01-03')"
DAYS = partitions("DAILY", ["2015-01-01", "2015-01-02"])
HANDLER = {"storage_handler": "com.example.JdbcStorageHandler"}
FARES = f"select fare from rides where {RANGE}"


def described(on, **description):
    return on.changed(description=TableDescription(**description))


def light(**description):
    """A fact of weight 1, stored so."""
    return fact("light", "fare minutes", described(table("lake", "DAILY"), **description), weight=1)


HEAVY = fact("heavy", "fare", table("vault", "DAILY"), weight=9)


@pytest.mark.parametrize(
    ("description", "what"),
    [
        (HANDLER, "storage handler com.example.JdbcStorageHandler"),
        ({"table_properties": {"spark.sql.sources.provider": "delta"}}, "provider delta"),
        (
            {"serde": Serde(library="org.apache.hadoop.hive.serde2.avro.AvroSerDe")},
            "serde2.avro.AvroSerDe",
        ),
        ({"serde": Serde(name="com.example.OwnSerDe")}, "serde com.example.OwnSerDe"),
    ],
)
def test_a_heavier_fact_that_can_be_read_answers(description, what):
    with opened(*CUBE, light(**description), HEAVY) as cubes:
        cubes.add_partitions("light", "lake", DAYS)
        cubes.add_partitions("heavy", "vault", DAYS)
        found = cubes.rewrite(FARES)
        assert list(found.partitions) == ["vault_heavy"]
        (refused,) = (one for one in found.candidates if not one.taken)
        assert (refused.table, refused.cause) == ("lake_light", "UNKNOWN_FORMAT")
        assert what in refused.detail
        # What only it has is asked of it.
        assert list(cubes.rewrite(f"select minutes, fare from rides where {RANGE}").partitions) == ["lake_light"]


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"format": "parquet"},
        {"serde": Serde(library="org.apache.hadoop.hive.serde2.OpenCSVSerde")},
        {"serde": Serde(name="anything")},
        {"input_format": "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"},
        {"table_properties": {"spark.sql.sources.provider": "PARQUET"}, **HANDLER},
    ],
)
def test_formats_that_are_known(description):
    with opened(*CUBE, light(**description), HEAVY) as cubes:
        cubes.add_partitions("light", "lake", DAYS)
        cubes.add_partitions("heavy", "vault", DAYS)
        assert list(cubes.rewrite(FARES).partitions) == ["lake_light"]
    assert unreadable(light(**description).storage_tables[0]) is None


def test_one_that_cannot_be_read_answers_where_no_other_is_whole():
    with opened(*CUBE, light(**HANDLER), HEAVY) as cubes:
        cubes.add_partitions("heavy", "vault", DAYS[:1])
        found = cubes.rewrite(FARES, partial=True)
        assert list(found.partitions) == ["vault_heavy"]
        with pytest.raises(NoCandidate) as caught:
            cubes.rewrite(FARES)
        assert [one.cause for one in caught.value.candidates] == ["MISSING_PARTITIONS", "MISSING_PARTITIONS"]
        cubes.add_partitions("light", "lake", DAYS)
        assert list(cubes.rewrite(FARES).partitions) == list(cubes.rewrite(FARES, partial=True).partitions)
        assert list(cubes.rewrite(FARES).partitions) == ["lake_light"]


def test_a_partial_answer_reads_one_that_cannot_be_read_where_the_others_have_nothing():
    """Spark then says that it cannot read it, where an empty answer would say nothing."""
    with opened(*CUBE, light(**HANDLER), HEAVY) as cubes:
        assert dict(cubes.rewrite(FARES, partial=True).partitions) == {}
        cubes.add_partitions("light", "lake", DAYS[:1])
        found = cubes.rewrite(FARES, partial=True)
        assert list(found.partitions) == ["lake_light"]
        assert [start.day for start, _ in found.missing] == [2]
        cubes.add_partitions("heavy", "vault", DAYS[1:])
        found = cubes.rewrite(FARES, partial=True)  # which both have together
        assert (list(found.partitions), found.missing) == (["lake_light", "vault_heavy"], ())


@given(
    st.lists(st.tuples(st.sets(st.integers(1, 4)), st.booleans()), min_size=1, max_size=3),
    st.tuples(st.integers(1, 4), st.integers(1, 4)).map(sorted),
)
def test_what_random_facts_answer_in_part(facts, ends):
    """Those that can be read answer alone if they have all or the others do not have the rest, and something at all."""
    first, last = ends
    asked = set(range(first, last + 1))
    tables = [
        fact(f"f{at}", "fare", described(table("lake", "DAILY"), **(HANDLER if unread else {})), weight=at)
        for at, (_, unread) in enumerate(facts)
    ]
    with opened(*CUBE, *tables) as cubes:
        for at, (days, _) in enumerate(facts):
            cubes.add_partitions(f"f{at}", "lake", partitions("DAILY", [f"2015-01-{day:02}" for day in days]))
        query = f"select fare from rides where time_range_in(start_time, '2015-01-{first:02}', '2015-01-{last + 1:02}')"
        found = cubes.rewrite(query, partial=True)
    readable = asked.intersection(set().union(*(days for days, unread in facts if not unread)))
    there = asked.intersection(set().union(*(days for days, _ in facts)))
    answered = readable if readable and there != asked else there
    assert asked - answered == {day for start, stop in found.missing for day in range(start.day, stop.day)}
    assert sum(map(len, found.partitions.values())) == len(answered)
    if readable == answered:
        assert not any(facts[int(name[-1])][1] for name in found.partitions)


def test_tables_of_a_dimension():
    columns = [Column(name="id", type="int"), Column(name="name", type="string")]
    on = StorageTable(storage="lake", description=TableDescription(**HANDLER))
    more = [*columns, Column(name="district", type="string")]
    light = DimTable(name="light", dimension="station", columns=more, weight=1, storage_tables=[on])
    files = [StorageTable(storage="vault")]
    heavy = DimTable(name="heavy", dimension="station", columns=columns, weight=9, storage_tables=files)
    with opened(*CUBE, light, heavy) as cubes:
        assert "`vault_heavy`" in cubes.rewrite("select name from station").sql
        assert "`lake_light`" in cubes.rewrite("select name, district from station").sql
