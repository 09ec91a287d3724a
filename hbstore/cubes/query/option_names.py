"""The options of cube queries: their names here and in Lens, what they may say, and why other values are refused.

Capital words in a name stand for the name of a cube, a fact or a storage: ``facts.CUBE`` is ``facts.rides``.

>>> option, names = option_of("lens.cube.query.valid.rides.facttables")
>>> option.names[0], names
('facts.CUBE', ('rides',))
>>> option_of("joins_type")
Traceback (most recent call last):
    ...
hbstore.errors.InvalidInput: not an option of cube queries: option=joins_type. Did you mean join_type? Use one of the \
options in docs/cube-queries.md
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hbstore.errors import HbstoreError, InvalidInput, did_you_mean
from hbstore.times.time_range import AbsoluteTime, WrittenTime, written_time
from hbstore.times.update_period import UpdatePeriod

LENS: Final = "lens.cube.query."
"""The prefix of Lens's names of options; one of them begins with ``lens.query.`` alone."""

_MILLISECONDS: Final = 5
"""Digits from which on a time is a number of milliseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Values:
    """The values that an option may have.

    Attributes:
        text: in words, for errors and docs; empty: it may say nothing.
        read: the value of a text; ValueError, KeyError or HbstoreError where it is none.
        reason: why it may have no other values.
    """

    text: str
    read: Callable[[str], Any]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of cube queries.

    Attributes:
        names: the one that errors and docs use, and Lens's.
        values: what it may say.
        field: the field of `QueryOptions` that it sets; None: it is one of Lens, and may say only what is always so.
    """

    names: tuple[str, ...]
    values: Values
    field: str | None = None

    def names_in(self, name: str) -> tuple[str, ...] | None:
        """The names of cubes, facts and storages in a name of this option; None where it is not one of it."""
        patterns = (re.sub("[A-Z]+", r"(\\w+)", re.escape(pattern)) for pattern in self.names)
        return next((match.groups() for pattern in patterns if (match := re.fullmatch(pattern, name))), None)


def _choice(**values: Any) -> Values:
    return Values(" or ".join(values), lambda text: values[text.lower()])


def _always(reason: str, *values: str) -> Values:
    """The values that say what is always so."""
    return Values(" or ".join(values), lambda text: {value.lower(): value for value in values}[text.lower()], reason)


def _names(text: str) -> frozenset[str]:
    names = frozenset(name.strip().lower() for name in text.split(","))
    if "" in names:
        raise ValueError
    return names


def _time(text: str) -> WrittenTime:
    if text.isdecimal() and len(text) >= _MILLISECONDS:
        return AbsoluteTime(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(text)))
    return written_time(text)


_TRUTH: Final = _choice(true=True, false=False)
_NOT: Final = Values(_TRUTH.text, lambda text: not _TRUTH.read(text))
_JOIN: Final = _choice(
    inner="INNER", left="LEFT", right="RIGHT", full="FULL", leftouter="LEFT", rightouter="RIGHT", fullouter="FULL"
)
_NAMES: Final = Values("names with commas between them", _names)
_PERIOD: Final = Values("an update period such as DAILY", UpdatePeriod.named)
_TIME: Final = Values("a time such as 2015-01-29-06, or milliseconds since 1970", _time)
_PERIODS: Final = Values(
    "update periods with commas between them", lambda text: frozenset(map(UpdatePeriod.named, _names(text)))
)

_SETS: Final = "fields behind a bridge table become sets"
_CHOSEN: Final = "partitions are chosen by the time dimension that the query names"
_WHOLE: Final = "a partition is there or not, and nothing says how complete it is"
_MEASURES: Final = "a measure outside of an aggregate stands for its default aggregate"
_BOUNDS: Final = "an open bound would name a partition that is not read"
_DISTINCT: Final = "rolled-up rows do not tell how often some attributes come together; count(*) does"
_WRITERS: Final = "each of these asks for the same partitions, and other classes are not run"
_LIGHTEST: Final = "a query would fail where a heavier fact has the partitions that the lightest lacks"
_UNION: Final = "each moment is answered by the best storage; the option storages leaves some out"

_ALWAYS: Final = {
    "bridge.table.field.aggregator": _always(_SETS, "collect_set"),
    "bridge.table.field.array.filter": _always(_SETS, "array_contains"),
    "disable.aggregate.resolver": _always(_MEASURES, "false"),
    "enable.attrfields.add.distinct": _always(_DISTINCT, "true"),
    "completeness.threshold": _always(_WHOLE, "100", "100.0"),
    "completeness.check.partition.column": _always(_WHOLE),
    "replace.timedim": _always("a range is answered by partitions, or by a column of rows", "true"),
    "time.range.writer.class": _always(
        _WRITERS, *(f"org.apache.lens.cube.parse.{one}TimeRangeWriter" for one in ("OR", "Between", "Abridged"))
    ),
    "between.only.time.range.writer": _always("conditions on partitions are as short as they can be", "false"),
    "time.range.writer.start.bound.type": _always(_BOUNDS, "closed"),
    "time.range.writer.end.bound.type": _always(_BOUNDS, "closed"),
    "partition.where.clause.format": _always("values of partition columns are compared as they are stored"),
    "pick.lightest.fact.first": _always(_LIGHTEST, "false"),
    "rewrite.dim.filter.to.fact.filter": _always("the rows are the same", "false", "true"),
    "process.time.partition.column": _always(_CHOSEN),
    "lookahead.ptparts.forinterval.PERIOD": _always(_CHOSEN),
    "lookahead.timeparts.forinterval.PERIOD": _always(_CHOSEN),
    "nonexisting.partitions": _always("Lens sets it; `missing` of an answer says which times are missing"),
    "enable.storages.union": _always(_UNION, "true"),
    "resolve.segmentations": _always("there are no segmentations", "false"),
}
"""Options of Lens that do not change answers, with what they may say; where that is nothing, they are refused."""

OPTIONS: Final = (
    Option(("join_type", f"{LENS}join.type"), _JOIN, "join_type"),
    Option(("join_chains",), _TRUTH, "join_chains"),
    Option((f"{LENS}disable.auto.join",), _NOT, "join_chains"),
    Option(("partial",), _TRUTH, "partial"),
    Option(("fail_if_partial", f"{LENS}fail.if.data.partial"), _NOT, "partial"),
    Option(("flatten_bridges", f"{LENS}enable.flattening.bridge.tables"), _TRUTH, "flatten_bridges"),
    Option(("flatten_early", f"{LENS}flatten.bridge.tables.early"), _TRUTH, "flatten_early"),
    Option(("select_to_group_by", f"{LENS}promote.select.togroupby"), _TRUTH, "select_to_group_by"),
    Option(("group_by_to_select", f"{LENS}promote.groupby.toselect"), _TRUTH, "group_by_to_select"),
    Option(("max_interval", f"{LENS}max.interval"), _PERIOD, "max_interval"),
    Option(("storages", f"{LENS}driver.supported.storages"), _NAMES, "storages"),
    Option(("facts.CUBE", f"{LENS}valid.CUBE.facttables"), _NAMES, "facts"),
    Option(("tables.FACT", f"{LENS}valid.fact.FACT.storagetables"), _NAMES, "tables"),
    Option(("periods.FACT.STORAGE", f"{LENS}valid.fact.FACT.storage.STORAGE.updateperiods"), _PERIODS, "periods"),
    Option(
        ("dimension_tables", f"{LENS}valid.dim.storgaetables", f"{LENS}valid.dim.storagetables"),
        _NAMES,
        "dimension_tables",
    ),
    Option(("now", "lens.query.current.time.millis"), _TIME, "now"),
    *(Option((f"{LENS}{name}",), values) for name, values in _ALWAYS.items()),
)


def option_of(name: str) -> tuple[Option, tuple[str, ...]]:
    """The option of a name, with the names of cubes, facts and storages in it.

    Raises:
        InvalidInput: there is none.
    """
    lowered = name.strip().lower()
    for option in OPTIONS:
        names = option.names_in(lowered)
        if names is not None:
            return option, names
    known = [one for option in OPTIONS for one in option.names]
    hint = did_you_mean(lowered, known, "Use one of the options in docs/cube-queries.md")
    raise InvalidInput("not an option of cube queries", option=name, hint=hint)


def value_of(option: Option, name: str, text: str) -> Any:
    """What a text says as the value of an option.

    Raises:
        InvalidInput: it is none of its values.
    """
    try:
        return option.values.read(text.strip())
    except (ValueError, KeyError, OverflowError, HbstoreError) as error:
        values = option.values
        reason = error.text if isinstance(error, HbstoreError) else values.reason
        give = f", or give {values.text}" if values.text else ""
        raise InvalidInput(
            "not a value of the option" if values.text else "cube queries do not take the option",
            option=name,
            value=repr(text),
            **({"reason": reason} if reason else {}),
            hint=f"Give {values.text}" if option.field is not None else f"Leave it out{give}",
        ) from None
