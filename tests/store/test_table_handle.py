"""The handle of a table: the store's answers, by one filter argument and with partitions in any form."""

from __future__ import annotations

import pytest

from hbstore import Column, Partition, Table, col, connect
from hbstore.errors import (
    AlreadyExists,
    DatabaseNotFound,
    FilterSyntaxError,
    HbstoreError,
    InvalidInput,
    InvalidPartitionValue,
    PartitionNotFound,
    TableNotFound,
    TimelineNotFound,
)
from hbstore.keys.partition_names import partition_name
from hbstore.timelines import UpdatePeriod

DECLARED = {"cube.storagetable.time.partcols": "ds", "cube.storagetable.update.periods": "DAILY,MONTHLY"}


@pytest.fixture(params=["memory://", "memory://?atomic=false", "sqlite"])
def store(request, tmp_path):
    url = f"sqlite://{tmp_path}/catalog.db" if request.param == "sqlite" else request.param
    with connect(url) as store:
        store.create_database("shop")
        store.create_table(
            Table(
                "shop",
                "sales",
                location="s3://shop/sales",
                columns=[Column("amount", "double", "in euros")],
                partition_columns=[Column("ds", "string"), Column("hour", "int")],
                parameters=DECLARED,
            )
        )
        yield store


@pytest.fixture
def sales(store):
    sales = store.table("shop.sales")
    sales.add([(ds, str(hour)) for ds in ("2015-01-01", "2015-01-02", "2015-01-04") for hour in range(4)])
    return sales


def test_values_are_given_as_python_has_them(sales):
    assert sales.add([("2015-01-05", 7), {"hour": 8, "ds": "2015-01-05"}, iter(["2015-01-05", 9])]) == 3
    assert sales.names(spec={"hour": 7}) == sales.partitions(col("hour") == 7).names == ["ds=2015-01-05/hour=7"]
    assert sales.partition(("2015-01-05", 8)) == sales.partition({"ds": "2015-01-05", "Hour": 8})
    assert sales.drop([("2015-01-05", 8), {"ds": "2015-01-05", "hour": "7"}]) == 2
    with pytest.raises(InvalidPartitionValue, match="does not fit its column's type: column=hour, type=int"):
        sales.add([("2015-01-05", True)])


@pytest.mark.parametrize("filter", [None, "", "hour > 1", col("hour") > 1, "hour > 9"])
def test_it_answers_as_the_store_does_whatever_the_filter_is_written_in(store, sales, filter):
    expected = store.get_partitions_by_filter("shop", "sales", filter)
    assert sales.partitions(filter) == expected
    assert sales.names(filter) == store.partition_names("shop", "sales", filter) == sales.partitions(filter).names
    assert sales.count(filter) == len(sales.partitions(filter)) == len(expected)
    assert str(sales.explain(filter)) == str(store.explain("shop", "sales", filter))
    assert sales.explain(filter, analyze=True).total.rows_returned == len(expected)
    assert sales.partitions(filter, max_parts=2) == expected[:2]


@pytest.mark.parametrize("filter", [None, "", "hour > 1", col("hour") > 1])
def test_it_plans_as_the_store_does(store, sales, filter):
    assert sales.plan(filter).get_plans() == store.plan("shop", "sales", filter).get_plans()
    with pytest.raises(FilterSyntaxError):
        sales.plan("hour = = 5")


def test_a_partial_spec_names_texts_and_a_filter_compares_values(sales):
    day, hours = "2015-01-09", [None, "9", "09", " 9", "9.0", "nine", "9/b=c%", "+9 é", "9\n\t"]
    sales.add([(day, hour) for hour in hours], invalid_values="keep")
    names = {hour: partition_name(["ds", "hour"], [day, hour or ""]) for hour in hours}
    assert len(sales.names("hour = 9")) > 1
    for hour, name in names.items():
        assert sales.names(spec={"hour": hour}) == [name]
        assert sales.names(spec={"HOUR": hour, "ds": day}) == [name]
        assert sales.names("hour = 9", spec={"hour": hour}) == [one for one in sales.names("hour = 9") if one == name]
        assert sales.names(col("hour") == 9, spec={"hour": hour}) == sales.names("hour = 9", spec={"hour": hour})
        assert sales.names("ds like '2015.*'", spec={"hour": hour}, like_dialect="hive2") == [name]
        assert sales.names("ds > 'a' or ds is null", spec={"hour": hour}) == []
        assert sales.names(spec={"hour": hour}, max_parts=0) == []
    assert sales.names(spec={"hour": ""}) == [names[None]]
    assert sales.names(spec={"ds": day}, max_parts=3) == sales.names(f"ds = '{day}'")[:3]
    assert sales.names("hour = 1", spec={}) == sales.names("hour = 1")


@pytest.mark.parametrize(
    ("spec", "error", "says"),
    [
        (
            {"region": "eu"},
            InvalidPartitionValue,
            "not a partition column: column=region. The partition",
        ),
        ({"ds": "a", "DS": "b"}, InvalidPartitionValue, "names a column twice: column=DS"),
        ({"hour": 5.5}, InvalidPartitionValue, "does not fit its column's type: column=hour, type=int, value=5.5"),
        ({5: "5"}, InvalidPartitionValue, "not a column name: key=5, type=int"),
        ("hour=5", InvalidInput, "wrong type: argument=spec, type=str"),
        (["hour"], InvalidInput, "wrong type: argument=spec, type=list"),
        ({"ds": "\ud800"}, HbstoreError, "UTF-8"),
        ({"": "a"}, InvalidPartitionValue, "partition"),
    ],
    ids=ascii,
)
@pytest.mark.parametrize("max_parts", [-1, 0])
def test_a_partial_spec_that_names_nothing_is_refused(sales, spec, error, says, max_parts):
    with pytest.raises(error, match=says):
        sales.names(spec=spec, max_parts=max_parts)


def test_partitions_are_added_and_dropped_in_any_form(sales):
    before = sales.count()
    assert sales.add([{"HOUR": "7", "Ds": "2015-02-01"}, ("2015-02-01", "8"), Partition(("2015-02-01", "9"))]) == 3
    assert sales.partition({"ds": "2015-02-01", "hour": "7"}) == sales.partition(("2015-02-01", "7"))
    with pytest.raises(AlreadyExists):
        sales.add([{"ds": "2015-02-01", "hour": "7"}])
    assert sales.add([{"ds": "2015-02-01", "hour": "7"}], if_not_exists=True) == 0
    added = sales.partitions("ds = '2015-02-01'")
    assert sales.drop([added[0], added.specs[1], added[2].values]) == 3
    assert sales.count() == before
    with pytest.raises(PartitionNotFound):
        sales.drop(added[:1])
    assert sales.drop(added, if_exists=True) == 0
    assert sales.drop(sales.partitions()) == before
    assert sales.totals().partitions == 0


@pytest.mark.parametrize(
    "spec", [{"ds": "2015-01-01"}, {"ds": "a", "hour": "1", "region": "eu"}, {"ds": "a", "DS": "b"}]
)
def test_a_spec_that_names_no_whole_partition_is_refused(sales, spec):
    before = sales.names()
    for call in (sales.add, sales.drop):
        with pytest.raises(InvalidPartitionValue):
            call([spec])
    with pytest.raises(InvalidPartitionValue):
        sales.partition(spec)
    assert sales.names() == before


@pytest.mark.parametrize("wrong", [None, 5, "ds=a/hour=1", b"a"])
def test_partitions_that_are_no_collection_are_named(sales, wrong):
    for call in (sales.add, sales.drop):
        with pytest.raises(InvalidInput, match=f"argument=(partitions|values), type={type(wrong).__name__}"):
            call(wrong)


def test_it_is_made_of_a_name_in_any_case_and_only_of_a_table_that_is_there(store, sales):
    handle = store.table("Shop.SALES")
    assert (handle.name, str(handle), repr(handle)) == ("shop.sales", "shop.sales", "<TableHandle shop.sales>")
    for name in ("sales", "shop.sales.x", "", ("shop", "sales"), None):
        with pytest.raises(InvalidInput, match="the text is not a table name"):
            store.table(name)
    with pytest.raises(TableNotFound):
        store.table("shop.orders")
    with pytest.raises(DatabaseNotFound):
        store.table("attic.sales")
    store.drop_table("shop", "sales")
    with pytest.raises(TableNotFound):
        sales.count()


def test_filters_that_do_not_parse_are_errors_at_every_question(sales):
    for ask in (sales.partitions, sales.names, sales.count, sales.explain):
        with pytest.raises(FilterSyntaxError):
            ask("hour = = 5")


def test_its_schema_says_names_types_and_comments(sales):
    assert [column.name for column in sales.schema.columns] == ["amount"]
    assert str(sales.schema).splitlines() == [
        "amount  double                    in euros",
        "ds      string  partition column",
        "hour    int     partition column",
    ]


def test_its_timelines_are_read_when_they_are_asked(store, sales):
    timelines = sales.timelines
    assert [timeline.update_period for timeline in timelines] == [UpdatePeriod.DAILY, UpdatePeriod.MONTHLY]
    assert len(timelines) == 2
    day = UpdatePeriod.DAILY.parse
    assert timelines["daily.DS"] == {day("2015-01-01"), day("2015-01-02"), day("2015-01-04")}
    sales.drop(sales.partitions("ds = '2015-01-02'"))
    assert timelines["DAILY"] == {day("2015-01-01"), day("2015-01-04")}
    timelines.convert("DAILY.ds", "RangesPartitionTimeline")
    assert type(timelines["DAILY.ds"]).__name__ == "RangesPartitionTimeline"
    timelines.rebuild()
    assert timelines.check() == []
    assert timelines.export() == store.timelines.export("shop.sales")
    for name in ("HOURLY", "DAILY.hour"):
        with pytest.raises(TimelineNotFound):
            timelines[name]
    for wrong in (5, None, b"DAILY", ["DAILY"]):
        with pytest.raises(InvalidInput, match="argument=name, type="):
            timelines[wrong]
    for wrong in (5, b"Ranges", ["Ranges"], False):
        with pytest.raises(InvalidInput, match="argument=class_name, type="):
            timelines.convert("DAILY.ds", wrong)
    store.create_table(Table("shop", "plain", [Column("ds", "string")]))
    assert list(store.table("shop.plain").timelines) == []


def test_what_it_lists_is_a_list_of_partitions(sales):
    listed = sales.partitions("hour < 2")
    assert listed == list(listed) == [*listed[:3], *listed[3:]]
    assert list(listed) == listed
    assert listed != listed[:3]
    assert listed != listed.names
    assert listed[-1] in listed
    assert listed[1:3].names == listed.names[1:3]
    assert listed.specs[0] == {"ds": "2015-01-01", "hour": "0"}
    with pytest.raises(IndexError):
        listed[99]
