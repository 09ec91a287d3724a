"""The model's own rules: what a document must be, whatever else there is."""

from __future__ import annotations

import pytest

from hbstore.cubes import (
    ChainField,
    Column,
    Cube,
    DerivedCube,
    DimAttribute,
    Dimension,
    DimTable,
    Edge,
    Expression,
    ExpressionSpec,
    Fact,
    JoinChain,
    Measure,
    Reference,
    StorageTable,
)
from hbstore.errors import InvalidModel, TimelineError
from hbstore.timelines import UpdatePeriod

ID = DimAttribute(name="id", type="int")
PRICE = Measure(name="price", type="double")
TO_CITY = JoinChain(name="city", paths=[["sales.id=city.id"]])
COLUMN = Column(name="price", type="double")
DT = Column(name="dt", type="string")


def cube(**fields):
    return Cube(**{"name": "sales", "measures": [PRICE], "dim_attributes": [ID], **fields})


def table(**fields):
    given = {"storage": "s1", "update_periods": ["DAILY"], "partition_columns": [DT], "time_partition_columns": ["dt"]}
    return StorageTable(**{**given, **fields})


WRONG = {
    "a field twice": lambda: cube(measures=[PRICE, Measure(name="PRICE", type="int")]),
    "a measure called like an attribute": lambda: cube(measures=[Measure(name="ID", type="int")]),
    "a chain twice": lambda: cube(join_chains=[TO_CITY, TO_CITY]),
    "a chain that begins elsewhere": lambda: cube(name="other", join_chains=[TO_CITY]),
    "a chain that begins with no field": lambda: cube(dim_attributes=[], join_chains=[TO_CITY]),
    "an attribute of an unknown chain": lambda: cube(
        dim_attributes=[ID, DimAttribute(name="x", type="int", chain=[ChainField(chain="town", field="id")])]
    ),
    "an attribute with references and a chain": lambda: DimAttribute(
        name="x",
        type="int",
        references=[Reference(table="t", field="f")],
        chain=[ChainField(chain="c", field="f")],
    ),
    "a time dimension that is no attribute": lambda: cube(time_dimensions={"order_time": "ot"}),
    "a path that is not connected": lambda: JoinChain(name="c", paths=[["a.x=b.x", "c.y=d.y"]]),
    "paths to different tables": lambda: JoinChain(name="c", paths=[["a.x=b.x"], ["a.x=c.x"]]),
    "a path twice": lambda: JoinChain(name="c", paths=[["a.x=b.x"], ["a.x = b.x"]]),
    "no paths": lambda: JoinChain(name="c", paths=[]),
    "an empty path": lambda: JoinChain(name="c", paths=[[]]),
    "a time that ends before it begins": lambda: Measure(
        name="x", type="int", start_time="2016-01-01", end_time="2016-01-01"
    ),
    "a time that is none": lambda: Measure(name="x", type="int", start_time="2016-13"),
    "a time with a T that is none": lambda: Measure(name="x", type="int", start_time="2016-01-01T25:00:00"),
    "an expression without specs": lambda: Expression(name="x", type="int", specs=[]),
    "an empty expression": lambda: ExpressionSpec(expression=""),
    "a cube derived from itself": lambda: DerivedCube(name="a", parent="A"),
    "a measure twice in a derived cube": lambda: DerivedCube(name="a", parent="b", measures=["x", "X"]),
    "a dimension without attributes": lambda: Dimension(name="d", dim_attributes=[]),
    "a fact's table without periods": lambda: Fact(
        name="f", cube="c", columns=[COLUMN], storage_tables=[table(update_periods=[], time_partition_columns=[])]
    ),
    "a fact twice on a storage": lambda: Fact(name="f", cube="c", columns=[COLUMN], storage_tables=[table(), table()]),
    "a dimension table with two periods": lambda: DimTable(
        name="t", dimension="d", columns=[COLUMN], storage_tables=[table(update_periods=["DAILY", "HOURLY"])]
    ),
    "a dimension table with a time and no period": lambda: DimTable(
        name="t", dimension="d", columns=[COLUMN], storage_tables=[table(update_periods=[])]
    ),
    "a dimension table with two times": lambda: DimTable(
        name="t",
        dimension="d",
        columns=[COLUMN],
        storage_tables=[
            table(partition_columns=[DT, Column(name="pt", type="date")], time_partition_columns=["dt", "pt"])
        ],
    ),
    "periods without time columns": lambda: table(time_partition_columns=[]),
    "a partition column twice": lambda: table(partition_columns=[DT, DT]),
    "a negative number of values": lambda: DimAttribute(name="x", type="int", distinct_values=-1),
}


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_this_cannot_be(make):
    with pytest.raises(InvalidModel) as caught:
        make()
    assert caught.value.fields["expected"]
    assert not isinstance(caught.value, TimelineError)


def test_a_mistake_in_a_storage_table_is_named():
    """Not by pydantic's own words, nor by the whole table."""
    with pytest.raises(InvalidModel, match=r"at=update_periods\.0, expected=one of CONTINUOUS, SECONDLY"):
        table(update_periods=[["DAILY"]])
    with pytest.raises(InvalidModel, match=r"type=intt\. Did you mean int\? Use one of"):
        table(partition_columns=[DT, Column(name="region", type="intt")])


def test_fields_have_names():
    with pytest.raises(InvalidModel, match=r"document=Column, found='dt'\. Write Column\(name=…, type=…\)"):
        Column("dt", "string")


def test_names_are_of_any_case():
    found = cube(name="Sales", time_dimensions={"ID": "DT"}, join_chains=[TO_CITY])
    assert (found.name, found.field_names(), found.partition_column("Id")) == ("sales", ("price", "id"), "dt")
    assert Edge.parse(" Sales . ID = City.Id ") == Edge(table="sales", field="id", to_table="city", to_field="id")


def test_a_time_dimension_may_be_its_partition_column_alone():
    assert cube(time_dimensions={"dt": "dt"}).partition_column("dt") == "dt"


def test_periods_are_kept_from_the_smallest():
    found = table(update_periods=["yearly", UpdatePeriod.HOURLY, "DAILY"]).update_periods
    assert found == (UpdatePeriod.HOURLY, UpdatePeriod.DAILY, UpdatePeriod.YEARLY)


def test_a_continuous_table_needs_no_partitions():
    found = StorageTable(storage="s1", update_periods=["CONTINUOUS"])
    assert found.is_continuous
    assert not table(update_periods=["CONTINUOUS"]).is_continuous


def test_types_are_written_one_way():
    types = ["BIGINT", " decimal ( 10 , 2 ) ", "struct<A:int>", "Timestamp  with local time zone"]
    found = [Column(name="x", type=one).type for one in types]
    assert found == ["bigint", "decimal(10,2)", "struct<A:int>", "timestamp with local time zone"]
