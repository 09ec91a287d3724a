"""Any documents of the model."""

from __future__ import annotations

import datetime as dt

from hypothesis import strategies as st

from hbstore import cubes as model
from hbstore.model.stored_as import FILE_FORMATS
from hbstore.timelines import UpdatePeriod

words = st.from_regex(r"[a-zA-Z0-9_]{1,8}", fullmatch=True)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
some_texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
properties = st.dictionaries(texts, texts, max_size=3)
types = st.sampled_from(["string", "BIGINT", "decimal( 10, 2)", "array<struct<A:int>>", "timestamp"])
numbers = st.floats(allow_nan=False, allow_infinity=False)
times = st.datetimes(timezones=st.just(dt.UTC))
validity = st.sampled_from(["2015", "2015-01-29-06:30:15,250", "now", "now.day-3days", "now.month + 1 month"])


def maybe(values):
    return st.none() | values


def names(least=0, most=4):
    return st.lists(words, min_size=least, max_size=most, unique_by=str.lower)


def dated(draw):
    start, end = draw(maybe(times)), draw(maybe(times))
    return {"start_time": start, "end_time": end if start is None or end is None or end > start else None}


def described(draw):
    return {"display": draw(maybe(texts)), "description": draw(maybe(texts))}


@st.composite
def measures(draw, name):
    return model.Measure(
        name=name,
        type=draw(types),
        default_aggregate=draw(maybe(some_texts)),
        format=draw(maybe(texts)),
        unit=draw(maybe(texts)),
        min=draw(maybe(numbers)),
        max=draw(maybe(numbers)),
        **dated(draw),
        **described(draw),
    )


@st.composite
def attributes(draw, name, chains):
    references, chain = draw(st.lists(st.builds(model.Reference, table=words, field=words), max_size=2)), []
    if chains and not references:
        chain = draw(st.lists(st.builds(model.ChainField, chain=st.sampled_from(chains), field=words), max_size=2))
    return model.DimAttribute(
        name=name,
        type=draw(types),
        references=references,
        chain=chain,
        distinct_values=draw(maybe(st.integers(0, 2**60))),
        join_key=draw(st.booleans()),
        values=draw(st.lists(texts, max_size=2)),
        **dated(draw),
        **described(draw),
    )


@st.composite
def expressions(draw, name):
    specs = [model.ExpressionSpec(expression=draw(some_texts), **dated(draw)) for _ in range(draw(st.integers(1, 3)))]
    return model.Expression(name=name, type=draw(types), specs=specs, **described(draw))


@st.composite
def chains(draw, name, table, fields):
    destination, paths = draw(words), []
    for first in draw(st.lists(st.sampled_from(fields), min_size=1, max_size=2, unique=True)):
        tables = [table, *draw(st.lists(words, max_size=2)), destination]
        ends = [(draw(words), draw(words)) for _ in tables[1:]]
        ends[0] = (first, ends[0][1])
        paths.append(
            [
                model.Edge(
                    table=tables[at], field=ends[at][0], to_table=tables[at + 1], to_field=ends[at][1], to_many=many
                )
                for at, many in enumerate(draw(st.lists(st.booleans(), min_size=len(ends), max_size=len(ends))))
            ]
        )
    return model.JoinChain(name=name, paths=paths, **described(draw))


@st.composite
def fields(draw, table, least):
    """Dim attributes, expressions and join chains of a table, and the names that are left."""
    given = draw(names(least, 6))
    cut = draw(st.integers(least, len(given)))
    mine, others = given[:cut], given[cut:]
    chained = draw(names(0, 2)) if mine else []
    made = {
        "dim_attributes": [draw(attributes(name, chained)) for name in mine],
        "expressions": [draw(expressions(name)) for name in others[::2]],
        "join_chains": [draw(chains(name, table, mine)) for name in chained],
    }
    return made, others[1::2]


@st.composite
def cubes(draw):
    name = draw(words)
    made, left = draw(fields(name, 0))
    dimensions = {one.name: draw(words) for one in made["dim_attributes"] if draw(st.booleans())}
    return model.Cube(
        name=name,
        time_dimensions=dimensions,
        measures=[draw(measures(one)) for one in left],
        properties=draw(properties),
        **made,
        **described(draw),
    )


@st.composite
def dimensions(draw):
    name = draw(words)
    return model.Dimension(name=name, properties=draw(properties), **draw(fields(name, 1))[0], **described(draw))


columns = st.builds(model.Column, name=words, type=types, comment=maybe(texts), extra=st.booleans())


def column_lists(least):
    return st.lists(columns, min_size=least, max_size=4, unique_by=lambda one: one.name)


descriptions = st.builds(
    model.TableDescription,
    location=maybe(texts),
    external=st.booleans(),
    format=maybe(st.sampled_from(FILE_FORMATS)),
    input_format=maybe(texts),
    output_format=maybe(texts),
    compressed=st.booleans(),
    serde=st.builds(model.Serde, name=maybe(texts), library=maybe(texts), parameters=properties),
    storage_handler=maybe(texts),
    bucket_columns=st.lists(words, max_size=2),
    buckets=st.integers(-1, 9),
    sort_columns=st.lists(st.builds(model.SortColumn, name=words, descending=st.booleans()), max_size=2),
    table_properties=properties,
)


@st.composite
def storage_tables(draw, storage, most):
    given = draw(names(1, 4))
    timed = draw(st.integers(1, most))
    kinds = st.sampled_from(["string", "date", "timestamp", "varchar(20)"])
    return model.StorageTable(
        storage=storage,
        update_periods=draw(st.lists(st.sampled_from(UpdatePeriod), min_size=1, max_size=most, unique=True)),
        partition_columns=[model.Column(name=name, type=draw(kinds), comment=draw(maybe(texts))) for name in given],
        time_partition_columns=given[:timed],
        description=draw(descriptions),
    )


@st.composite
def facts(draw):
    return model.Fact(
        name=draw(words),
        cube=draw(words),
        description=draw(maybe(texts)),
        columns=draw(column_lists(1)),
        weight=draw(maybe(numbers)),
        start_time=draw(maybe(validity)),
        end_time=draw(maybe(validity)),
        properties=draw(properties),
        storage_tables=[draw(storage_tables(one, 3)) for one in draw(names(0, 2))],
    )


@st.composite
def dimtables(draw):
    plain = st.builds(model.StorageTable, storage=words, description=descriptions)
    return model.DimTable(
        name=draw(words),
        dimension=draw(words),
        description=draw(maybe(texts)),
        columns=draw(column_lists(1)),
        weight=draw(maybe(numbers)),
        properties=draw(properties),
        storage_tables=draw(st.lists(plain, max_size=1)) or [draw(storage_tables(one, 1)) for one in draw(names(0, 2))],
    )


storages = st.builds(
    model.Storage,
    name=words,
    class_name=maybe(texts),
    endpoint=maybe(texts),
    description=maybe(texts),
    properties=properties,
)
derived_cubes = st.builds(
    model.DerivedCube,
    name=st.just("derived"),
    parent=words,
    measures=names(),
    dim_attributes=names(),
    description=maybe(texts),
    display=maybe(texts),
    properties=properties,
)
documents = st.one_of(storages, cubes(), derived_cubes, dimensions(), facts(), dimtables())
