"""The URL of a store on HBase: ``hbase://host:port/prefix?timeout=10&pool=8&retries=3``."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from hbstore.errors import InvalidUrl
from hbstore.rows.urls import parse_url

DEFAULT_PORT: Final = 9090
DEFAULT_PREFIX: Final = "hbstore"
_PREFIX = re.compile(r"[A-Za-z0-9_]{1,64}\Z")
_FORM: Final = "Write hbase://host:9090/prefix?timeout=10&pool=8&retries=3; all but the host may be left out"


@dataclass(frozen=True, slots=True)
class HBaseAddress:
    """Where HBase's Thrift gateway is, and how patient to be with it.

    Attributes:
        url: as given.
        host: of the gateway.
        port: of the gateway.
        prefix: the two tables are ``<prefix>_catalog`` and ``<prefix>_partitions``.
        timeout: seconds for one request, repetitions included.
        pool: connections at most.
        retries: how often a request that is safe to repeat is repeated.
    """

    url: str
    host: str
    port: int = DEFAULT_PORT
    prefix: str = DEFAULT_PREFIX
    timeout: float = 10.0
    pool: int = 8
    retries: int = 3

    @property
    def catalog(self) -> bytes:
        """The HBase table of catalog rows."""
        return f"{self.prefix}_catalog".encode()

    @property
    def partitions(self) -> bytes:
        """The HBase table of partition rows."""
        return f"{self.prefix}_partitions".encode()


def parse_hbase_url(url: str) -> HBaseAddress:
    """The address that a URL means.

    Raises:
        InvalidUrl: it is not one; the text says which part is wrong.

    >>> parse_hbase_url("hbase://gateway/shop?timeout=2.5").timeout
    2.5
    """
    parsed = parse_url(url)
    try:
        parts = urlsplit(f"//{parsed.place}")
        port = DEFAULT_PORT if parts.port is None else parts.port
    except ValueError as error:
        raise InvalidUrl("the URL is not a valid HBase URL", url=url, reason=error, hint=_FORM) from error
    strange = parts.username is not None or parts.query or parts.fragment
    if parsed.scheme != "hbase" or not parts.hostname or strange or port == 0:
        raise InvalidUrl("the URL is not a valid HBase URL", url=url, hint=_FORM)
    prefix = parts.path.strip("/") or DEFAULT_PREFIX
    if not _PREFIX.match(prefix):
        text = "the prefix of HBase's tables may hold only letters, digits and underscores, 64 of them at most"
        raise InvalidUrl(text, url=url, prefix=prefix, hint=_FORM)
    options = parsed.known_options(("timeout", "pool", "retries"))
    numbers = {name: _number(url, name, text) for name, text in options.items()}
    return HBaseAddress(
        url,
        parts.hostname,
        port,
        prefix,
        timeout=numbers.get("timeout", 10.0),
        pool=int(numbers.get("pool", 8)),
        retries=int(numbers.get("retries", 3)),
    )


_LIMITS: Final = {"timeout": (0.05, 3600), "pool": (1, 1000), "retries": (0, 100)}


def _number(url: str, name: str, text: str) -> float:
    least, most = _LIMITS[name]
    try:
        number = float(text) if name == "timeout" else int(text)
    except ValueError:
        number = math.nan
    if not least <= number <= most:
        hint = f"Give a number from {least} to {most}"
        raise InvalidUrl("the value of this option is invalid", url=url, option=name, value=text, hint=hint)
    return number
