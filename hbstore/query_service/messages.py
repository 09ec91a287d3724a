"""What the query service and its Spark process say to each other: values, pickled, over a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

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
FromSpark: TypeAlias = Ready | Started | Planned | Progressed | Done | Failed | Cancelled
