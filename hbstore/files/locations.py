"""Locations as Hive and Hadoop write them: ``file:/data/warehouse``, ``s3://bucket/sales``, or a bare path.

A location is a scheme, an authority and the names of folders. Names are taken as they stand: nothing is
percent-decoded (``file:/a%20b`` is the folder ``a%20b``), and ``?`` and ``#`` are letters like others.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hbstore.errors import FileOperationFailed

LOCAL: Final = "file"
"""The scheme of the machine's own folders."""

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*\Z")
_URI: Final = re.compile("[A-Za-z][A-Za-z0-9+.-]*:")
_AUTHORITY: Final = re.compile(r"(?!.*::)[\w.@:\[\]-]*\Z")  # no options, no chains: what a file system is opened by
_ONE_SERVICE: Final[Mapping[str, str]] = {"s3a": "s3", "s3n": "s3", "gcs": "gs", "abfss": "abfs"}
_HINT: Final = "Write an absolute path or a URI, such as /data/sales, file:/data/sales or s3://bucket/sales"


@dataclass(frozen=True, slots=True)
class Location:
    """A place in a file system.

    Attributes:
        scheme: in lower case, such as ``file`` or ``s3a``.
        authority: a bucket, or a host and port; empty for local folders.
        parts: the names from the file system's root down; without ``.``, ``..`` and empty names.
    """

    scheme: str
    authority: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path inside the file system."""
        return "/" + "/".join(self.parts)

    @property
    def file_system(self) -> tuple[str, str]:
        """What two locations of one file system have in common, however their schemes are spelt."""
        return _ONE_SERVICE.get(self.scheme, self.scheme), self.authority.lower()

    def __truediv__(self, name: str) -> Location:
        return Location(self.scheme, self.authority, (*self.parts, name))

    def __str__(self) -> str:
        if not self.authority:
            return f"{self.scheme}:{self.path}"
        return f"{self.scheme}://{self.authority}{self.path if self.parts else ''}"

    def is_at_or_below(self, ancestor: Location) -> bool:
        """Whether this is the ancestor or a place in it, name by name."""
        return self.file_system == ancestor.file_system and self.parts[: len(ancestor.parts)] == ancestor.parts

    def is_below(self, ancestor: Location) -> bool:
        """Whether this is a place in the ancestor, and not the ancestor itself."""
        return len(self.parts) > len(ancestor.parts) and self.is_at_or_below(ancestor)


def parse_location(text: str) -> Location:
    """The location that a text names. O(length).

    A bare path is local. ``.``, ``..`` and repeated slashes are resolved in the text, as Hadoop does, before any link
    is followed; ``..`` above the root stays at the root.

    Raises:
        FileOperationFailed: the text is no absolute path and no URI with one.

    >>> str(parse_location("/data//x/../a%20b/")), str(parse_location("file:///data")), str(parse_location("S3://b"))
    ('file:/data/a%20b', 'file:/data', 's3://b')
    """
    scheme, rest = LOCAL, text
    colon = text.find(":")
    named = colon >= 0 and "/" not in text[:colon]
    if named:
        scheme, rest = text[:colon].lower(), text[colon + 1 :]
    authority = ""
    if rest.startswith("//") and rest != "//":
        authority, slash, rest = rest[2:].partition("/")
        rest = slash + rest
    absolute = rest.startswith("/") or (authority and not rest and scheme != LOCAL)
    if not (absolute and _SCHEME.match(scheme) and _AUTHORITY.match(authority) and _encodes(text)):
        raise FileOperationFailed("the text is not a location", location=repr(text), hint=_HINT)
    if scheme == LOCAL:
        if authority and not named:
            raise FileOperationFailed("the location has a host but no scheme", location=repr(text), hint=_HINT)
        authority = ""  # Hive leaves it out
    return Location(scheme, authority, _resolved(rest))


def absolute_location(text: str) -> Location:
    """The location of a path or URI that the user of this process names; a relative path is in the working directory.

    Raises:
        FileOperationFailed: as of `parse_location`, and where it is empty.

    >>> str(absolute_location("/data")), absolute_location("data") == absolute_location("./data")
    ('file:/data', True)
    """
    if not text.strip():
        return parse_location("")  # it is refused: a script's variable that is not set names no folder
    return parse_location(text if _URI.match(text) else os.path.abspath(text))  # noqa: PTH100  links stay as they are


def location_or_none(text: str | None) -> Location | None:
    """The location that a text names; None for a text that names none, and for no text. O(length).

    >>> location_or_none("sales"), str(location_or_none("/sales"))
    (None, 'file:/sales')
    """
    try:
        return parse_location(text or "")
    except FileOperationFailed:
        return None


def _resolved(path: str) -> tuple[str, ...]:
    parts: list[str] = []
    for name in path.split("/"):
        if name == "..":
            del parts[-1:]
        elif name not in {"", "."}:
            parts.append(name)
    return tuple(parts)


def _encodes(text: str) -> bool:
    """Whether a file's name can be made of it: no NUL, no lone surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def same_place(left: str | None, right: str | None) -> bool:
    """Whether two locations name one place in their texts: ``/x``, ``file:/x`` and ``file:///x/`` do.

    No location equals only no location; texts that are no locations are compared as texts. Links are not looked at.

    >>> same_place("/x", "file:///x/"), same_place("/x", "/x/y"), same_place(None, "")
    (True, False, True)
    """
    first, second = location_or_none(left), location_or_none(right)
    if first is None or second is None:
        return (left or None) == (right or None)
    return first.file_system == second.file_system and first.parts == second.parts


def is_below(location: str, ancestor: str) -> bool:
    """Whether a location is in another, name by name, and not that other itself. Links are not looked at.

    >>> is_below("/wh/a", "file:/wh"), is_below("/wh2", "/wh"), is_below("/wh", "/wh")
    (True, False, False)
    """
    first, second = location_or_none(location), location_or_none(ancestor)
    return first is not None and second is not None and first.is_below(second)
