"""Templates become pages. All text in them is escaped, and no page may load or run anything but the console's files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from hbstore.cubes.query.options import PARTIAL_ANSWER
from hbstore.model.objects import Table
from hbstore.texts.wording import clipped, plural
from hbstore.times.moments import sql_text
from hbstore.times.time_range import time_text as range_text

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_KIBI: Final = 1024
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def page(request: Request, template: str, *, status: int = 200, title: str, **values: Any) -> Response:
    """A page.

    Args:
        request: what is asked; its user is named on the page.
        template: the file in ``templates/``.
        status: of the reply.
        title: of the page, as its heading and in the browser's tab.
        values: what the template shows.
    """
    user = getattr(request.state, "user", None)
    text = _ENVIRONMENT.get_template(template).render(title=title, path=request.url.path, user=user, **values)
    headers = {"Content-Security-Policy": _POLICY, "Vary": "Accept"}
    return HTMLResponse(text, status, headers=headers)


def address(*parts: str, **parameters: object) -> str:
    """The address of a resource.

    Args:
        parts: of its path, each of which is escaped.
        parameters: the query behind it; what is None is left out.

    >>> address("databases", "shop", "tables", "sales", "plan", filter="hour = 5", analyze=None)
    '/databases/shop/tables/sales/plan?filter=hour+%3D+5'
    """
    path = "".join(f"/{quote(part, safe='=')}" for part in parts)
    query = urlencode({name: value for name, value in parameters.items() if value is not None})
    return f"{path}?{query}" if query else path


def table_address(table: Table, *parts: str, **parameters: object) -> str:
    """The address of something of a table.

    >>> table_address(Table("shop", "sales"), "plan", filter="hour = 5")
    '/databases/shop/tables/sales/plan?filter=hour+%3D+5'
    """
    return address("databases", table.database, "tables", table.name, *parts, **parameters)


def moved(path: str, kept: Mapping[str, object], ends: tuple[str, str]) -> str:
    """The address of a page of times with another range, and what else was asked.

    >>> moved("/databases/shop/timelines", {}, ("2015-01-29", "2015-02"))
    '/databases/shop/timelines?from=2015-01-29&to=2015-02'
    """
    return f"{quote(path)}?{urlencode({**kept, 'from': ends[0], 'to': ends[1]})}"


def size_text(size: float | None) -> str:
    """A number of bytes, for reading; None: it is not known.

    >>> size_text(0), size_text(1536), size_text(5 * 2**40)
    ('0 B', '1.5 KiB', '5.0 TiB')
    """
    if size is None:
        return "–"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < _KIBI:
            return f"{size:,.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= _KIBI
    return f"{size:,.1f} PiB"


def number_text(number: float | None) -> str:
    """A number, for reading; None: it is not known.

    >>> number_text(1234567), number_text(None)
    ('1,234,567', '–')
    """
    return "–" if number is None else f"{number:,}"


def about_text(number: float | None) -> str:
    """An estimated number, for reading; None: it is not known.

    >>> about_text(1234.4), about_text(0.4), about_text(None)
    ('1,234', '< 1', '–')
    """
    if number is None:
        return "–"
    return "< 1" if 0 < number < 0.5 else f"{number:,.0f}"  # noqa: PLR2004


def duration_text(seconds: float | None) -> str:
    """How long something takes, for reading; None: it is not known.

    >>> duration_text(0.0000123), duration_text(0.0123), duration_text(12.3)
    ('12.3 µs', '12.3 ms', '12.3 s')
    """
    if seconds is None:
        return "–"
    for scale, unit in ((1, "s"), (1e3, "ms")):
        if seconds * scale >= 1:
            return f"{seconds * scale:,.3g} {unit}" if seconds * scale < _KIBI else f"{seconds * scale:,.0f} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def elapsed_text(time: timedelta | None) -> str:
    """A length of time by the clock, for reading; None: it is not known.

    >>> [elapsed_text(timedelta(seconds=seconds)) for seconds in (0.25, 12.34, 187, 7_512, 200_000)]
    ['0.25 s', '12.3 s', '3 min 7 s', '2 h 5 min', '2 d 7 h']
    """
    if time is None:
        return "–"
    seconds = time.total_seconds()
    if time >= 2 * _DAY:
        return f"{time.days:,} d {time % _DAY // _HOUR} h"
    if time >= _HOUR:
        return f"{time // _HOUR} h {time % _HOUR // _MINUTE} min"
    if time >= _MINUTE:
        return f"{time // _MINUTE} min {int(seconds) % 60} s"
    return f"{seconds:.1f} s" if seconds >= 1 else f"{seconds:.2f} s"


def share_text(part: float, whole: float) -> str:
    """A part of a whole in percent; what is nearly nothing or nearly all is never written as that.

    >>> share_text(1, 3), share_text(1, 10**6), share_text(10**6 - 1, 10**6), share_text(5, 5)
    ('33.3 %', '< 0.1 %', '> 99.9 %', '100 %')
    """
    if part in (0, whole):
        return "100 %" if part else "0 %"
    percent = 100 * part / whole
    if percent < 0.1:  # noqa: PLR2004
        return "< 0.1 %"
    return "> 99.9 %" if percent > 99.9 else f"{percent:.1f} %"  # noqa: PLR2004


def time_text(seconds: float) -> str:
    """A time in UTC, for reading; 0: it is not known.

    >>> time_text(1356998400)
    '2013-01-01 00:00:00'
    """
    return sql_text(datetime.fromtimestamp(seconds, UTC)) if seconds else "–"


def hint_text(hint: str) -> str:
    """What an error says to do, for readers of pages: what programs write is a box of the editor there.

    >>> hint_text("Ask for what there is with partial=True (--partial)")
    'Ask for what there is with “Partial answer” ticked in the editor'
    """
    return hint.replace(PARTIAL_ANSWER, "“Partial answer” ticked in the editor")


def moment_text(time: str) -> str:
    """A time as JSON has it, for reading: the date alone at midnight.

    >>> moment_text("2015-01-16T00:00:00+00:00"), moment_text("2015-01-16T05:00:00+00:00")
    ('2015-01-16', '2015-01-16 05:00:00')
    """
    return time.removesuffix("+00:00").removesuffix("T00:00:00").replace("T", " ")


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hbstore.console"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "about": about_text,
        "clip": clipped,
        "duration": duration_text,
        "elapsed": elapsed_text,
        "hint": hint_text,
        "moment": moment_text,
        "number": number_text,
        "size": size_text,
        "time": time_text,
        "when": range_text,
    }
    environment.globals |= {
        "address": address,
        "moved": moved,
        "plural": plural,
        "share": share_text,
        "table_address": table_address,
    }
    return environment


_ENVIRONMENT: Final = _environment()
