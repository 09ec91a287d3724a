"""Types, aggregates and expressions: refused when a document brings them, and in nobody's way once they are stored."""

from __future__ import annotations

import json

import pytest

from hbstore import connect
from hbstore.cubes import (
    ChainField,
    Column,
    Cube,
    Cubes,
    DimAttribute,
    Dimension,
    Edge,
    Expression,
    ExpressionSpec,
    Fact,
    JoinChain,
    Measure,
    Storage,
    StorageTable,
    TableDescription,
)
from hbstore.cubes.checks import AGGREGATES
from hbstore.cubes.partial_aggregates import PartialAggregates, partial_aggregates_of
from hbstore.errors import InvalidInput, InvalidModel, TableNotFound, UnknownTimelineClass
from tests.services.documents import put as put_document

CLASS = "cube.storagetable.partition.timeline.cache.DAILY.dt.storage.class"


@pytest.fixture
def cubes():
    with connect("memory://") as store:
        store.create_database("farm")
        yield Cubes(store, "farm")


def expression(name, *texts, type="double"):
    return Expression(name=name, type=type, specs=[ExpressionSpec(expression=text) for text in texts])


def chain(name, first, end):
    return JoinChain(name=name, paths=[[Edge.parse(f"{first}={end}")]])


def crops(*expressions, weight="double", aggregate="SUM", field="int"):
    """A cube with two measures, a struct, and a chain to a dimension."""
    return Cube(
        name="crops",
        measures=[Measure(name="weight", type=weight, default_aggregate=aggregate), Measure(name="price", type="int")],
        dim_attributes=[
            DimAttribute(name="field_id", type=field),
            DimAttribute(name="place", type="struct<north:double,east:double>"),
        ],
        expressions=expressions,
        join_chains=[chain("grown_on", "crops.field_id", "field.id")],
    )


def fields(*expressions):
    return Dimension(
        name="field",
        dim_attributes=[DimAttribute(name="id", type="int"), DimAttribute(name="hectares", type="double")],
        expressions=expressions,
        join_chains=[chain("beside", "field.id", "field.id")],
    )


def refused(cubes, document):
    with pytest.raises(InvalidModel) as caught:
        cubes.create(document)
    assert cubes.names(document.kind) == []
    assert caught.value.hint
    return caught.value


@pytest.mark.parametrize(
    ("document", "at", "found", "said"),
    [
        (crops(weight="bigin"), "measures.0.type", "bigin", "Did you mean bigint"),
        (crops(field="array<intt>"), "dim_attributes.0.type", "array<intt>", "      ^"),
        (crops(expression("e", "weight", type="decimal(99)")), "expressions.0.type", "decimal(99)", "expected="),
        (
            crops(aggregate="summ"),
            "measures.0.default_aggregate",
            "summ",
            "Use one of these: sum, min, max, count, avg",
        ),
    ],
)
def test_types_and_aggregates_that_there_are_not(cubes, document, at, found, said):
    error = refused(cubes, document)
    assert (error.fields["at"], error.fields["found"]) == (at, found)
    assert (error.fields["kind"], error.fields["name"]) == ("cube", "crops")
    assert said in str(error)


def parted(properties, **changes):
    """A cube whose properties say which columns hold parts."""
    measures = {"weight": "sum", "speed": "avg", "number": "count", "total": "sum", "most": "max", "odd": None}
    return Cube(
        name="crops",
        measures=[
            Measure(name=name, type="double", default_aggregate=one, **changes.get(name, {}))
            for name, one in measures.items()
        ],
        dim_attributes=[
            DimAttribute(name="picker", type="string"),
            DimAttribute(name="day", type="date"),
            DimAttribute(name="sketched", type="binary"),
        ],
        properties={f"cube.measure.{name}": value for name, value in properties.items()},
    )


@pytest.mark.parametrize(
    ("properties", "expected", "found"),
    [
        ({"weight.mean": "speed"}, "a property that ends with .sum, .count, .sketch", "mean"),
        ({"price.count": "number"}, "a measure of the cube crops", "price"),
        ({"picker.count": "number"}, "a measure of the cube crops", "picker"),
        ({"price.sketch": "price_sketch"}, "a measure or dim attribute of the cube crops", "price"),
        ({"weight.count": "numbers"}, "a measure with the default aggregate count", "numbers"),
        ({"weight.count": "picker"}, "a measure with the default aggregate count", "picker"),
        ({"weight.count": "total"}, "a measure with the default aggregate count", "total with sum"),
        ({"speed.sum": "odd"}, "a measure with the default aggregate sum", "odd with none"),
        ({"weight.sum": "total"}, "no such property, as the default aggregate is sum", "total"),
        ({"number.count": "number"}, "no such property, as the default aggregate is count", "number"),
        ({"day.sketch": "day_sketch"}, "a field of type string, varchar, binary or a whole number", "date"),
        ({"picker.sketch": "a b"}, "the name of a column", "a b"),
        ({"picker.sketch": "day"}, "a column of type binary", "day date"),
    ],
)
def test_properties_that_name_no_column_of_parts(cubes, properties, expected, found):
    error = refused(cubes, parted(properties))
    ((name, _),) = properties.items()
    assert error.fields["at"] == f"properties.cube.measure.{name}"
    assert (error.fields["expected"], error.fields["found"]) == (expected, found)


def test_parts_count_at_all_times_at_which_the_whole_does(cubes):
    late = {"start_time": "2015-01-01"}
    error = refused(cubes, parted({"weight.count": "number"}, number=late))
    assert error.fields["expected"] == "a measure that counts at all times at which this one does"
    cubes.create(parted({"weight.count": "number"}, number=late, weight=late))


def test_properties_that_name_columns_of_parts(cubes):
    names = {"speed.sum": "Total ", "speed.count": "number", "picker.sketch": "sketched", "weight.count": "number"}
    cubes.create(parted(names))
    assert partial_aggregates_of(cubes.cube("crops"))["speed"] == PartialAggregates("total", "number", None)
    assert partial_aggregates_of(cubes.cube("crops"))["weight"] == PartialAggregates("weight", "number", None)
    assert partial_aggregates_of(cubes.cube("crops"))["picker"] == PartialAggregates(None, None, "sketched")
    with pytest.raises(InvalidModel, match="default aggregate count"):
        cubes.alter(parted({**names, "most.count": "total"}))


def test_a_column_of_sketches_is_binary(cubes):
    cubes.create(Storage(name="barn"))
    cubes.create(parted({"picker.sketch": "picker_sketch"}))
    columns = [Column(name="weight", type="double"), Column(name="picker_sketch", type="string", extra=True)]
    error = refused(cubes, Fact(name="daily", cube="crops", columns=columns))
    assert (error.fields["at"], error.fields["expected"], error.fields["found"]) == (
        "columns.1.type",
        "binary",
        "string",
    )


def test_a_stored_property_that_is_wrong_names_no_part():
    assert partial_aggregates_of(parted({"weight.count": "total"}))["weight"] == PartialAggregates("weight", None, None)


@pytest.mark.parametrize(
    ("text", "found", "expected", "caret"),
    [
        ("weight / (((", "(", "an expression", 11),
        ("weight from crops", "from", "an expression that parses", 7),
        ("weight\n  + ) price", ")", "an expression", 4),
        ("weight + harvest", "harvest", "a field of the cube crops", 9),
        ("crops.harvest", "crops.harvest", "a field of the cube crops", 0),
        ("1 + sold_to.name", "sold_to.name", "a join chain of the cube crops", 4),
        (
            "grown_on.acres",
            "grown_on.acres",
            "a field of the dimension field, to which the join chain grown_on leads",
            0,
        ),
        ("sum(weight) over (partition by field_id)", "SUM(weight) OVER (PARTITION BY field_id)", "no window", None),
        ("weight - (select max(weight) from crops)", "(SELECT MAX(weight) FROM crops)", "no subquery", None),
        ("field_id in (select id from field)", "(SELECT id FROM field)", "no subquery", None),
        ("weight + :least", ":least", "no parameter", None),
        ("weight; price", None, "one expression", None),
        ("weight -- of one", "of one", "no comment", None),
        ("/* of one */ weight", "of one", "no comment", None),
        ("weight /*+ of one */ + 1", None, "no comment", None),
        ("*", "*", "the names of columns", None),
    ],
)
def test_expressions_that_are_none(cubes, text, found, expected, caret):
    cubes.create(fields())
    error = refused(cubes, crops(expression("good", "weight"), expression("bad", "price", text)))
    assert error.fields["at"] == "expressions.1.specs.1.expression"
    assert error.fields["field"] == "bad"
    assert error.fields["expected"] == expected
    assert found in (None, error.fields["found"])
    assert error.highlight == "" if caret is None else error.highlight.endswith("\n" + " " * caret + "^")


@pytest.mark.parametrize(
    "text",
    [
        "weight * price / 100",
        "sum(case when FIELD_ID = -1 then 0 when field_id = 0 then 1 else weight end)",
        "my_own_udf(weight, 'a from b')",
        "concat(weight, '-- /* no comment */', - -price)",
        "count(distinct field_id) / count(*)",
        "grown_on.hectares + crops.weight + `grown_on`.`hectares`",
        "place.north + crops.place",
        "aggregate(array(weight), 0, (a, x) -> a + x)",
        "date_format(current_date, 'yyyy') rlike '20.*' or weight is null",
        "cast(weight as decimal(10, 2)) + 3 div 2",
    ],
)
def test_expressions_that_are_some(cubes, text):
    cubes.create(fields())
    cubes.create(crops(expression("e", text)))
    assert cubes.cube("crops").expressions[0].specs[0].expression == text


def test_a_chains_destination_may_be_still_to_come(cubes):
    cubes.create(crops(expression("e", "weight / grown_on.acres")))
    cubes.create(fields())
    assert cubes.names("cube") == ["crops"]


@pytest.mark.parametrize(
    ("expressions", "found"),
    [
        ([expression("e", "e + 1")], "crops.e -> crops.e"),
        ([expression("a", "b"), expression("b", "weight", "crops.c"), expression("c", "2 * A")], "crops.a -> crops.b"),
    ],
)
def test_expressions_that_lead_back_to_themselves(cubes, expressions, found):
    error = refused(cubes, crops(*expressions))
    assert error.fields["found"].startswith(found)
    cubes.create(crops(expression("a", "b + c"), expression("b", "c"), expression("c", "weight")))


def test_a_way_back_over_join_chains(cubes):
    error = refused(cubes, fields(expression("size", "beside.size + 1")))
    assert error.fields["found"] == "field.size -> field.size"


def test_columns_of_facts_have_types(cubes):
    cubes.create(crops())
    error = refused(cubes, Fact(name="f", cube="crops", columns=[Column(name="weight", type="doubel")]))
    assert (error.fields["at"], error.fields["field"]) == ("columns.0.type", "weight")


@pytest.mark.parametrize("aggregate", ["SUM", "Avg", "count_distinct", None])
def test_aggregates_in_any_case_or_none(cubes, aggregate):
    cubes.create(crops(aggregate=aggregate))
    assert cubes.cube("crops").measures[0].default_aggregate == aggregate
    assert {"sum", "min", "max", "count", "avg"} <= set(AGGREGATES)


@pytest.fixture
def invalid(cubes):
    """A cube that was stored when nothing of this was looked at."""
    cubes.create(Storage(name="barn"))
    cubes.create(crops(expression("ratio", "weight / price")))
    cubes.create(Fact(name="daily", cube="crops", columns=[Column(name="weight", type="double")]))
    documents = cubes.store.documents
    for kind, name, changes in (
        ("cube", "crops", (('"SUM"', '"summ"'), ("weight / price", "weight / nosuchfield ((("), ('"int"', '"intt"'))),
        ("fact", "daily", (('"double"', '"doubel"'),)),
    ):
        text = documents.get("farm", kind, name)
        changed = text
        for old, new in changes:
            assert old in changed
            changed = changed.replace(old, new)
        put_document(cubes.store, "farm", kind, name, changed)
    return cubes


def test_what_is_stored_is_read_described_and_dropped_whatever_it_says(invalid):
    cube = invalid.cube("crops")
    assert cube.measures[0].default_aggregate == "summ"
    assert json.dumps(invalid.describe("cube", "crops"))
    invalid.drop("fact", "daily")
    invalid.drop("cube", "crops")
    assert invalid.names("cube") == []


def test_what_is_stored_can_be_altered_and_only_what_is_new_is_looked_at(invalid):
    cube = invalid.cube("crops")
    more = cube.changed(description="of all fields", measures=[*reversed(cube.measures), Measure(name="n", type="int")])
    invalid.alter(more)
    with pytest.raises(InvalidModel, match="found=summm"):
        invalid.alter(more.changed(measures=[*cube.measures, Measure(name="n", type="int", default_aggregate="summm")]))
    invalid.alter(crops(expression("ratio", "weight / price")))
    with pytest.raises(InvalidModel, match="found=nosuchfield"):
        invalid.alter(crops(expression("ratio", "weight / nosuchfield")))
    fact = invalid.fact("daily")
    invalid.alter(fact.changed(storage_tables=[StorageTable(storage="barn", update_periods=["CONTINUOUS"])]))
    invalid.drop("storage", "barn", cascade=True)
    assert invalid.fact("daily").storage_tables == ()


def daily(timeline_class, **properties):
    """A fact whose storage table names a class for its timeline."""
    return Fact(
        name="daily",
        cube="crops",
        columns=[Column(name="weight", type="double")],
        storage_tables=[
            StorageTable(
                storage="barn",
                update_periods=["DAILY"],
                partition_columns=[Column(name="dt", type="string")],
                time_partition_columns=["dt"],
                description=TableDescription(table_properties={CLASS: timeline_class, **properties}),
            )
        ],
    )


def test_a_timeline_class_that_there_is_not(cubes):
    cubes.create(Storage(name="barn"))
    cubes.create(crops())
    with pytest.raises(UnknownTimelineClass, match=r"table=farm\.barn_daily, timeline=DAILY\.dt"):
        cubes.create(daily("com.example.Linked"))
    assert cubes.names("fact") == []
    with pytest.raises(TableNotFound):
        cubes.store.get_table("farm", "barn_daily")
    cubes.create(daily("RangesPartitionTimeline"))
    with pytest.raises(UnknownTimelineClass):
        cubes.alter(daily("com.example.Linked"))
    assert cubes.fact("daily") == daily("RangesPartitionTimeline")
    with pytest.raises(InvalidInput, match="the age cannot be read"):
        cubes.alter(daily("RangesPartitionTimeline", **{"hbstore.retention": "90x"}))


def test_attributes_by_chains_are_left_to_questions(cubes):
    """An attribute names a field of a chain that may be still to come."""
    cube = crops()
    later = DimAttribute(name="owner", type="string", chain=[ChainField(chain="grown_on", field="owner")])
    cubes.create(cube.changed(dim_attributes=[*cube.dim_attributes, later]))


@pytest.mark.parametrize("wrong", [None, 5, "sales", {"kind": "storage", "name": "lake"}])
def test_what_is_no_document_is_named(cubes, wrong):
    for call in (cubes.create, cubes.alter):
        with pytest.raises(InvalidInput, match=f"argument=document, type={type(wrong).__name__}.*Storage"):
            call(wrong)
    with pytest.raises(InvalidInput, match=r"argument=documents\[1\]"):
        cubes.create_all([Storage(name="lake"), wrong])
    assert cubes.names("storage") == []
    with pytest.raises(InvalidModel, match="kind of the description is unknown") as caught:
        cubes.names(wrong)
    assert caught.value.fields["found"] == ("nothing" if wrong is None else wrong if wrong == "sales" else repr(wrong))


@pytest.mark.parametrize("argument", ["storage", "update_period", "time_dimension"])
@pytest.mark.parametrize("wrong", [5, b"barn", ["barn"], {}])
def test_what_chooses_timelines_is_named_where_it_is_no_name(cubes, argument, wrong):
    cubes.create(Storage(name="barn"))
    cubes.create(crops())
    cubes.create(daily("RangesPartitionTimeline"))
    with pytest.raises(InvalidInput, match=f"argument={argument}, type={type(wrong).__name__}"):
        cubes.timelines("daily", **{argument: wrong})


def dated(at, start, end):
    """A fact that starts and ends, or a column of one."""
    times = {"start_time": start, "end_time": end}
    column = Column(name="weight", type="double", **({} if at == "end_time" else times))
    return Fact(name="dated", cube="crops", columns=[column], **(times if at == "end_time" else {}))


@pytest.mark.parametrize("at", ["end_time", "columns.0.end_time"])
def test_what_ends_before_it_begins_is_refused(cubes, at):
    cubes.create(crops())
    for end in ("2015-01-31", "2015-02-01"):
        with pytest.raises(InvalidModel, match="expected=a time after the start, 2015-02-01") as caught:
            cubes.create(dated(at, "2015-02-01", end))
        assert caught.value.fields["at"] == at
        assert caught.value.hint
    cubes.create(dated(at, "2015-02-01", "now.day-9000days"))
    cubes.alter(dated(at, "2015-02-01", "2015-02-02"))
    with pytest.raises(InvalidModel):
        cubes.alter(dated(at, "2015-02-03", "2015-02-02"))
