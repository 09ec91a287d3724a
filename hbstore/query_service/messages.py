"""What the query service and its Spark process say to each other over a pipe.

The service pickles its messages. The process, which runs what users ask for, writes its own as JSON: reading that runs
nothing in the service.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args

from pydantic import TypeAdapter

from hbstore.query_service.query import QueryProblem, QueryProgress, QueryResult, Request


@dataclass(frozen=True, slots=True)
class Start:
    """Start Spark: the first message, and the only one of its kind.

    Attributes:
        store: the store's URL, as it means the same in every process.
        metastore: the URI of the endpoint over that store.
        warehouse: the endpoint's warehouse.
        trash: the endpoint's folder for deleted files, if there is one.
        also_under: further folders below which the endpoint may delete and move files.
        read_only: whether the endpoint refuses what changes anything.
        master: where Spark runs.
        conf: settings that count more than those that follow from the others here.
        scratch: a folder for what Spark keeps on disk while it runs; the process removes it when it ends.
    """

    store: str
    metastore: str
    warehouse: str
    trash: str | None
    also_under: tuple[str, ...]
    read_only: bool
    master: str
    conf: Mapping[str, str]
    scratch: str


@dataclass(frozen=True, slots=True)
class Run:
    """Run a statement, and write its rows into a folder that is not there yet."""

    id: str
    request: Request
    location: str


@dataclass(frozen=True, slots=True)
class Cancel:
    """Cancel the jobs of a query; `Cancelled` follows, or another end if that came first."""

    id: str


@dataclass(frozen=True, slots=True)
class CloseSession:
    """Forget a session; no more of its statements come."""

    id: str


@dataclass(frozen=True, slots=True)
class Ready:
    """Spark has started."""

    version: str


@dataclass(frozen=True, slots=True)
class Alive:
    """Spark answers, and whether it has an executor where it needs one. It is said every few seconds."""

    has_executor: bool = True


@dataclass(frozen=True, slots=True)
class Started:
    """The statement of a query begins to run."""

    id: str


@dataclass(frozen=True, slots=True)
class Planned:
    """A cube query was rewritten: what it reads and why, and what the user should know about the answer."""

    id: str
    plan: dict[str, Any]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Progressed:
    """How far Spark is with a query."""

    id: str
    progress: QueryProgress


@dataclass(frozen=True, slots=True)
class Done:
    """A query's rows are written; and what the user should know besides them."""

    id: str
    result: QueryResult
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Failed:
    """A query ended by an error; its folder may hold some rows."""

    id: str
    problem: QueryProblem


@dataclass(frozen=True, slots=True)
class Cancelled:
    """A query was cancelled; its folder may hold some rows."""

    id: str


ToSpark: TypeAlias = Start | Run | Cancel | CloseSession
FromSpark: TypeAlias = Ready | Alive | Started | Planned | Progressed | Done | Failed | Cancelled

_KINDS: Final[Mapping[str, TypeAdapter[FromSpark]]] = {kind.__name__: TypeAdapter(kind) for kind in get_args(FromSpark)}


def written(message: FromSpark) -> bytes:
    """A message of the Spark process as a document. What of a name is no text, as in names of files, is ``?`` in it.

    >>> written(Started("5f"))
    b'["Started", {"id": "5f"}]'
    """
    kind = type(message).__name__
    document = [kind, _KINDS[kind].dump_python(message, mode="json")]
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def read(data: bytes) -> FromSpark:
    """The message of a document.

    Raises:
        ValueError: the bytes are none.

    >>> read(written(Started("5f")))
    Started(id='5f')
    """
    try:
        kind, fields = json.loads(data)
        return _KINDS[kind].validate_python(fields)
    except (TypeError, LookupError, RecursionError) as error:
        raise ValueError("the bytes are no message of the Spark process") from error
