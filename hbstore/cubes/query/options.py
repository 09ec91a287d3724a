"""Options of a cube query: how it is answered, and which facts, storages and update periods it may be answered from.

They are said in the query itself, ``… OPTIONS (join_type = 'inner')``, as arguments, in a session and in a file; what
is first here counts most. `option_names` has their names.

>>> QueryOptions.of({"lens.cube.query.join.type": "inner"}).changed({"max_interval": "daily"}).join_type
'INNER'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from os import PathLike
from typing import Any, Final, TypeAlias

from hbstore.cubes.query.option_files import read_options
from hbstore.cubes.query.option_names import option_of, value_of
from hbstore.errors import InvalidInput
from hbstore.model.frozen import FrozenDict
from hbstore.texts.arguments import expect, expect_dict
from hbstore.times.time_range import AbsoluteTime, WrittenTime
from hbstore.times.update_period import UpdatePeriod

OptionsArgument: TypeAlias = "Mapping[str, str] | str | PathLike[str] | QueryOptions | None"
"""Options as callers give them: names with values, the path of a file, or what was read from these."""

PARTIAL_ANSWER: Final = "partial=True (--partial)"
"""How programs and commands ask for what there is, as errors say it; a page with forms says it in its own words."""


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a cube query is answered.

    Attributes:
        partial: whether what there is will do, with what is missing said.
        join_type: how dimensions are joined that chains lead to: LEFT keeps rows without a row of the dimension.
        join_chains: whether a query may name fields behind join chains.
        flatten_bridges: whether what lies behind an edge to many rows is joined as sets, one row for each key.
        flatten_early: whether expressions of these are computed over the sets of fields, not in each row.
        select_to_group_by: whether a query with aggregates, and without GROUP BY, is grouped by what else it selects.
        group_by_to_select: whether a query that selects aggregates alone also selects what it is grouped by.
        max_interval: the largest update period of which partitions are read; None: any.
        storages: on which storages tables are read; None: on any.
        facts: by cube, which of its facts are read.
        tables: by fact, which of its storage tables are read.
        periods: by fact and storage, of which update periods partitions are read.
        dimension_tables: which storage tables of dimension tables are read; None: any.
        now: what relative times are relative to; None: the clock's time.
    """

    partial: bool = False
    join_type: str = "LEFT"
    join_chains: bool = True
    flatten_bridges: bool = False
    flatten_early: bool = False
    select_to_group_by: bool = True
    group_by_to_select: bool = False
    max_interval: UpdatePeriod | None = None
    storages: frozenset[str] | None = None
    facts: Mapping[tuple[str, ...], frozenset[str]] = FrozenDict()
    tables: Mapping[tuple[str, ...], frozenset[str]] = FrozenDict()
    periods: Mapping[tuple[str, ...], frozenset[UpdatePeriod]] = FrozenDict()
    dimension_tables: frozenset[str] | None = None
    now: WrittenTime | None = None

    @staticmethod
    def of(
        options: OptionsArgument = None,
        *,
        session: Mapping[str, str] = FrozenDict(),
        partial: bool = False,
        now: datetime | None = None,
    ) -> QueryOptions:
        """The options that a caller gives; those of a session count more than a file's, and less than all others.

        Args:
            options: names with values, or the path of a file that holds them.
            session: those of the session.
            partial: whether what there is will do; False leaves it to the options.
            now: counts more than the options' time.

        Raises:
            InvalidInput: one is not an option, or has not such a value; or the file cannot be read.
        """
        if isinstance(options, QueryOptions):
            result = options.changed(session) if session else options
        elif isinstance(options, str | PathLike):
            result = QueryOptions().changed(read_options(options)).changed(session)
        else:
            named: Mapping[str, str] = {} if options is None else options
            expect_dict("options", named, str, hint='Give a dict of texts, such as {"join_type": "inner"}, or a path')
            result = QueryOptions().changed(session).changed(named)
        if partial:
            result = replace(result, partial=True)
        return result if now is None else replace(result, now=AbsoluteTime(now))

    def changed(self, options: Mapping[str, str]) -> QueryOptions:
        """These options with others said over them.

        Raises:
            InvalidInput: one is not an option, or has not such a value, or two say the same differently.
        """
        settings: dict[tuple[str, tuple[str, ...]], tuple[str, Any]] = {}
        for name, text in options.items():
            option, names = option_of(expect("option", name, str, hint="Give the name of an option"))
            value = value_of(option, name, text)
            if option.field is None:
                continue
            first, known = settings.setdefault((option.field, names), (name, value))
            if known != value:
                raise InvalidInput(
                    "two options say the same thing differently", one=first, other=name, hint="Give one of them"
                )
        fields: dict[str, Any] = {}
        for (field, names), (_, value) in settings.items():
            others = fields.get(field, getattr(self, field))
            fields[field] = FrozenDict({**others, names: value}) if names else value
        return replace(self, **fields)

    def time(self, clock: datetime) -> datetime:
        """What relative times are relative to."""
        return clock if self.now is None else self.now.at(lambda: clock)

    def bars(self, cube: str, fact: str, storage: str, table: str) -> tuple[str, str] | None:
        """Why a fact's table on a storage may not be read: Lens's cause and a detail; None where it may be."""
        return (
            _barred("UNSUPPORTED_STORAGE", "storages", self.storages, storage)
            or _barred("INVALID_STORAGE", f"facts.{cube}", self.facts.get((cube,)), fact)
            or _barred("INVALID_STORAGE", f"tables.{fact}", self.tables.get((fact,)), table)
        )

    def bars_dimension_table(self, storage: str, table: str) -> tuple[str, str] | None:
        """Why a dimension table's table on a storage may not be read."""
        return _barred("UNSUPPORTED_STORAGE", "storages", self.storages, storage) or _barred(
            "INVALID_STORAGE", "dimension_tables", self.dimension_tables, table
        )

    def allows_period(self, fact: str, storage: str, period: UpdatePeriod) -> bool:
        """Whether partitions of an update period of a fact on a storage may be read."""
        some = self.periods.get((fact, storage))
        return (self.max_interval is None or period.rank <= self.max_interval.rank) and (some is None or period in some)


def _barred(cause: str, option: str, allowed: frozenset[str] | None, name: str) -> tuple[str, str] | None:
    if allowed is None or name in allowed:
        return None
    return cause, f"the option {option} allows {', '.join(sorted(allowed))} alone"
