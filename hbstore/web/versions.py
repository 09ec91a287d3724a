"""Versions of what is stored, as ETags: 304 for a reader who has it, 412 for a writer who has an earlier one.

The tag of a table is made of its stored definition, which begins with the table's id and version. Databases and
partitions have no version of their own, so that their tags are made of their bytes: what is changed and changed back
has its tag back. Lists, names, counts and plans have none: no value of the store changes with all of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from fastapi import Request, Response
from pydantic import BaseModel

from hbstore.errors import ConcurrentChange, StoreBusy, VersionMismatch

_SIZE: Final = 16
"""Bytes of a digest."""


def tag_of(content: bytes, form: str = "") -> str:
    """The ETag of stored bytes, in a form that is one of several with tags.

    >>> tag_of(b"a"), tag_of(b"a", "yaml")
    ('"27c35e6e9373877f29e562464e46497e"', '"27c35e6e9373877f29e562464e46497e-yaml"')
    """
    digest = hashlib.blake2b(content, digest_size=_SIZE).hexdigest()
    return f'"{digest}-{form}"' if form else f'"{digest}"'


def tagged(request: Request, document: BaseModel, tag: str, *, status: int = 200) -> Response:
    """The reply with a document; 304 without it for a request that names its tag in If-None-Match."""
    return content_reply(request, document.model_dump_json().encode(), "application/json", tag, status=status)


def content_reply(request: Request, content: bytes, media_type: str, tag: str, *, status: int = 200) -> Response:
    """The reply with a text of a tag, as `tagged`."""
    headers = {"ETag": tag, "Cache-Control": "no-cache"}  # kept, but asked for again
    if request.method in ("GET", "HEAD") and _names(request.headers.get("if-none-match"), tag, weak=True):
        return Response(status_code=304, headers=headers)
    return Response(content, status, headers, media_type=media_type)


def has_it(request: Request, tag: str, changed: datetime) -> bool:
    """Whether a request says that its reader has this already: by the tag, or without one by when it was changed.

    Args:
        request: what is asked.
        tag: the ETag of what would be sent.
        changed: when that was changed last.
    """
    tags = request.headers.get("if-none-match")
    if tags is not None:
        return _names(tags, tag.removeprefix("W/"), weak=True)
    with suppress(TypeError, ValueError):  # no date
        since = parsedate_to_datetime(request.headers.get("if-modified-since", ""))
        return changed.replace(microsecond=0) <= (since if since.tzinfo else since.replace(tzinfo=UTC))
    return False


def check_there(request: Request) -> None:
    """See that a request may be about something that is not there.

    Raises:
        VersionMismatch: it says by If-Match what it changes.
    """
    if "if-match" in request.headers:
        raise _mismatch(request.headers["if-match"])


def check_absent(request: Request) -> None:
    """See that a request may be about something that is there.

    Raises:
        VersionMismatch: it says by ``If-None-Match: *`` that nothing is.
    """
    if request.headers.get("if-none-match", "").strip() == "*":
        raise VersionMismatch("the resource is there already", hint="Send If-Match with its ETag to change it")


def check_match(request: Request, *tags: str) -> bool:
    """Whether a request says by If-Match what it changes, and that this is what is there, in any of its forms.

    Raises:
        VersionMismatch: it names another tag.
    """
    header = request.headers.get("if-match")
    if header is None:
        return False
    if not any(_names(header, tag, weak=False) for tag in tags):
        raise _mismatch(header)
    return header.strip() != "*"


@contextmanager
def matching(request: Request, *tags: str) -> Iterator[bool]:
    """Change what is there, within, if that is what a request names; whether it does, as `check_match`.

    Raises:
        VersionMismatch: it names another tag, or another writer was faster.
    """
    matched = check_match(request, *tags)
    try:
        yield matched
    except ConcurrentChange as error:
        if not matched or isinstance(error, StoreBusy):
            raise
        raise _mismatch(request.headers["if-match"]) from error


def _mismatch(if_match: str) -> VersionMismatch:
    return VersionMismatch(
        "the resource is no longer what the request expects", if_match=if_match, hint="Read it again, and send its ETag"
    )


def _names(header: str | None, tag: str, *, weak: bool) -> bool:
    """Whether a header with tags names one."""
    if header is None:
        return False
    tags = [one.strip() for one in header.split(",")]
    if weak:
        tags = [one.removeprefix("W/") for one in tags]
    return tag in tags or tags == ["*"]
