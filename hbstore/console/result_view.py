"""What the page of a query shows of its result: some rows as texts, and a chart of the first ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

import pyarrow as pa
from markupsafe import Markup
from pyarrow import compute, types

from hbstore.console.drawings.chart import SERIES, ChartBar, Series, bar_chart, is_drawn, line_chart
from hbstore.query_service.formats import text_columns
from hbstore.query_service.query import Query, QueryResult, ResultColumn
from hbstore.query_service.service import QueryService
from hbstore.query_service.texts import is_string
from hbstore.texts.wording import clipped, plural

_ROWS: Final = 100
"""Of a page."""

_LETTERS: Final = 1_000
"""Of a value; the files that can be downloaded have all."""

_LONG: Final = 10
"""Letters of a number that is not shortened."""

_DIGITS: Final = 8
"""Of a double that is shortened: those that count."""

_LEAST, _MOST = 1e-4, 1e15
"""Doubles of this size and more, and those below that, are written without a power of ten."""

_FLOATING: Final = frozenset({"float", "double"})
_POINTS: Final = 20_000
"""Rows of which a chart is made at most."""

_BARS: Final = 40
_WIDE, _NARROW = 1_200, 360
"""Pixels of a chart on a screen, and of that on a telephone."""

_NUMBER: Final = re.compile("(tinyint|smallint|int|bigint|float|double|decimal.*)")
_TIME: Final = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[-T ](.+))?)?)?")
_ORIGIN: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST, _LAST = (
    (datetime(year, *day, tzinfo=UTC) - _ORIGIN) // _MICROSECOND for year, day in ((1, (1, 1)), (9999, (12, 31)))
)
_DAY: Final = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is shown.

    Attributes:
        text: of it; None: it is NULL.
        is_cut: whether the value's text is longer.
        whole: the text with all digits, where fewer are shown; None: all are.
    """

    text: str | None
    is_cut: bool
    whole: str | None = None


@dataclass(frozen=True, slots=True)
class ResultPage:
    """Some rows of a result.

    Attributes:
        result: of which they are.
        rows: of them.
        first: the number of the first one, from 1 on, as the page before says.
        following: the token of the page behind; None: there is none.
    """

    result: QueryResult
    rows: Sequence[Sequence[Cell]]
    first: int
    following: str | None

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.first + len(self.rows) - 1


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, once for each width.

    Attributes:
        wide: for screens.
        narrow: for telephones.
        notes: what is not drawn.
    """

    wide: Markup
    narrow: Markup
    notes: Sequence[str]


def is_number(column: ResultColumn) -> bool:
    """Whether a column holds numbers.

    >>> is_number(ResultColumn(name="n", type="decimal(10,2)")), is_number(ResultColumn(name="n", type="interval day"))
    (True, False)
    """
    return _NUMBER.fullmatch(column.type) is not None


def result_page(service: QueryService, query: Query, token: str | None, first: int) -> ResultPage:
    """A page of the rows of a query that has succeeded.

    Args:
        service: which has them.
        query: whose.
        token: of the first row; None: from the beginning.
        first: the number of the first row.

    Raises:
        ResultExpired, InvalidInput, ReadFailed: as `QueryService.fetch` and `text_columns`.
    """
    fetched, batches = service.fetch(query.id, page=token, rows=_ROWS)
    assert fetched.result is not None  # as there is one to fetch
    rows: list[Sequence[Cell]] = []
    behind = None
    for batch, behind in batches:  # noqa: B007  the last one counts
        columns = text_columns(fetched.result.columns, batch)
        rows += (list(map(_cell, row, fetched.result.columns)) for row in zip(*columns, strict=True))
    return ResultPage(fetched.result, rows, first, None if behind is None else behind.token(query.id))


def _cell(text: str | None, column: ResultColumn) -> Cell:
    if text is None or len(text) <= _LONG:
        return Cell(text, is_cut=False)
    if column.type in _FLOATING:
        return Cell(rounded(text), is_cut=False, whole=text)
    return Cell(text, is_cut=False) if len(text) <= _LETTERS else Cell(text[:_LETTERS], is_cut=True)


def rounded(text: str) -> str:
    """The text of a double with eight digits that count: what comes behind is mostly an error of computing.

    >>> [rounded(text) for text in ("0.30000000000000004", "1234.5678901234567", "-123456789012.25", "1.23456789e-07")]
    ['0.3', '1234.5679', '-123456789012', '1.2345679e-07']
    """
    value = float(text)
    if not _LEAST <= abs(value) < _MOST:
        return f"{value:.{_DIGITS}g}"
    places = max(_DIGITS - 1 - math.floor(math.log10(abs(value))), 0)
    shown = f"{value:.{places}f}"
    return shown.rstrip("0").removesuffix(".") if places else shown


def result_chart(service: QueryService, query: Query) -> Chart | None:
    """A chart of a result, if it has one.

    Lines, if its first column is a time and the others are numbers; bars, if its first column is a text and the second
    a number.

    Raises:
        ResultExpired, ReadFailed: as `QueryService.fetch`.
    """
    result = query.result
    if result is None or result.rows == 0 or len(result.columns) < 2 or not is_number(result.columns[1]):  # noqa: PLR2004
        return None
    _, batches = service.fetch(query.id, rows=_POINTS)
    table = pa.Table.from_batches([batch for batch, _ in batches])
    if table.num_rows == 0 or table.num_columns != len(result.columns):
        return None
    notes = []
    if result.rows > table.num_rows:
        notes.append(f"drawn are the first {table.num_rows:,} of {plural(result.rows, 'row')}")
    times = _times(table.column(0)) if all(map(is_number, result.columns[1:])) else None
    if times is not None:
        return _lines(query, result, table, times, notes)
    return _bars(query, result, table, notes) if is_string(table.schema.field(0).type) else None


def _lines(
    query: Query, result: QueryResult, table: pa.Table, times: Sequence[int | None], notes: list[str]
) -> Chart | None:
    order = sorted((at for at, time in enumerate(times) if time is not None), key=lambda at: times[at] or 0)
    if len(order) < len(times):
        notes.append(f"{plural(len(times) - len(order), 'row')} without a time, or of a year behind 9999")
    shown = result.columns[1 : len(SERIES) + 1]
    if len(result.columns) > len(shown) + 1:
        notes.append(f"{plural(len(result.columns) - len(shown) - 1, 'more column')} in the table")
    series, special = [], 0
    for number, column in enumerate(shown, 1):
        values = _floats(table.column(number))
        special += sum(value is not None and not is_drawn(value) for value in values)
        series.append(Series(column.name, [values[at] for at in order]))
    if special:
        notes.append(f"{plural(special, 'value')} that are NaN or infinite")
    if not any(is_drawn(value) for one in series for value in one.values):
        return None
    what = _what(query, result)
    ordered = [times[at] or 0 for at in order]
    wide, narrow = (Markup(str(line_chart(ordered, series, width, what))) for width in (_WIDE, _NARROW))  # noqa: S704
    return Chart(wide, narrow, notes)


def _bars(query: Query, result: QueryResult, table: pa.Table, notes: list[str]) -> Chart:
    rows = table.slice(0, _BARS)
    if table.num_rows > rows.num_rows:
        notes[:] = [f"drawn are the first {rows.num_rows} of {plural(result.rows, 'row')}"]
    if len(result.columns) > 2:  # noqa: PLR2004
        notes.append(f"bars of {clipped(result.columns[1].name, 60)}; the table has the other columns")
    two = rows.select([0, 1]).combine_chunks()
    names, texts = (
        [text for batch in two.to_batches() for text in text_columns(result.columns[:2], batch)[column]]
        for column in (0, 1)
    )
    values = _floats(two.column(1))
    bars = [
        ChartBar("NULL" if name is None else name or "(empty)", _cell(text, result.columns[1]).text or "NULL", value)
        for name, text, value in zip(names, texts, values, strict=True)
    ]
    what = _what(query, result)
    wide, narrow = (Markup(str(bar_chart(bars, width, what))) for width in (_WIDE, _NARROW))  # noqa: S704
    return Chart(wide, narrow, notes)


def _what(query: Query, result: QueryResult) -> str:
    """What a chart shows."""
    return clipped(query.request.name or f"By {result.columns[0].name}", 100)


def _floats(column: pa.ChunkedArray) -> list[float | None]:
    """Numbers as doubles, which is as exact as a picture needs."""
    found: list[float | None] = compute.cast(column, pa.float64(), safe=False).to_pylist()
    return found


def _times(column: pa.ChunkedArray) -> list[int | None] | None:
    """A column as microseconds since 1970, None where there is no time; None if it is no column of times."""
    if types.is_date32(column.type):
        days = compute.cast(column, pa.int32()).to_pylist()
        return [_within(None if day is None else day * _DAY) for day in days]
    if types.is_timestamp(column.type):
        return [_within(time) for time in compute.cast(column, pa.int64()).to_pylist()]
    return _written_times(column.to_pylist()) if is_string(column.type) else None


def _within(time: int | None) -> int | None:
    return time if time is not None and _FIRST <= time <= _LAST else None


def _written_times(texts: Iterable[str | None]) -> list[int | None] | None:
    """Texts as times, if all of them are: such as the values of partition columns."""
    times: list[int | None] = []
    for text in texts:
        time = None if text is None else _written(text)
        if text is not None and time is None:
            return None
        times.append(time)
    return times if any(time is not None for time in times) else None


def _written(text: str) -> int | None:
    """A time as it is written from the year on, as far as it goes: ``2015``, ``2015-01-29-06``, ``2015-01-29 06:30``.

    >>> _written("1970-01-01-01"), _written("7")
    (3600000000, None)
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, clock = match.groups()
    try:
        time = datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}T{clock or '00'}")
    except ValueError:
        return None
    return (time.replace(tzinfo=time.tzinfo or UTC) - _ORIGIN) // _MICROSECOND
