"""Copying from and to real Hive Metastores of 2.3 and 4.0."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from thriftpy2.thrift import TApplicationException

from hbstore import Column, Constraint, ConstraintKind, References, Table, connect
from hbstore.errors import InvalidType, TransferConflict
from hbstore.model.structs import decode_partition, encode_database, encode_table
from hbstore.transfer import export_metastore, import_metastore
from tests.metastore.client import STORED, client, exchange, raw_call
from tests.metastore.wire_trees import BOOL, I32, STRING, STRUCT, call, result, strings, structs, texts
from tests.transfer.full import DDL_TIME, assert_same, fill
from tests.transfer.sales import unplaced

NUMBERS = itertools.count()
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
RAW = ["MANAGERAWMETADATA"]


@pytest.fixture(params=["hms_2", "hms_4"])
def hms(request):
    return request.getfixturevalue(request.param)


@pytest.fixture
def database():
    """A name that no other test has."""
    return f"shop_{next(NUMBERS)}"


@pytest.fixture
def back(tmp_path):
    """Another store, to come back to."""
    with connect(f"sqlite://{tmp_path / 'back.db'}") as opened:
        yield opened


def test_by_requests_where_there_is_no_other_way(hms_2, hms_4):
    for hms, expected in ((hms_2, False), (hms_4, True)):
        with hms.open() as metastore:
            assert metastore.by_requests is expected
    with client(hms_4.port) as metastore, pytest.raises(TApplicationException, match="get_table"):
        metastore.get_table("default", "nothing")


def test_it_says_where_a_table_without_a_location_is(hms, store, database):
    unplaced(store, f"{hms.root}/{database}-elsewhere", database)
    first, again = (export_metastore(store, hms.uri, database=database) for _ in range(2))
    assert first.is_complete, first.tables
    assert again.is_complete, again.tables
    assert {one.done for one in again.tables} == {"same"}
    with hms.open() as metastore:
        table = metastore.table(database, "unplaced")
        assert table.location.endswith(f"/{database}.db/unplaced")
        (found,) = metastore.partitions(database, "unplaced", ["ds=a"])
        assert found.location == f"{table.location}/ds=a"


def test_there_and_back(hms, store, back, database):
    fill(store, database, hms.root)
    there = export_metastore(store, hms.uri, database=database, page=2)
    assert there.is_complete, there
    assert {one.table: one.done for one in there.tables} == {
        f"{database}.{name}": "created" for name in ("plain", "sales", "seen")
    }
    sales = there.tables[1]
    assert (sales.partitions.added, sales.partitions.statistics, sales.target.count) == (5, 3, 5)
    done = import_metastore(back, hms.uri, database=database, page=3)
    assert done.is_complete
    assert done.tables[1].source.count == sales.source.count
    assert (done.tables[1].partitions.statistics, done.functions) == (3, 1)
    assert_same(store, back, database)
    # Once more there is nothing to do, in either direction.
    for again in (
        export_metastore(store, hms.uri, database=database),
        import_metastore(back, hms.uri, database=database),
    ):
        assert again.is_complete
        assert {one.done for one in again.tables} == {"same"}
        assert (again.tables[1].partitions.same, again.tables[1].partitions.added) == (5, 0)
        assert (again.functions, again.tables[1].partitions.statistics) == (0, 0)


def test_constraints_go_there_and_back(hms, store, back, database):
    numbers = [Column("id", "int"), Column("of", "int"), Column("note", "string")]
    kind = ConstraintKind
    key = Constraint(kind.PRIMARY_KEY, ["id", "note"], f"key_{database}", relied=True)
    own = [
        key,
        Constraint(kind.UNIQUE, ["note"], "one_note", validated=True),
        Constraint(kind.NOT_NULL, ["ds"], "with_ds", enabled=True),
        Constraint(kind.DEFAULT, ["note"], "noted", "'-'"),
        Constraint(kind.CHECK, ["of"], "some", "of > 0"),
    ]
    to = References(database, "parent", ["id", "note"], key.name, 1, 2)
    foreign = Constraint(kind.FOREIGN_KEY, ["of", "note"], f"to_{database}", references=to)
    store.create_database(database)
    external = {"table_type": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}}
    for name in ("parent", "child"):  # the child is copied first
        place = f"{hms.root}/{database}/{name}"
        store.create_table(Table(database, name, [Column("ds", "string")], numbers, location=place, **external))
    store.hive.constraints.add(database, "parent", own)
    store.hive.constraints.add(database, "child", [foreign])
    there = export_metastore(store, hms.uri, database=database)
    assert import_metastore(back, hms.uri, database=database).constraints == there.constraints
    copied = {name: back.hive.constraints.of(database, name) for name in ("parent", "child")}
    if there.is_complete:
        assert there.constraints == 6
        assert (set(copied["parent"]), copied["child"]) == (set(own), (foreign,))
    else:  # of 2.3, which knows keys alone
        assert {what for what, _ in there.refused} == {f"constraint {one.name} of {database}.parent" for one in own[1:]}
        assert (copied["parent"], copied["child"]) == ((key,), (foreign,))
    assert export_metastore(back, hms.uri, database=database).constraints == 0
    assert import_metastore(back, hms.uri, database=database).is_complete
    # What differs is told, or replaced, with the foreign key that goes with its key.
    back.hive.constraints.drop(database, "parent", key.name)
    back.hive.constraints.add(database, "parent", [replace(key, columns=["id"], name="other")])
    told = import_metastore(back, hms.uri, database=database)
    assert dict(told.refused)[f"constraint {key.name} of {database}.parent"].endswith("exists and differs")
    assert import_metastore(back, hms.uri, database=database, on_conflict="replace").is_complete
    assert back.hive.constraints.of(database, "child") == (foreign,)
    alone = import_metastore(connect("memory://"), hms.uri, database=database, table="child")
    ((what, why),) = alone.refused
    assert what == f"constraint {foreign.name} of {database}.child"
    assert "table that does not exist" in why


def test_a_partition_is_stored_field_for_field(hms_2, store, back, database):
    """By another reader of Thrift's bytes than the one that copies."""
    fill(store, database, hms_2.root)
    export_metastore(store, hms_2.uri, database=database)
    import_metastore(back, hms_2.uri, database=database)
    names = [
        "ds=2013-01-03/hour=__HIVE_DEFAULT_PARTITION__/region=ünïcode",
        "ds=2013-01-02/hour=10/region=a b%2Fc%3Dd%25",
    ]
    for name in names:
        reply = result("get_partition_by_name", raw_call(hms_2.port, "get_partition_by_name", database, "sales", name))
        values = tuple(reply[0][1][1][1][1])
        payload = back.get_partition(database, "sales", values).payload
        stored = tree_of(payload)
        given = reply[0][1]
        assert stored == {number: field for number, field in given.items() if number < 9}
        assert decode_partition(payload).create_time == given[4][1]


def sold(database, root, **fields):
    """A small table, made by another client."""
    keys = [STORED.FieldSchema("ds", "string"), STORED.FieldSchema("hour", fields.pop("kind", "int"))]
    sd = described(f"{root}/{database}/sold")
    given = {"parameters": {"EXTERNAL": "TRUE"}, "tableType": "EXTERNAL_TABLE", **fields}
    return STORED.Table(tableName="sold", dbName=database, sd=sd, partitionKeys=keys, **given)


def described(location):
    return STORED.StorageDescriptor(
        cols=[STORED.FieldSchema("number", "bigint")],
        location=location,
        serdeInfo=STORED.SerDeInfo(serializationLib=LAZY),
    )


def part(database, root, ds, hour):
    sd = described(f"{root}/{database}/sold/{ds}/{hour}")
    return STORED.Partition(values=[ds, hour], dbName=database, tableName="sold", sd=sd, parameters={"at": hour})


def sell(hms, database, *values, kind="int"):
    with client(hms.port) as metastore:
        metastore.create_database(STORED.Database(name=database, locationUri=f"{hms.root}/{database}"))
        metastore.create_table(sold(database, hms.root, kind=kind))
        metastore.add_partitions([part(database, hms.root, *one) for one in values])


def test_fields_that_only_hive_4_has_survive(hms_4, store, database):
    """Databases, tables and partitions as trees of fields: what the metastore gives is stored, and sent back."""
    serde = STRUCT, {2: (STRING, LAZY), 4: (STRING, "of rows"), 5: (STRING, "org.Out"), 6: (STRING, "org.In")}
    place = f"{hms_4.root}/{database}"
    sd = STRUCT, {1: structs({1: (STRING, "number"), 2: (STRING, "int")}), 2: (STRING, f"{place}/t"), 7: serde}
    names = {2: (STRING, database), 3: (STRING, "later")}
    table = {1: names[3], 2: names[2], 7: sd, 8: structs({1: (STRING, "ds"), 2: (STRING, "string")})}
    table |= {9: texts(EXTERNAL="TRUE", **{DDL_TIME: "5"}), 12: (STRING, "EXTERNAL_TABLE"), 18: (I32, 2)}
    part = {1: strings("a"), **names, 6: sd, 7: texts(**{DDL_TIME: "5"})}
    described = {1: (STRING, database), 3: (STRING, place), 10: (STRING, f"{place}/managed")}
    ask(hms_4, "create_database", {1: (STRUCT, described)})
    ask(hms_4, "create_table_req", {1: (STRUCT, {1: (STRUCT, table), 9: strings(*RAW), 10: (STRING, "test")})})
    adding = {1: names[2], 2: names[3], 3: structs(part), 4: (BOOL, False), 5: (BOOL, False)}
    ask(hms_4, "add_partitions_req", {1: (STRUCT, adding)})

    def there():
        wanted = {1: names[2], 2: names[3]}
        request = STRUCT, {**wanted, 8: strings(*RAW), 9: (STRING, "test")}
        return (
            ask(hms_4, "get_database", {1: names[2]}),
            ask(hms_4, "get_table_req", {1: request})[1][1],
            # Which leaves a serde's description out.
            ask(hms_4, "get_partitions_by_names_req", {1: (STRUCT, {**wanted, 3: strings("ds=a")})})[1][1][1][0],
        )

    given = there()
    assert given[0][10] == described[10]
    assert given[1][18] == (I32, 2)
    assert given[1][7][1][7] == (STRUCT, {**serde[1], 3: texts()})
    assert 9 in given[2]  # the catalog
    assert import_metastore(store, hms_4.uri, database=database).is_complete
    stored = (
        encode_database(store.get_database(database)),
        encode_table(store.get_table(database, "later")),
        store.get_partition(database, "later", ["a"]).payload,
    )
    kept = tuple(map(tree_of, stored))
    for ours, theirs in zip(kept, given, strict=True):
        assert {number: ours.get(number) for number in theirs} == theirs
    ask(hms_4, "drop_database", {1: names[2], 2: (BOOL, False), 3: (BOOL, True)})
    assert export_metastore(store, hms_4.uri, database=database).is_complete
    for before, after in zip(given, there(), strict=True):
        own = {4, 9, 25} if before is not given[2] else set()  # when it was created, and the metastore's own number
        assert {number: field for number, field in after.items() if number not in own} == {
            number: field for number, field in before.items() if number not in own
        }


def ask(hms, method, arguments):
    """What a method returns, as a tree."""
    found = result(method, exchange(hms.port, call(method, arguments)))
    assert not found.keys() - {0}, found
    return found[0][1] if found else None


def tree_of(payload):
    return result("", b"\x80\x01\0\2\0\0\0\0\0\0\0\0" + payload)


def test_texts_of_one_value_are_partitions_of_their_own(hms_2, store, database):
    sell(hms_2, database, ("a", "05"), ("a", "5"), ("a", "+5"), ("a", "6"), ("b", "07"), ("b", "noon"))
    done = import_metastore(store, hms_2.uri, database=database)
    (table,) = done.tables
    assert not done.is_complete
    assert table.untyped == ("ds=b/hour=noon",)
    assert table.is_verified
    assert table.left_out == 0
    fives = ["ds=a/hour=5", "ds=a/hour=+5", "ds=a/hour=05"]
    assert store.partition_names(database, "sold") == [*fives, "ds=a/hour=6", "ds=b/hour=07", "ds=b/hour=noon"]
    assert store.partition_names(database, "sold", "hour = 5") == fives
    assert store.get_partition(database, "sold", ("a", "05")).parameters["at"] == "05"


def test_a_table_that_cannot_be_is_told_and_others_go_on(hms_2, store, database):
    sell(hms_2, database, ("a", "x"), kind="array<int>")
    with client(hms_2.port) as metastore:
        other = sold(database, hms_2.root)
        other.tableName = "well"
        metastore.create_table(other)
    done = import_metastore(store, hms_2.uri, database=database)
    assert [what for what, _ in done.refused] == [f"table {database}.sold"]
    assert "array<int>" in done.refused[0][1]
    assert store.table_names(database) == ["well"]
    assert not done.is_complete
    with pytest.raises(InvalidType):
        import_metastore(store, hms_2.uri, database=database, table="sold")


def test_conflicts_with_a_metastore(hms, store, database):
    sell(hms, database, ("a", "1"), ("a", "2"))
    import_metastore(store, hms.uri, database=database)
    with client(hms.port) as metastore:
        changed = part(database, hms.root, "a", "2")
        changed.parameters = {"at": "there", DDL_TIME: "7"}
        metastore.alter_partition(database, "sold", changed)
    for copy in (import_metastore, export_metastore):
        with pytest.raises(TransferConflict, match="ds=a/hour=2") as caught:
            copy(store, hms.uri, database=database)
        assert "on-conflict" in caught.value.hint
    for copy in (import_metastore, export_metastore):
        kept = copy(store, hms.uri, database=database, on_conflict="keep")
        assert kept.tables[0].partitions.kept == ("ds=a/hour=2",)
        assert kept.is_complete
        assert (kept.tables[0].partitions.same, kept.tables[0].target.count) == (1, 1)
    assert store.get_partition(database, "sold", ("a", "2")).parameters["at"] == "2"
    done = export_metastore(store, hms.uri, database=database, on_conflict="replace")
    assert (done.tables[0].partitions.replaced, done.is_complete) == (1, True)
    with client(hms.port) as metastore:
        (found,) = metastore.get_partitions_by_names(database, "sold", ["ds=a/hour=2"])
        assert found.parameters["at"] == "2"
        changed.parameters = {"at": "again", DDL_TIME: "8"}
        metastore.alter_partition(database, "sold", changed)
    done = import_metastore(store, hms.uri, database=database, on_conflict="replace")
    assert (done.tables[0].partitions.replaced, done.is_complete) == (1, True)
    assert store.get_partition(database, "sold", ("a", "2")).parameters["at"] == "again"


def test_partitions_that_a_metastore_refuses_are_named(hms_2, store, database):
    """Its file system does not know such folders; all others are there."""
    sell(hms_2, database, ("a", "1"))
    import_metastore(store, hms_2.uri, database=database)
    table = store.get_table(database, "sold")
    new = [decode_partition(one.payload) for one in store.get_partitions(database, "sold", [("a", "1")])]
    where = [f"{table.location}/a/2", "strange://host/3", f"{table.location}/a/4"]
    made = [replace(new[0], values=("a", str(2 + at)), location=place) for at, place in enumerate(where)]
    store.add_partitions(database, "sold", made)
    done = export_metastore(store, hms_2.uri, database=database)
    (found,) = done.tables
    assert [name for name, _ in found.partitions.refused] == ["ds=a/hour=3"]
    assert "strange" in found.partitions.refused[0][1]
    assert (found.partitions.added, found.is_verified, found.is_complete) == (2, True, False)
    with client(hms_2.port) as metastore:
        assert metastore.get_partition_names(database, "sold", -1) == [f"ds=a/hour={at}" for at in (1, 2, 4)]
