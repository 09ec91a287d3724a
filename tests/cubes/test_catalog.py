"""The catalog: documents created, read, altered and dropped, the storage tables that follow them, and every error."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import AlreadyExists, Column, DatabaseNotFound, InvalidName, Table
from hbstore.cubes import KINDS, Cubes, DerivedCube, Dimension, DimTable, Fact, TableDescription
from hbstore.cubes import Column as Field
from hbstore.cubes.logical_tables import Serde
from hbstore.cubes.storage_tables import table_of
from hbstore.errors import InvalidModel, ModelInUse, ModelNotFound, WriteConflict
from hbstore.model.objects import StorageDescriptor
from hbstore.model.stored_as import PROVIDER, stored_as
from hbstore.publishing import PartitionWrite, Publisher
from hbstore.store.manifest import TRUNCATIONS, Manifest
from tests.cubes.conftest import RIDES, days, on, sample, without_storage

TABLES = ["archive_rides_daily", "archive_stations", "lake_rides_daily", "lake_rides_raw", "lake_stations"]


def test_what_is_created_is_read_as_it_was(cubes):
    for kind in KINDS:
        wanted = sorted((one for one in RIDES if one.kind == kind), key=lambda one: one.name)
        assert cubes.list(kind) == wanted
        assert cubes.names(kind) == [one.name for one in wanted]
        for one in wanted:
            assert cubes.get(kind, one.name.upper()) == one
    assert cubes.cube("fares") == cubes.get("cube", "fares") == sample("fares")
    assert (cubes.fact("rides_raw"), cubes.dimtable("stations")) == (sample("rides_raw"), sample("stations"))


def test_documents_are_created_in_an_order_that_works(empty):
    assert empty.create_all(reversed(RIDES)) != []
    assert empty.create_all(RIDES, if_not_exists=True) == []
    with pytest.raises(AlreadyExists):
        empty.create_all(RIDES)


def test_a_fact_has_its_storage_tables(cubes):
    assert cubes.store.table_names("shop") == TABLES
    table = cubes.store.get_table("shop", cubes.storage_table("Rides_Raw", "Lake"))
    assert table.name == "lake_rides_raw"
    assert table.partition_columns == (Column("dt", "string"), Column("bt", "string"), Column("bike_kind", "string"))
    assert "bike_kind" not in {column.name for column in table.columns}  # it is a partition column
    assert table.columns[-1] == Column("line_number", "bigint", "in the file")
    assert (table.location, table.table_type) == ("hdfs://namenode:8020/lake/rides_raw", "EXTERNAL_TABLE")
    assert table.storage.input_format.endswith("MapredParquetInputFormat")
    assert table.storage.serde.name.endswith("ParquetHiveSerDe")
    parameters = dict(table.parameters)
    parameters = {key: value for key, value in parameters.items() if ".timeline.cache." not in key}
    assert parameters == {
        "EXTERNAL": "TRUE",
        "cube.storagetable.fact": "rides_raw",
        "cube.storagetable.cube": "rides",
        "cube.storagetable.storage": "lake",
        "cube.storagetable.time.partcols": "dt,bt",
        "cube.storagetable.update.periods": "HOURLY",
    }
    archive = cubes.store.get_table("shop", "archive_rides_daily")
    assert archive.key_types[0].name == "date"
    assert archive.parameters["retention"] == "forever"


def test_a_dimension_table_has_no_timelines(cubes):
    parameters = cubes.store.get_table("shop", "lake_stations").parameters
    assert parameters["cube.storagetable.time.partcols"] == "dt"
    assert parameters["cube.storagetable.dimtable"] == "stations"
    assert parameters["cube.storagetable.dimension"] == "station"
    assert "cube.storagetable.update.periods" not in parameters
    assert cubes.store.get_table("shop", "archive_stations").partition_columns == ()


def test_descriptions_say_what_uses_what(cubes):
    assert cubes.describe("storage", "archive")["used_by"] == ["fact rides_daily", "dimtable stations"]
    found = cubes.describe("cube", "rides")
    assert (found["derived_cubes"], found["facts"]) == (["fares"], ["rides_daily", "rides_raw"])
    assert found["kind"] == "cube"
    assert cubes.describe("dimension", "station")["dimtables"] == ["stations"]
    tables = cubes.describe("fact", "rides_daily")["tables"]
    assert tables == {"lake": "lake_rides_daily", "archive": "archive_rides_daily"}
    assert cubes.describe("cube", "fares")["parent"] == "rides"


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_there_is_named(cubes, kind):
    for call in (cubes.get, cubes.describe, cubes.drop):
        with pytest.raises(ModelNotFound) as caught:
            call(kind, "none")
        assert caught.value.fields["name"] == "shop.none"
    document = next(one for one in RIDES if one.kind == kind).model_copy(update={"name": "none"})
    with pytest.raises((ModelNotFound, InvalidModel)):
        cubes.alter(document)


def test_a_database_that_is_not_there_has_no_lists(cubes):
    nowhere = Cubes(cubes.store, "nowhere")
    for listing in (nowhere.names, nowhere.list):
        with pytest.raises(DatabaseNotFound, match="nowhere"):
            listing("fact")
    cubes.store.create_database("nowhere")
    assert nowhere.list("fact") == nowhere.names("fact") == []


def test_other_words_are_no_kinds(cubes):
    with pytest.raises(InvalidModel):
        cubes.get("view", "rides")
    with pytest.raises(ModelNotFound):
        cubes.storage_table("none", "lake")
    with pytest.raises(ModelNotFound) as caught:
        cubes.storage_table("rides_raw", "archive")
    assert caught.value.fields["storages"] == "lake"
    with pytest.raises(InvalidName):
        Cubes(cubes.store, "a b")
    with pytest.raises(DatabaseNotFound):
        Cubes(cubes.store, "none").create(sample("lake"))


@pytest.mark.parametrize("document", RIDES, ids=str)
def test_nothing_is_created_twice(cubes, document):
    with pytest.raises(AlreadyExists):
        cubes.create(document)
    cubes.create(document, if_not_exists=True)
    assert cubes.get(document.kind, document.name) == document


@pytest.mark.parametrize(
    "document",
    [
        DerivedCube(name="station", parent="rides"),
        Dimension(name="rides", dim_attributes=[{"name": "id", "type": "int"}]),
        sample("rides").changed(name="fares", join_chains=[], dim_attributes=sample("rides").dim_attributes[:2]),
        DimTable(name="rides_raw", dimension="station", columns=[Field(name="id", type="int")]),
        Fact(name="stations", cube="rides", columns=[Field(name="fare", type="int")]),
    ],
    ids=str,
)
def test_kinds_that_are_named_alike_share_their_names(cubes, document):
    with pytest.raises(AlreadyExists):
        cubes.create(document)
    assert cubes.store.table_names("shop") == TABLES


FACT = sample("rides_daily").changed(name="more")
MISSING = {
    "a derived cube's parent": (DerivedCube(name="more", parent="none"), "parent"),
    "a derived cube as parent": (DerivedCube(name="more", parent="fares"), "parent"),
    "a dimension as parent": (DerivedCube(name="more", parent="station"), "parent"),
    "a measure": (DerivedCube(name="more", parent="rides", measures=["fare", "station_id"]), "measures.1"),
    "an attribute": (DerivedCube(name="more", parent="rides", dim_attributes=["fare"]), "dim_attributes.0"),
    "a fact's cube": (FACT.changed(cube="none"), "cube"),
    "a fact of a derived cube": (FACT.changed(cube="fares"), "cube"),
    "a fact's column": (FACT.changed(columns=[*FACT.columns, Field(name="wind", type="int")]), "columns.3"),
    "a storage": (on(FACT, "archive", storage="none"), "storage_tables.1.storage"),
    "a time dimension": (
        on(
            FACT,
            "archive",
            partition_columns=[Field(name="pt", type="string")],
            time_partition_columns=["pt"],
        ),
        "storage_tables.1.time_partition_columns",
    ),
    "a dimension": (sample("stations").changed(name="more", dimension="none"), "dimension"),
    "a dimension's column": (
        sample("stations").changed(name="more", columns=[Field(name="height", type="int")]),
        "columns.0",
    ),
}


@pytest.mark.parametrize(("document", "at"), MISSING.values(), ids=MISSING)
def test_what_is_named_has_to_be_there(cubes, document, at):
    altered = document.model_copy(update={"name": _existing(document)})
    for call, one in ((cubes.create, document), (cubes.alter, altered)):
        with pytest.raises(InvalidModel) as caught:
            call(one)
        assert (caught.value.fields["kind"], caught.value.fields["at"]) == (document.kind, at)
    assert cubes.store.table_names("shop") == TABLES
    assert cubes.names(document.kind) == sorted(one.name for one in RIDES if one.kind == document.kind)


def _existing(document):
    return {"derived_cube": "fares", "fact": "rides_daily", "dimtable": "stations"}[document.kind]


def test_a_table_of_somebody_else_is_not_taken(empty):
    empty.store.create_table(Table("shop", "archive_rides_daily", columns=[Column("x", "int")]))
    empty.create_all(one for one in RIDES if one.kind not in ("fact", "dimtable"))
    with pytest.raises(AlreadyExists) as caught:
        empty.create(sample("rides_daily"))
    assert str(caught.value.fields["table"]) == "shop.archive_rides_daily"
    assert empty.names("fact") == []
    assert empty.store.table_names("shop") == ["archive_rides_daily"]
    empty.create(without_storage(sample("rides_daily"), "archive"))
    with pytest.raises(AlreadyExists):
        empty.alter(sample("rides_daily"))
    empty.drop("fact", "rides_daily")
    assert empty.store.table_names("shop") == ["archive_rides_daily"]


def test_altering_a_fact_alters_its_tables(cubes):
    cubes.store.alter_table(_with(cubes.store.get_table("shop", "archive_rides_daily"), {"of": "somebody"}))
    description = TableDescription(location="s3://elsewhere", table_properties={"colour": "blue"})
    fact = on(sample("rides_daily"), "archive", update_periods=["DAILY", "MONTHLY"], description=description)
    fact = fact.changed(columns=[*fact.columns, Field(name="bike_kind", type="string")], weight=30.0)
    cubes.alter(fact)
    assert cubes.fact("rides_daily") == fact
    table = cubes.store.get_table("shop", "archive_rides_daily")
    assert table.parameters["cube.storagetable.update.periods"] == "DAILY,MONTHLY"
    assert (table.parameters["of"], table.parameters["colour"]) == ("somebody", "blue")
    assert "retention" not in table.parameters
    assert (table.location, table.columns[-1].name) == ("s3://elsewhere", "bike_kind")
    assert [one.update_period.name for one in cubes.timelines("rides_daily", storage="archive")] == ["DAILY", "MONTHLY"]


@pytest.mark.parametrize(
    ("described", "form", "parameters"),
    [
        ({}, "text", {"serialization.format": "1"}),
        ({"serde": {"parameters": {"field.delim": "|"}}}, "text", {"field.delim": "|", "serialization.format": "|"}),
        ({"format": "csv"}, "csv", {"field.delim": ",", "serialization.format": ",", "escape.delim": "\\"}),
        ({"format": "orc"}, "orc", {"serialization.format": "1"}),
        ({"input_format": stored_as("parquet").input_format}, "parquet", {"serialization.format": "1"}),
        ({"serde": {"name": stored_as("orc").serde.library}}, "orc", {"serialization.format": "1"}),
        ({"serde": {"library": stored_as("orc").serde.library}}, "orc", {"serialization.format": "1"}),
        ({"table_properties": {PROVIDER: "Parquet"}}, "parquet", {"serialization.format": "1"}),
    ],
)
def test_a_storage_table_has_the_classes_of_its_format(described, form, parameters):
    fact = on(sample("rides_daily"), "archive", description=TableDescription.model_validate(described))
    table = table_of("shop", fact, next(one for one in fact.storage_tables if one.storage == "archive"))
    of = stored_as(form)
    assert (table.storage.input_format, table.storage.output_format) == (of.input_format, of.output_format)
    assert (table.storage.serde.library, table.storage.serde.parameters) == (of.serde.library, parameters)
    assert PROVIDER not in table.parameters


def test_classes_of_ones_own_and_storage_handlers_stay():
    own = TableDescription(input_format="a.B", output_format="a.C", serde=Serde(library="a.D"))
    fact = on(sample("rides_daily"), "archive", description=own)
    at = next(number for number, one in enumerate(fact.storage_tables) if one.storage == "archive")
    storage = table_of("shop", fact, fact.storage_tables[at]).storage
    assert (storage.input_format, storage.output_format, storage.serde.library) == ("a.B", "a.C", "a.D")
    handled = on(sample("rides_daily"), "archive", description=TableDescription(storage_handler="a.Handler"))
    assert table_of("shop", handled, handled.storage_tables[at]).storage == StorageDescriptor()


def test_altering_a_fact_gives_a_format_to_what_has_none(cubes):
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01", "2015-01-02"))
    store, before = cubes.store, cubes.store.get_table("shop", "archive_rides_daily")
    own = stored_as("orc")
    first, second = cubes.partitions("rides_daily", "archive")
    store.alter_table(replace(before, storage=StorageDescriptor()))  # as it was made before there were formats
    store.alter_partitions("shop", before.name, [replace(first, storage=None), replace(second, storage=own)])
    assert store.get_partition("shop", before.name, first.values).storage.serde.library is None
    cubes.alter(sample("rides_daily"))
    assert store.get_table("shop", before.name).storage == before.storage
    mended, kept = cubes.partitions("rides_daily", "archive")
    assert (mended, kept) == (first, replace(second, storage=own))


def _with(table, parameters):
    return replace(table, parameters={**table.parameters, **parameters})


def test_a_period_may_be_added_to_a_table_with_partitions(cubes):
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01", "2015-01-02"))
    cubes.alter(on(sample("rides_daily"), "archive", update_periods=["DAILY", "HOURLY"]))
    assert cubes.store.timelines.check("shop.archive_rides_daily") == []
    (daily,) = cubes.timelines("rides_daily", storage="archive", update_period="DAILY")
    assert len(list(daily.ranges())) == 1
    assert len(cubes.partitions("rides_daily", "archive")) == 2


def test_a_storage_may_be_added_and_taken_out(cubes):
    cubes.add_partitions("rides_daily", "archive", days("2015-01-01"))
    cubes.alter(without_storage(sample("rides_daily"), "archive"))
    assert "archive_rides_daily" not in cubes.store.table_names("shop")
    cubes.alter(sample("rides_daily"))
    assert cubes.store.table_names("shop") == TABLES
    assert cubes.partitions("rides_daily", "archive") == []
    assert cubes.store.timelines.check("shop.archive_rides_daily") == []


def test_partition_columns_stay(cubes):
    altered = on(sample("rides_daily"), "archive", partition_columns=[Field(name="dt", type="timestamp")])
    with pytest.raises(InvalidModel) as caught:
        cubes.alter(altered)
    assert caught.value.fields["at"] == "storage_tables.1.partition_columns"
    assert cubes.fact("rides_daily") == sample("rides_daily")


def test_what_is_used_is_altered_only_so_that_it_can_be(cubes):
    rides = sample("rides")
    with pytest.raises(ModelInUse) as caught:
        cubes.alter(rides.changed(measures=rides.measures[:1], expressions=()))
    assert (str(caught.value.fields["used_by"]), caught.value.fields["at"]) == ("derived_cube fares", "measures.0")
    with pytest.raises(ModelInUse) as caught:
        cubes.alter(rides.changed(time_dimensions={"start_time": "pt"}))
    assert str(caught.value.fields["used_by"]) == "fact rides_daily"
    station = sample("station")
    with pytest.raises(ModelInUse):
        cubes.alter(station.changed(dim_attributes=station.dim_attributes[:1]))
    assert cubes.cube("rides") == rides
    altered = rides.changed(description="Another", time_dimensions={"start_time": "dt"})
    cubes.alter(altered)
    assert cubes.cube("rides") == altered


@pytest.mark.parametrize(
    ("kind", "name", "users"),
    [
        ("storage", "archive", "fact rides_daily, dimtable stations"),
        ("cube", "rides", "derived_cube fares, fact rides_daily, fact rides_raw"),
        ("dimension", "station", "dimtable stations"),
    ],
)
def test_what_is_used_is_not_dropped(cubes, kind, name, users):
    with pytest.raises(ModelInUse) as caught:
        cubes.drop(kind, name)
    assert caught.value.fields["used_by"] == users
    assert cubes.get(kind, name) == sample(name)


def test_dropping_a_storage_with_what_is_on_it(cubes):
    cubes.drop("storage", "archive", cascade=True)
    assert cubes.store.table_names("shop") == [one for one in TABLES if not one.startswith("archive")]
    assert cubes.fact("rides_daily") == without_storage(sample("rides_daily"), "archive")
    assert cubes.names("storage") == ["lake"]


def test_dropping_a_cube_with_what_belongs_to_it(cubes):
    cubes.drop("cube", "rides", cascade=True)
    assert cubes.store.table_names("shop") == ["archive_stations", "lake_stations"]
    assert [cubes.names(kind) for kind in ("cube", "derived_cube", "fact")] == [[], [], []]
    cubes.drop("dimension", "station", cascade=True)
    assert cubes.store.table_names("shop") == []
    assert cubes.names("storage") == ["archive", "lake"]


def test_what_nobody_uses_is_dropped(cubes):
    for kind, name in [("fact", "Rides_Raw"), ("cube", "fares"), ("dimtable", "stations"), ("dimension", "rider")]:
        cubes.drop(kind, name)
        with pytest.raises(ModelNotFound):
            cubes.get(kind, name)
    assert cubes.store.table_names("shop") == ["archive_rides_daily", "lake_rides_daily"]
    cubes.create(sample("rides_raw"))
    assert cubes.partitions("rides_raw", "lake") == []


def test_a_fact_is_not_dropped_while_files_of_its_tables_are_deleted(cubes):
    values = ("2014-01-01",) * len(cubes.store.get_table("shop", "lake_rides_daily").partition_columns)
    truncation = Manifest(f"{TRUNCATIONS}7", "", (PartitionWrite(values, "file:/lake/a"),))
    row = Publisher(cubes.store).lease("shop.lake_rides_daily", truncation)
    with pytest.raises(WriteConflict, match="are being deleted"):
        cubes.drop("fact", "rides_daily")
    assert "rides_daily" in cubes.names("fact")
    cubes.store.publications.withdraw(row, truncation.id)
    cubes.drop("fact", "rides_daily")


def test_tables_that_are_gone_are_no_reason_to_keep_a_fact(cubes):
    cubes.store.drop_table("shop", "lake_rides_daily")
    cubes.drop("fact", "rides_daily")
    assert cubes.names("fact") == ["rides_raw"]


def test_the_model_of_a_dropped_database_goes(cubes):
    cubes.store.drop_database("shop", cascade=True)
    cubes.store.create_database("shop")
    assert [cubes.names(kind) for kind in KINDS] == [[]] * len(KINDS)
