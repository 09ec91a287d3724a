"""get_partitions_with_specs: which partitions, which of their fields, and how little is sent."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from hbstore import Column, Partition
from hbstore.errors import InvalidInput
from hbstore.metastore.methods.partition_projections import FilterMode
from hbstore.metastore.methods.struct_cuts import cut_of
from hbstore.model.objects import SerDe, StorageDescriptor
from tests.metastore.asking import add, table_of, values
from tests.metastore.client import STORED, TYPES, message
from tests.metastore.writing import opened

TEXT_INPUT = "org.apache.hadoop.mapred.TextInputFormat"
TEXT_OUTPUT = "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat"
TEXT_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
DAYS = [(f"2013-01-{day:02d}", str(hour)) for day in range(1, 4) for hour in (1, 2, 10)]
PLACE = {"dbName": "shop", "tblName": "sales"}
PARTITION = STORED.Partition


@pytest.fixture
def shop(asking):
    add(asking, table_of("sales", ds="date", hour="int"), DAYS)
    return asking


def request_of(*fields, mode=None, filters=None, include=None, exclude=None, **place):
    """What is asked for: fields, and which partitions."""
    projection = TYPES.GetProjectionsSpec(list(fields), include, exclude)
    where = None if mode is None else TYPES.GetPartitionsFilterSpec(mode, filters)
    return TYPES.GetPartitionsRequest(**{**PLACE, **place}, projectionSpec=projection, filterSpec=where)


def specs(shop, *fields, **options):
    return shop.get_partitions_with_specs(request_of(*fields, **options)).partitionSpec


def whole(specs):
    """The partitions of specs, put together as Hive's clients do."""
    found = []
    for spec in specs:
        assert (spec.dbName, spec.tableName, spec.catName) == ("shop", "sales", "hive")
        if spec.partitionList is not None:
            found += spec.partitionList.partitions
            continue
        shared = spec.sharedSDPartitionSpec
        for one in shared.partitions:
            location = None if one.relativePath is None else shared.sd.location + one.relativePath
            fields = {name: getattr(shared.sd, name) for _, (_, name, *_) in sorted(shared.sd.thrift_spec.items())}
            found.append(
                STORED.Partition(
                    values=one.values,
                    dbName=spec.dbName,
                    tableName=spec.tableName,
                    createTime=one.createTime,
                    lastAccessTime=one.lastAccessTime,
                    sd=STORED.StorageDescriptor(**{**fields, "location": location}),
                    parameters=one.parameters,
                    privileges=one.privileges,
                )
            )
    return found


def test_without_names_of_fields_all_are_sent(shop):
    (spec,) = specs(shop)
    assert spec.rootPath == "/sales"
    assert whole([spec]) == shop.get_partitions("shop", "sales", -1)
    assert shop.notes["partitions"] == len(DAYS)


def test_locations_and_values(shop):
    (spec,) = specs(shop, "values", "sd.location")
    assert [(tuple(one.values), one.relativePath) for one in spec.sharedSDPartitionSpec.partitions] == [
        (one, f"/ds={one[0]}/hour={one[1]}") for one in DAYS
    ]
    assert {(one.createTime, one.parameters) for one in spec.sharedSDPartitionSpec.partitions} == {(None, None)}
    assert spec.sharedSDPartitionSpec.sd == STORED.StorageDescriptor(location="/sales")


def test_locations_and_values_are_a_tenth_of_the_bytes(asking):
    columns = [Column(f"column_{at}", "string", "what it is") for at in range(10)]
    storage = StorageDescriptor(input_format=TEXT_INPUT, output_format=TEXT_OUTPUT, serde=SerDe(library=TEXT_SERDE))
    parameters = {"numFiles": "5", "numRows": "1000", "totalSize": "123456", "transient_lastDdlTime": "1700000000"}
    asking.store.create_table(replace(table_of("sales", ds="date", hour="int"), columns=columns, storage=storage))
    made = [Partition((f"2013-01-{at % 28 + 1:02d}", str(at)), parameters=parameters) for at in range(200)]
    asking.store.add_partitions("shop", "sales", made)
    all_of_it = len(asking.raw("get_partitions", "shop", "sales", -1))
    assert len(asking.raw("get_partitions_with_specs", request_of("values", "sd.location"))) < all_of_it / 10


@pytest.mark.parametrize(
    ("mode", "filters", "expected"),
    [
        (FilterMode.BY_NAMES, ["ds=2013-01-02/hour=2", "ds=nope/hour=1", "hour=1/ds=2013-01-01"], [DAYS[0], DAYS[4]]),
        (FilterMode.BY_NAMES, [], []),
        (FilterMode.BY_VALUES, ["2013-01-02"], DAYS[3:6]),
        (FilterMode.BY_VALUES, ["", "2"], DAYS[1::3]),
        (FilterMode.BY_VALUES, ["nope"], []),
        (FilterMode.BY_VALUES, [], DAYS),
        (FilterMode.BY_EXPR, ['ds = "2013-01-02"'], DAYS[3:6]),
        (FilterMode.BY_EXPR, ["hour = 1 or hour = 2", 'ds > "2013-01-02"'], DAYS[6:8]),
        (FilterMode.BY_EXPR, ["hour = 1 or hour = 2", "", 'ds < "2013-01-02"'], DAYS[:2]),
        (FilterMode.BY_EXPR, [], DAYS),
        (None, None, DAYS),
    ],
)
def test_partitions_are_selected_in_every_way(shop, mode, filters, expected):
    assert values(whole(specs(shop, mode=mode, filters=filters))) == expected
    assert shop.notes["partitions"] == len(expected)


FIELDS = [
    ("createTime",),
    ("values", "parameters"),
    ("values", "lastAccessTime", "createTime", "sd.location"),
    ("sd",),
    ("sd.location", "sd.cols.name", "sd.serdeInfo.serializationLib"),
    ("sd.cols.name", "values"),
    ("sd.cols", "sd.cols.type", "sd.location"),
    ("dbName", "tableName"),
]


@pytest.mark.parametrize("fields", FIELDS)
def test_what_is_asked_for_is_as_it_is_stored(shop, fields):
    cut = cut_of(PARTITION, fields)
    expected = [kept(one, cut) for one in shop.get_partitions("shop", "sales", -1)]
    found = whole(specs(shop, *fields))
    assert [kept(one, cut) for one in found] == expected
    everything = dict.fromkeys(set(PARTITION.thrift_spec) - {2, 3})  # specs name the table in any case
    assert all(kept(one, everything).keys() <= {name.partition(".")[0] for name in fields} for one in found)


def kept(value, cut):
    """A struct of thriftpy2's as a dict of those fields that a cut leaves, and that say something."""
    if isinstance(value, list):
        return [kept(one, cut) for one in value]
    if cut is None or not hasattr(value, "thrift_spec"):
        return plain(value)
    names = {number: spec[1] for number, spec in value.thrift_spec.items()}
    found = {names[number]: kept(getattr(value, names[number]), inside) for number, inside in cut.items()}
    return {name: one for name, one in found.items() if one not in (None, {})}


def plain(value):
    if hasattr(value, "thrift_spec"):
        return kept(value, dict.fromkeys(value.thrift_spec))
    return [plain(one) for one in value] if isinstance(value, list) else value


def test_parameters_by_patterns(shop):
    shop.store.alter_partitions("shop", "sales", [Partition(DAYS[0], parameters={"a_b": "1", "axb": "2", "c": "3"})])
    by_name = {"mode": FilterMode.BY_NAMES, "filters": ["ds=2013-01-01/hour=1"]}

    def names(**patterns):
        (one,) = whole(specs(shop, "values", "parameters", **by_name, **patterns))
        return set(one.parameters)

    assert {"a_b", "axb", "c"} <= names()
    assert names(include="a%") == {"a_b", "axb"}
    assert names(include="a\\_b") == {"a_b"}
    assert names(include="a%", exclude="%x%") == {"a_b"}
    assert "c" not in names(exclude="c")
    assert names(include="", exclude="") == names()
    for fields in (("values", "parameters"), ()):
        assert {one.parameters for one in whole(specs(shop, *fields, include="none of them"))} == {None}


def test_partitions_elsewhere_are_in_a_list_of_their_own(shop):
    shop.store.alter_partitions(
        "shop", "sales", [Partition(DAYS[1], location="/else/where"), Partition(DAYS[2], location="/sales_too/x")]
    )
    shared, listed = specs(shop, "values", "sd.location")
    assert len(shared.sharedSDPartitionSpec.partitions) == len(DAYS) - 2
    assert [(tuple(one.values), one.sd.location) for one in listed.partitionList.partitions] == [
        (DAYS[1], "/else/where"),
        (DAYS[2], "/sales_too/x"),
    ]
    assert listed.partitionList.partitions[0].parameters is None
    assert sorted(values(whole(specs(shop)))) == sorted(DAYS)


def test_storages_that_differ_are_specs_of_their_own(shop):
    others = [
        Partition(one, location=f"/sales/{at}", storage=StorageDescriptor(input_format=f"format {at % 2}"))
        for at, one in enumerate(DAYS[:4])
    ]
    shop.store.alter_partitions("shop", "sales", others)
    found = specs(shop)
    assert [len(spec.sharedSDPartitionSpec.partitions) for spec in found] == [2, 2, 5]
    assert [spec.sharedSDPartitionSpec.sd.inputFormat for spec in found[:2]] == ["format 0", "format 1"]
    expected = {tuple(one.values): one for one in shop.get_partitions("shop", "sales", -1)}
    assert {tuple(one.values): one for one in whole(found)} == expected
    assert len(specs(shop, "values", "sd.location")) == 1  # as they do not differ in what is asked for


def test_many_storages_are_not_shared(asking):
    asking.store.create_table(table_of("sales", ds="int"))
    made = [Partition((str(at),), storage=StorageDescriptor(input_format=str(at))) for at in range(100)]
    asking.store.add_partitions("shop", "sales", made)
    found = specs(asking)
    assert len(found) == 65
    assert len(found[-1].partitionList.partitions) == 36
    assert sorted(int(one.sd.inputFormat) for one in whole(found)) == list(range(100))


def test_a_table_without_partitions_has_no_spec(asking):
    asking.store.create_table(table_of("sales", ds="date"))
    assert specs(asking) == []
    asking.store.create_table(replace(table_of("view", ds="date"), location=None, table_type="VIRTUAL_VIEW"))
    asking.store.add_partitions("shop", "view", [Partition(("2013-01-01",))])
    (spec,) = specs(asking, tblName="view")
    assert values(spec.partitionList.partitions) == [("2013-01-01",)]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"tblName": "nope"}, "the table does not exist"),
        ({"mode": FilterMode.BY_EXPR, "filters": ["amount = 1"]}, "the column is not a partition column"),
        ({"mode": FilterMode.BY_EXPR, "filters": ["hour ="]}, "hour ="),
        ({"mode": FilterMode.BY_EXPR, "filters": ["hour = 1) or (hour = 2"]}, "hour = 1"),
        ({"mode": 7, "filters": ["hour = 1"]}, "no such way to select partitions"),
        ({"mode": FilterMode.BY_VALUES, "filters": ["a", "b", "c"]}, "more values than partition columns"),
    ],
)
def test_errors(shop, options, told):
    with pytest.raises(TYPES.MetaException, match=told):
        specs(shop, **options)


@pytest.mark.parametrize("field", ["nope", "sd.nope", "values.nope", "sd.cols.name.nope", "", "parameters.a"])
def test_fields_that_there_are_not(shop, field):
    with pytest.raises(InvalidInput, match="a partition has no such field"):
        cut_of(PARTITION, [field])
    with pytest.raises(TYPES.MetaException, match="a partition has no such field"):
        specs(shop, "values", field)


def test_random_projections_are_as_they_are_stored(shop):
    chosen = random.Random(7)
    shop.store.alter_partitions("shop", "sales", [Partition(DAYS[3], location="/else", last_access_time=7)])
    names = [*("values", "createTime", "lastAccessTime", "parameters", "sd", "sd.location", "sd.inputFormat")]
    names += [*("sd.cols", "sd.cols.name", "sd.serdeInfo", "sd.serdeInfo.parameters", "sd.bucketCols")]
    stored = {tuple(one.values): one for one in shop.get_partitions("shop", "sales", -1)}
    for _ in range(60):
        fields = ["values", *chosen.sample(names, chosen.randrange(1, 5))]
        cut = cut_of(PARTITION, fields)
        for one in whole(specs(shop, *fields)):
            assert kept(one, cut) == kept(stored[tuple(one.values)], cut), fields


@pytest.mark.parametrize("fields", [("values", "sd.location"), ("parameters", "sd.cols"), ()])
def test_changed_bytes_are_sent_or_named(request, tmp_path, fields):
    request.param = "memory"
    with opened(request, tmp_path) as writing:
        add(writing, table_of("sales", ds="date", hour="int"), DAYS)
        rows = writing.store.rows
        damaged = list(rows.whole_rows(b"", b"\xff"))[1]
        asked = message("get_partitions_with_specs", request_of(*fields, include="num%"))
        for at, byte in enumerate(damaged.payload):
            for other in {0, 8, 12, 255} - {byte}:
                payload = damaged.payload[:at] + bytes([other]) + damaged.payload[at + 1 :]
                rows.write([damaged._replace(payload=payload)], [], 1)
                reply = writing.endpoint.answer(writing.session, asked)
                assert len(b"".join(reply.chunks())) == reply.size
                reply.close()
                error = writing.records[-1].error
                assert error in {None, "MetaException"}, (at, other, writing.records[-1].message)
