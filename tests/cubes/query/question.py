"""A query of the cube of random stars, written twice: as the cube is asked, and as a query of the cube's own rows.

A question is made of terms (`terms.py`), each of which has two texts. ``text`` is the cube query. ``sql`` is the query
of the cube's rows in DuckDB, which knows no cube: it selects the rows of the times that are asked for, with their keys,
and aggregates them. Neither is read from the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.cubes.query.terms import AND, ATOM, NUMBER, Term


@dataclass(frozen=True, slots=True)
class Item:
    """What is selected: a key of groups, or what is aggregated.

    Attributes:
        term: the expression: a key's of rows, an aggregate's of groups.
        alias: as it is written; None: the item has none.
        key: the number of the key; None for what is aggregated.
    """

    term: Term
    alias: str | None
    key: int | None

    @property
    def text(self) -> str:
        """As it stands in SELECT."""
        return self.term.text if self.alias is None else f"{self.term.text} as {self.alias}"

    @property
    def result(self) -> Term:
        """The item as HAVING and ORDER BY name it: by its alias if it has one."""
        text = f"({self.term.text})" if self.term.level < ATOM else self.term.text
        return Term(text if self.alias is None else self.alias, self.meaning, self.term.kind)

    @property
    def meaning(self) -> str:
        """What it is of groups."""
        return self.term.meaning if self.key is None else f"k{self.key}"


@dataclass(frozen=True, slots=True)
class Order:
    """What rows are ordered by.

    Attributes:
        term: an expression of groups.
        descends: whether the largest comes first.
        nulls_first: where NULL comes; None: where Spark puts it, before all others.
    """

    term: Term
    descends: bool
    nulls_first: bool | None = None

    @property
    def text(self) -> str:
        """As it stands in ORDER BY."""
        nulls = {None: "", True: " nulls first", False: " nulls last"}[self.nulls_first]
        return f"{self.term.text}{' desc' * self.descends}{nulls}"

    @property
    def meaning(self) -> str:
        """The same in DuckDB's SQL."""
        first = not self.descends if self.nulls_first is None else self.nulls_first
        return f"{self.term.meaning} {'DESC' if self.descends else 'ASC'} NULLS {'FIRST' if first else 'LAST'}"


def place(at: int, item: Item, *, descends: bool) -> Order:
    """What is selected at a place, by its number."""
    return Order(Term(str(at), item.meaning, NUMBER), descends)


@dataclass(frozen=True, slots=True)
class Question:
    """A query of the cube.

    Attributes:
        source: what stands in FROM.
        items: what is selected.
        where: conditions on rows, of which the first are the ranges of time.
        keys: what is grouped by: the keys of items, and others.
        grouped: the same as it is written in GROUP BY; None: there is no GROUP BY.
        having: a condition on groups.
        order: what the rows are ordered by: at last all that is selected, or nothing.
        limit: how many rows are asked for.
        distinct: whether rows that are the same come once.
        comment: stands before WHERE.
        time: of the times of a row, the one that says which definition of an expression counts.
    """

    source: str
    items: Sequence[Item]
    where: Sequence[Term]
    keys: Sequence[Term]
    grouped: Sequence[str] | None = None
    having: Term | None = None
    order: Sequence[Order] = ()
    limit: int | None = None
    distinct: bool = False
    comment: str = ""
    time: str = "ts"

    @property
    def text(self) -> str:
        """As the cube is asked."""
        text = f"cube select {'distinct ' * self.distinct}{', '.join(item.text for item in self.items)}"
        text += f" from {self.source}{self.comment} where {' and '.join(one.at(AND) for one in self.where)}"
        if self.grouped is not None:
            text += f" group by {', '.join(self.grouped)}"
        if self.having is not None:
            text += f" having {self.having.text}"
        if self.order:
            text += f" order by {', '.join(one.text for one in self.order)}"
        return text if self.limit is None else f"{text} limit {self.limit}"

    def sql(self, missing: Sequence[tuple[datetime, datetime]] = ()) -> str:
        """The same of the cube's own rows in DuckDB, but for those of some times."""
        keys = "".join(f", {key.meaning} AS k{number}" for number, key in enumerate(self.keys))
        where = [one.meaning for one in self.where]
        where += [f"NOT (ts >= '{low:%Y-%m-%d %H:%M:%S}' AND ts < '{high:%Y-%m-%d %H:%M:%S}')" for low, high in missing]
        rows = f"SELECT *{keys} FROM (SELECT *, {self.time} AS deciding FROM cube_rows) WHERE {' AND '.join(where)}"
        sql = f"WITH rows_of_times AS ({rows}) SELECT {'DISTINCT ' * self.distinct}"
        sql += f"{', '.join(item.meaning for item in self.items)} FROM rows_of_times"
        if self.keys:
            sql += f" GROUP BY {', '.join(f'k{number}' for number in range(len(self.keys)))}"
        if self.having is not None:
            sql += f" HAVING {self.having.meaning}"
        if self.order:
            sql += f" ORDER BY {', '.join(one.meaning for one in self.order)}"
        return sql if self.limit is None else f"{sql} LIMIT {self.limit}"
