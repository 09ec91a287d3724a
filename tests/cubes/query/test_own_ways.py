"""Facts that tell one field in different ways: by a column, or by the join chains that begin at other columns."""

import duckdb
import pytest

from hbstore.cubes import PartitionDesc, parse_documents
from hbstore.cubes.fields import Edge, JoinChain
from hbstore.cubes.logical_tables import Column, DimTable, Fact, StorageTable
from hbstore.errors import NoCandidate
from tests.cubes.query.spark_in_duckdb import define, in_duckdb
from tests.cubes.small_cube import CUBE, opened, stations, table

PATHS = ["rides.station_id = station.id"], ["rides.dock_id = dock.id", "dock.station_id = station.id"]
DOCKS = parse_documents(
    "{kind: dimension, name: dock, dim_attributes: [{name: id, type: int}, {name: station_id, type: int}]}", "yaml"
)
ROWS = {
    "named": ("minutes INT, station_name VARCHAR", "(1, 'Ulm'), (2, NULL)"),
    "keyed": ("minutes INT, station_id INT", "(10, 7), (20, 9), (40, NULL)"),
    "docked": ("minutes INT, dock_id INT", "(100, 1), (200, 2)"),
}
"""The columns and the rows of each fact: named has those of the 1st of January, keyed of the 2nd, docked of the 3rd."""
BY_NAME = "select {field}, minutes from rides where time_range_in(start_time, '2015-01-01', '{stop}')"


def rides(*facts, **changes):
    """The cube with some of the facts, a day of partitions for each."""
    storage, vault, cube, station = CUBE
    ways = JoinChain(name="place", paths=[[Edge.parse(edge) for edge in path] for path in PATHS])
    cube = cube.changed(
        join_chains=[cube.join_chains[0], ways],
        dim_attributes=[*cube.dim_attributes, cube.dim_attributes[2].changed(name="dock_id")],
        **changes,
    )
    docks = DimTable(
        name="docks",
        dimension="dock",
        columns=[Column(name="id", type="int"), Column(name="station_id", type="int")],
        storage_tables=[StorageTable(storage="lake")],
    )
    return opened(
        *(storage, vault, *DOCKS, station, cube),
        *(_fact(name) for name in facts),
        *(stations(StorageTable(storage="lake")), docks),
    )


def _fact(name):
    kinds = dict(one.split() for one in ROWS[name][0].split(", "))
    types = {"INT": "int", "VARCHAR": "string"}
    columns = [Column(name=column, type=types[kind]) for column, kind in kinds.items()]
    return Fact(name=name, cube="rides", columns=columns, storage_tables=[table("lake", "DAILY")])


def register(cubes):
    for one in cubes.list("fact"):
        day = f"2015-01-0{1 + list(ROWS).index(one.name)}"
        cubes.add_partitions(one.name, "lake", [PartitionDesc("DAILY", {"dt": day})])


def rows(rewritten):
    with duckdb.connect() as db:
        define(db)
        db.execute("CREATE SCHEMA shop")
        for day, (name, (columns, values)) in enumerate(ROWS.items(), 1):
            db.execute(f"CREATE TABLE shop.lake_{name} ({columns}, dt VARCHAR DEFAULT '2015-01-0{day}')")
            db.execute(
                f"INSERT INTO shop.lake_{name} ({columns.replace(' INT', '').replace(' VARCHAR', '')}) VALUES {values}"
            )
        db.execute("CREATE TABLE shop.lake_stations AS SELECT * FROM (VALUES (7, 'Ulm'), (8, 'Bonn')) t(id, name)")
        db.execute("CREATE TABLE shop.lake_docks AS SELECT * FROM (VALUES (1, 8), (2, 7)) t(id, station_id)")
        return sorted(db.execute(in_duckdb(rewritten.sql)).fetchall(), key=repr)


def asked(cubes, field, stop, **said):
    return cubes.rewrite(BY_NAME.format(field=field, stop=stop), **said)


def test_an_attribute_is_a_column_of_one_fact_and_behind_a_chain_from_another():
    with rides("named", "keyed") as cubes:
        register(cubes)
        rewritten = asked(cubes, "station_name", "2015-01-03")
        assert rows(rewritten) == [("Ulm", 11), (None, 62)]
        assert set(rewritten.reads) == {"lake_named", "lake_keyed", "lake_stations"}
        assert [one.taken for one in rewritten.candidates] == [True, True]
        # A condition, an aggregate of the attribute, and an expression of it are computed from the same rows.
        assert rows(cubes.rewrite(f"{rewritten_text('upper(station_name)')} and station_name like 'U%'")) == [
            ("ULM", 11)
        ]
        assert rows(cubes.rewrite(rewritten_text("max(station_name)"))) == [("Ulm", 73)]


def rewritten_text(field):
    return BY_NAME.format(field=field, stop="2015-01-03")


def test_facts_reach_a_field_by_different_paths_of_one_chain():
    with rides("keyed", "docked") as cubes:
        register(cubes)
        range_ = "time_range_in(start_time, '2015-01-02', '2015-01-04')"
        rewritten = cubes.rewrite(f"select place.name, minutes from rides where {range_}")
        assert rows(rewritten) == [("Bonn", 100), ("Ulm", 210), (None, 60)]
        both = cubes.rewrite(f"select place.name, place.id + 1 as next, minutes from rides where {range_}")
        assert rows(both) == [("Bonn", 9, 100), ("Ulm", 8, 210), (None, None, 60)]
        assert both.sql.count("JOIN") == rewritten.sql.count("JOIN") == 3  # two fields of one chain, joined once


def test_where_one_way_is_enough_for_all_rows_the_dimension_is_joined_once():
    with rides("keyed") as cubes:
        register(cubes)
        rewritten = cubes.rewrite(BY_NAME.format(field="place.name", stop="2015-01-03").replace("01-01", "01-02"))
        assert "AS `rides` LEFT JOIN" in " ".join(rewritten.sql.split())
        assert rows(rewritten) == [("Ulm", 10), (None, 60)]


def test_an_inner_join_drops_the_rows_that_meet_no_row_of_the_dimension():
    with rides("named", "keyed") as cubes:
        register(cubes)
        rewritten = asked(cubes, "station_name", "2015-01-03", options={"join_type": "inner"})
        assert rows(rewritten) == [("Ulm", 11), (None, 2)]


@pytest.mark.parametrize("options", [{"join_chains": "false"}, {"join_type": "full"}, {"join_type": "right"}])
def test_options_that_speak_of_all_joins_leave_one_way_for_all(options):
    with rides("named", "keyed") as cubes:
        register(cubes)
        with pytest.raises(NoCandidate, match="2015-01-02"):
            asked(cubes, "station_name", "2015-01-03", options=options)
        assert asked(cubes, "station_name", "2015-01-02", options=options).reads.keys() == {"lake_named"}


def test_a_chain_to_many_rows_is_joined_behind_all_rows():
    """In each table by itself it could not become a bridge."""
    with rides("named", "keyed") as cubes:
        cube = cubes.get("cube", "rides")
        (edge,) = cube.join_chains[0].paths[0]
        many = edge.__class__.parse(f"{edge}(many)")
        cubes.alter(cube.changed(join_chains=[JoinChain(name="city", paths=[[many]])]))
        register(cubes)
        with pytest.raises(NoCandidate, match="2015-01-0"):
            asked(cubes, "station_name", "2015-01-03")


def test_a_column_that_the_chain_begins_at_counts_only_while_it_is_right():
    with rides("named", "keyed") as cubes:
        register(cubes)
        keyed = cubes.get("fact", "keyed")
        dated = [one.changed(start_time="2015-01-03") if one.name == "station_id" else one for one in keyed.columns]
        cubes.alter(keyed.changed(columns=dated))
        with pytest.raises(NoCandidate, match=r"\[2015-01-02, 2015-01-03\)"):
            asked(cubes, "station_name", "2015-01-03")


def test_candidates_say_of_each_table_what_its_own_way_gives():
    with rides("named", "keyed", "docked") as cubes:
        register(cubes)
        found = cubes.candidates("rides", ["station_name", "minutes"], ("start_time", "2015-01-02", "2015-01-03"))
        assert {one.fact: (one.able, one.cause) for one in found} == {
            "named": (False, "MISSING_PARTITIONS"),
            "keyed": (True, None),
            "docked": (False, "COLUMN_NOT_FOUND"),
        }
