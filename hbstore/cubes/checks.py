"""What types, aggregates, expressions and times of a document say: whether there are such, and such columns.

A fact and its columns do not end before they begin, where both times are written out.

This is looked at where a document is created or altered, and only of what the change brings: one that is stored can
always be read, described, altered and dropped, whatever it says.

Types are those of Hive. A measure's aggregate is one of `AGGREGATES`. An expression parses as Spark SQL, without
windows, subqueries, parameters and comments; its columns are fields of its cube or dimension, or those of a join
chain's destination where that is there already; and it does not lead back to itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hbstore.cubes.concepts import Cube, Dimension
from hbstore.cubes.document import Named
from hbstore.cubes.expressions import BadExpression, ColumnName, columns_of
from hbstore.cubes.fields import DimAttribute, Expression, Measure
from hbstore.cubes.logical_tables import Column, Fact, LogicalTable
from hbstore.cubes.partial_aggregates import wrong_parts, wrong_sketches
from hbstore.cubes.references import Known, Overlay
from hbstore.cubes.values import bounds_of
from hbstore.errors import InvalidModel, InvalidType
from hbstore.texts.hive_types import check_type
from hbstore.texts.places import highlight
from hbstore.times.time_range import AbsoluteTime, written_time

AGGREGATES: Final = (
    *("sum", "min", "max", "count", "avg", "count_distinct", "approx_count_distinct"),
    *("median", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp"),
    *("collect_list", "collect_set", "first", "last", "any_value", "bool_and", "bool_or", "bit_and", "bit_or"),
)
"""Aggregates that roll a measure up; ``count_distinct`` is that of ``count(distinct …)``."""

_Concept = Cube | Dimension


def check_content(document: Named, documents: Known, before: Named | None = None) -> None:
    """See that types, aggregates, expressions and spans of time are some.

    Args:
        document: what is to be.
        documents: finds the destinations of join chains.
        before: what it is now; what is wrong with it already may stay.

    Raises:
        InvalidModel: one is none; the error says where.
    """
    old = frozenset[str]() if before is None else {_key(error) for error in _faults(before, documents)}
    for error in _faults(document, documents):
        if _key(error) not in old:
            raise error


def _key(error: InvalidModel) -> str:
    """What is wrong with what, wherever in the document it stands."""
    return str({name: value for name, value in error.fields.items() if name != "at"})


def _faults(document: Named, documents: Known) -> Iterator[InvalidModel]:
    if isinstance(document, LogicalTable):
        yield from _empty_spans(document)
        yield from _wrong_types(document, "columns", ((column.name, column.type) for column in document.columns))
    if isinstance(document, Fact):
        yield from _wrong_sketches(document, documents)
    if not isinstance(document, _Concept):
        return
    measures: tuple[Measure, ...] = document.measures if isinstance(document, Cube) else ()
    lists: tuple[tuple[str, tuple[Measure | DimAttribute | Expression, ...]], ...] = (
        ("measures", measures),
        ("dim_attributes", document.dim_attributes),
        ("expressions", document.expressions),
    )
    for place, fields in lists:
        yield from _wrong_types(document, place, ((field.name, field.type) for field in fields))
    for number, measure in enumerate(measures):
        if measure.default_aggregate is not None and measure.default_aggregate.lower() not in AGGREGATES:
            yield _fault(
                document,
                f"measures.{number}.default_aggregate",
                measure.name,
                expected="an aggregate",
                found=measure.default_aggregate,
                hint=f"Use one of these: {', '.join(AGGREGATES)}; or none",
            )
    for wrong_part in wrong_parts(document) if isinstance(document, Cube) else ():
        hint = "Name the column that holds the sum, the count or the sketch of the field's values in rolled-up facts"
        place = f"properties.{wrong_part.property}"
        yield _fault(document, place, wrong_part.field, expected=wrong_part.expected, found=wrong_part.found, hint=hint)
    for number, expression in enumerate(document.expressions):
        for at, spec in enumerate(expression.specs):
            place = f"expressions.{number}.specs.{at}.expression"
            yield from _wrong_expression(document, place, expression.name, spec.expression, documents)


def _empty_spans(table: LogicalTable) -> Iterator[InvalidModel]:
    """The table or columns of it that never hold data, whatever now is, as they end where they begin or before that."""
    dated: list[tuple[str, str, Fact | Column]] = [("end_time", table.name, table)] if isinstance(table, Fact) else []
    dated += [(f"columns.{number}.end_time", column.name, column) for number, column in enumerate(table.columns)]
    for at, name, span in dated:
        if span.start_time is None or span.end_time is None:
            continue
        starts, ends = (
            [one.time for one in map(written_time, bounds_of(text)) if isinstance(one, AbsoluteTime)]
            for text in (span.start_time, span.end_time)
        )
        if starts and ends and min(ends) <= max(starts):
            hint, expected = "Correct one of the two times", f"a time after the start, {span.start_time}"
            yield _fault(table, at, name, expected=expected, found=span.end_time, hint=hint)


def _wrong_sketches(fact: Fact, documents: Known) -> Iterator[InvalidModel]:
    cube = documents.find("cube", fact.cube)
    for number, name, type_ in wrong_sketches(fact, cube) if isinstance(cube, Cube) else ():
        hint = f"The cube {fact.cube} says that the column holds sketches; give it their type"
        yield _fault(fact, f"columns.{number}.type", name, expected="binary", found=type_, hint=hint)


def _wrong_types(document: Named, place: str, types: Iterable[tuple[str, str]]) -> Iterator[InvalidModel]:
    for number, (name, text) in enumerate(types):
        try:
            check_type(text)
        except InvalidType as error:
            expected = error.fields.get("expected")
            yield _fault(
                document,
                f"{place}.{number}.type",
                name,
                expected="a type" if expected is None else f"a type, with {expected} where the caret stands",
                found=text,
                hint=error.hint or "Write it as Hive does, such as bigint or decimal(10,2)",
                caret=error.highlight,
            )


def _wrong_expression(document: _Concept, at: str, name: str, text: str, documents: Known) -> Iterator[InvalidModel]:
    try:
        columns = columns_of(text)
    except BadExpression as error:
        yield _fault(
            document,
            at,
            name,
            expected=error.expected,
            found=error.found,
            hint="Write it as Spark SQL, over the fields of one row or one group of rows",
            caret="" if error.offset is None else highlight(text, error.offset),
        )
        return
    for column in columns:
        expected = _unknown(document, column, documents)
        if expected is not None:
            yield _fault(
                document,
                at,
                name,
                expected=expected,
                found=str(column),
                hint="Correct the name, or declare the field or the join chain",
                caret=highlight(text, column.offset),
            )
            return
    cycle = _cycle(document, name, text, documents)
    if cycle is not None:
        yield _fault(
            document,
            at,
            name,
            expected="an expression that does not lead back to itself",
            found=" -> ".join(cycle),
            hint="Replace the name by the expression that it stands for",
            caret=highlight(text, 0),
        )


def _unknown(concept: _Concept, column: ColumnName, documents: Known) -> str | None:
    """What should stand in a column's place; None where it is one, or the model does not know yet."""
    owner, name = _owner_of(column, concept, documents)
    if owner is None or name in owner.field_names():
        return None
    first, *rest = column.parts
    if owner is not concept:
        return f"a field of the {owner}, to which the join chain {first} leads"
    return f"a join chain of the {concept}" if rest and first != concept.name else f"a field of the {concept}"


def _owner_of(column: ColumnName, concept: _Concept, documents: Known) -> tuple[_Concept | None, str]:
    """What has the field that an expression of a concept names, and the field; of a struct, what holds it.

    None for the destination of a join chain that is not there yet.
    """
    first, *rest = column.parts
    if not rest:
        return concept, first
    chain = next((chain for chain in concept.join_chains if chain.name == first), None)
    if chain is not None:
        return _concept(chain.destination, documents), rest[0]
    return concept, rest[0] if first == concept.name else first


def _cycle(concept: _Concept, name: str, text: str, documents: Known) -> list[str] | None:
    """The way on which an expression leads back to itself; None if there is none."""
    documents = Overlay.of(documents, concept)
    start = (concept.name, name)
    way: dict[tuple[str, str], tuple[str, str]] = {}
    open_ = [(start, text, concept)]
    while open_:
        node, expression, owner = open_.pop()
        for place, target in _expressions_in(owner, expression, documents):
            if (target.name, place) == start:
                back = [node]
                while back[-1] != start:
                    back.append(way[back[-1]])
                return [".".join(one) for one in [*reversed(back), start]]
            if (target.name, place) not in way:
                way[target.name, place] = node
                open_ += [((target.name, place), one, target) for one in _specs(target, place)]
    return None


def _expressions_in(owner: _Concept, text: str, documents: Known) -> Iterator[tuple[str, _Concept]]:
    """The expressions that an expression names, each with the cube or dimension that has it."""
    try:
        columns = columns_of(text)
    except BadExpression:
        return
    for column in columns:
        target, name = _owner_of(column, owner, documents)
        if target is not None and _specs(target, name):
            yield name, target


def _specs(concept: _Concept, name: str) -> list[str]:
    return [spec.expression for one in concept.expressions if one.name == name for spec in one.specs]


def _concept(name: str, documents: Known) -> _Concept | None:
    for kind in ("dimension", "cube"):
        document = documents.find(kind, name)
        if isinstance(document, _Concept):
            return document
    return None


def _fault(
    document: Named, at: str, field: str, *, expected: str, found: str, hint: str, caret: str = ""
) -> InvalidModel:
    return InvalidModel(
        "the description is not valid",
        highlight=caret,
        hint=hint,
        kind=document.kind,
        name=document.name,
        at=at,
        field=field,
        expected=expected,
        found=found,
    )
