"""The options of cube queries: their names here and in Lens, what they may say, and why other values are refused.

Capital words in a name stand for the name of a cube, a fact or a storage: ``facts.CUBE`` is ``facts.rides``.

>>> option, names = option_of("lens.cube.query.valid.rides.facttables")
>>> option.names[0], names
('facts.CUBE', ('rides',))
>>> option_of("joins_type")
Traceback (most recent call last):
    ...
hbstore.errors.InvalidInput: not an option of cube queries: option=joins_type, near=join_type. Use one of the options \
in docs/cube-queries.md
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from typing import Any, Final

from hbstore.errors import HbstoreError, InvalidInput
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
        text: in words, for errors and docs.
        read: the value of a text; ValueError or HbstoreError where it is none.
    """

    text: str
    read: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Option:
    """An option that changes answers.

    Attributes:
        names: the one that errors and docs use, and Lens's.
        values: what it may say.
        of: the field of `QueryOptions` that it sets.
    """

    names: tuple[str, ...]
    values: Values
    of: str

    def names_in(self, name: str) -> tuple[str, ...] | None:
        """The names of cubes, facts and storages in a name of this option; None where it is not one of it."""
        return next((found for pattern in self.names if (found := _names_in(pattern, name)) is not None), None)


@dataclass(frozen=True, slots=True)
class Fixed:
    """An option of Lens that may say nothing but what is always so.

    Attributes:
        name: Lens's.
        values: what it may say; none: it is refused whatever it says.
        reason: why it may say nothing else.
    """

    name: str
    values: tuple[str, ...]
    reason: str


def _names_in(pattern: str, name: str) -> tuple[str, ...] | None:
    found = re.fullmatch(re.sub("[A-Z]+", r"(\\w+)", re.escape(pattern)), name)
    return None if found is None else found.groups()


def _choice(**values: Any) -> Values:
    return Values(" or ".join(values), lambda text: values[text.lower()])


def _names(text: str) -> frozenset[str]:
    found = frozenset(one.strip().lower() for one in text.split(","))
    if "" in found:
        raise ValueError
    return found


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
)
"""Options that change answers."""

_SETS: Final = "fields behind a bridge table become sets"
_CHOSEN: Final = "partitions are chosen by the time dimension that the query names"
_WHOLE: Final = "a partition is there or not, and nothing says how complete it is"
_MEASURES: Final = "a measure outside of an aggregate stands for its default aggregate"
_BOUNDS: Final = "an open bound would name a partition that is not read"

FIXED: Final = (
    Fixed(f"{LENS}bridge.table.field.aggregator", ("collect_set",), _SETS),
    Fixed(f"{LENS}bridge.table.field.array.filter", ("array_contains",), _SETS),
    Fixed(f"{LENS}disable.aggregate.resolver", ("false",), _MEASURES),
    Fixed(
        f"{LENS}enable.attrfields.add.distinct",
        ("true",),
        "rolled-up rows do not tell how often some attributes come together; count(*) does",
    ),
    Fixed(f"{LENS}completeness.threshold", ("100", "100.0"), _WHOLE),
    Fixed(f"{LENS}completeness.check.partition.column", (), _WHOLE),
    Fixed(f"{LENS}replace.timedim", ("true",), "a range is answered by partitions, or by a column of rows"),
    Fixed(
        f"{LENS}time.range.writer.class",
        tuple(f"org.apache.lens.cube.parse.{one}TimeRangeWriter" for one in ("OR", "Between", "Abridged")),
        "each of these asks for the same partitions, and other classes are not run",
    ),
    Fixed(f"{LENS}between.only.time.range.writer", ("false",), "conditions on partitions are as short as they can be"),
    Fixed(f"{LENS}time.range.writer.start.bound.type", ("closed",), _BOUNDS),
    Fixed(f"{LENS}time.range.writer.end.bound.type", ("closed",), _BOUNDS),
    Fixed(f"{LENS}partition.where.clause.format", (), "values of partition columns are compared as they are stored"),
    Fixed(
        f"{LENS}pick.lightest.fact.first",
        ("false",),
        "a query would fail where a heavier fact has the partitions that the lightest lacks",
    ),
    Fixed(f"{LENS}rewrite.dim.filter.to.fact.filter", ("false", "true"), "the rows are the same"),
    Fixed(f"{LENS}process.time.partition.column", (), _CHOSEN),
    Fixed(f"{LENS}lookahead.ptparts.forinterval.PERIOD", (), _CHOSEN),
    Fixed(f"{LENS}lookahead.timeparts.forinterval.PERIOD", (), _CHOSEN),
    Fixed(f"{LENS}nonexisting.partitions", (), "Lens sets it; `missing` of an answer says which times are missing"),
    Fixed(
        f"{LENS}enable.storages.union",
        ("true",),
        "each moment is answered by the best storage; the option storages leaves some out",
    ),
    Fixed(f"{LENS}resolve.segmentations", ("false",), "there are no segmentations"),
)
"""Options of Lens that do not change answers, or are refused."""


def option_of(name: str) -> tuple[Option, tuple[str, ...]] | None:
    """The option of a name, with the names of cubes, facts and storages in it; None for one that is `FIXED`.

    Raises:
        InvalidInput: there is none.
    """
    lowered = name.strip().lower()
    for option in OPTIONS:
        names = option.names_in(lowered)
        if names is not None:
            return option, names
    if _fixed(lowered) is not None:
        return None
    everything = [*(one for option in OPTIONS for one in option.names), *(one.name for one in FIXED)]
    near = get_close_matches(lowered, everything, 3)
    raise InvalidInput(
        "not an option of cube queries",
        option=name,
        **({"near": ", ".join(near)} if near else {}),
        hint="Use one of the options in docs/cube-queries.md",
    )


def value_of(option: Option, name: str, text: str) -> Any:
    """What a text says as the value of an option.

    Raises:
        InvalidInput: it is none of its values.
    """
    try:
        return option.values.read(text.strip())
    except (ValueError, KeyError, OverflowError, HbstoreError) as error:
        reason = {"reason": error.text} if isinstance(error, HbstoreError) else {}
        raise InvalidInput(
            "not a value of the option",
            option=name,
            value=repr(text),
            **reason,
            hint=f"Give {option.values.text}",
        ) from None


def check_fixed(name: str, text: str) -> None:
    """See that an option of Lens says what is always so.

    Raises:
        InvalidInput: it says something else.
    """
    fixed = _fixed(name.strip().lower())
    if fixed is None or text.strip().lower() in map(str.lower, fixed.values):
        return
    raise InvalidInput(
        "cube queries do not take the option" if not fixed.values else "not a value of the option",
        option=name,
        value=repr(text),
        reason=fixed.reason,
        hint=f"Leave it out, or give {' or '.join(fixed.values)}" if fixed.values else "Leave it out",
    )


def _fixed(name: str) -> Fixed | None:
    return next((one for one in FIXED if _names_in(one.name, name) is not None), None)
