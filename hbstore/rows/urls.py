"""Store URLs: which backend, where, and with which options.

| URL | backend |
|---|---|
| ``memory://`` | in this process, gone with it; ``?atomic=false`` offers no transactions |
| ``sqlite:///data/catalog.db`` | the file /data/catalog.db |
| ``sqlite://catalog.db``, ``catalog.db``, ``/data/catalog.db`` | the file of that path |
| ``hbase://host:port/prefix`` | HBase through its Thrift gateway |
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, quote, unquote, urlencode

from hbstore.errors import InvalidUrl, did_you_mean

_SCHEMES: Final = ("memory", "sqlite", "hbase")
_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://(.*)\Z", re.DOTALL)
_EXAMPLES: Final = "Use sqlite:///abs/path.db, sqlite://path.db, a plain path, hbase://host:port/prefix or memory://"


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store URL in its parts.

    Attributes:
        text: the URL as given.
        scheme: memory, sqlite or hbase.
        place: what stands between ``://`` and ``?``, percent signs decoded; for a plain path, the path as it is.
        options: what follows ``?``, by name.
    """

    text: str
    scheme: str
    place: str
    options: dict[str, str] = field(default_factory=dict)

    def known_options(self, names: Collection[str]) -> dict[str, str]:
        """The options, if all of them are among these names; InvalidUrl otherwise."""
        for name in self.options:
            if name not in names:
                listed = ", ".join(sorted(names))
                raise InvalidUrl(
                    "the store URL has an unknown option",
                    url=self.text,
                    option=name,
                    hint=f"The options of {self.scheme} are {listed}",
                )
        return self.options


def parse_url(text: str) -> StoreUrl:
    """The parts of a store URL or plain path.

    Raises:
        InvalidUrl: another scheme, no path, or an option without a value.

    >>> parse_url("sqlite:///a.db?mode=ro")
    StoreUrl(text='sqlite:///a.db?mode=ro', scheme='sqlite', place='/a.db', options={'mode': 'ro'})
    >>> parse_url("sqlite:////a.db").place
    '/a.db'
    >>> parse_url("catalog.db").place
    'catalog.db'
    """
    if not isinstance(text, str) or not _encodes(text):
        raise InvalidUrl("the text is not a store URL", url=repr(text), hint=_EXAMPLES)
    match = _SCHEME.match(text)
    if not match:
        if not text.strip() or "\0" in text or text.partition(":")[0].lower() in (*_SCHEMES, ""):
            raise InvalidUrl("the text is not a store URL", url=repr(text), hint=_EXAMPLES)
        return StoreUrl(text, "sqlite", text)
    scheme, rest = match[1].lower(), match[2]
    if scheme not in _SCHEMES:
        hint = did_you_mean(scheme, _SCHEMES, _EXAMPLES)
        raise InvalidUrl("no backend has this scheme", url=text, scheme=scheme, hint=hint)
    place, _, query = rest.partition("?")
    try:
        options = dict(parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query)))
    except ValueError as error:
        raise InvalidUrl("the options of a store URL must be name=value pairs", url=text, hint=_EXAMPLES) from error
    place = unquote(place)
    if scheme == "sqlite" and place.startswith("//"):
        place = "/" + place.lstrip("/")  # sqlite:////data/catalog.db, as SQLAlchemy writes absolute paths
    return StoreUrl(text, scheme, place, options)


def _encodes(text: str) -> bool:
    """Whether a file can have it in its name; bytes that are not UTF-8 stand in it as Python reads them from a name."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def shared_url(url: str) -> str:
    """The URL as tasks open it: relative paths of SQLite become absolute ones, as a task runs in a folder of its own.

    Raises:
        InvalidUrl: no store URL, or ``memory://``, where every process would have a store of its own.

    >>> shared_url("hbase://127.0.0.1:9090/prefix")
    'hbase://127.0.0.1:9090/prefix'
    >>> shared_url("/data/catalog 1.db?timeout=5")
    'sqlite:///data/catalog%201.db%3Ftimeout%3D5'
    """
    parsed = parse_url(url)
    if parsed.scheme == "memory":
        raise InvalidUrl(
            "the tasks of a Spark job cannot share a store in memory",
            url=url,
            hint="Use a store of sqlite:// or hbase://",
        )
    return absolute_url(url)


def absolute_url(url: str) -> str:
    """The URL as it is right in any folder.

    Raises:
        InvalidUrl: no store URL.

    >>> absolute_url("hbase://127.0.0.1:9090/prefix"), absolute_url("/data/catalog.db")
    ('hbase://127.0.0.1:9090/prefix', 'sqlite:///data/catalog.db')
    """
    parsed = parse_url(url)
    if parsed.scheme != "sqlite":
        return url
    options = f"?{urlencode(parsed.options)}" if parsed.options else ""
    return f"sqlite://{quote(str(Path(parsed.place).absolute()))}{options}"
