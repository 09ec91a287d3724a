"""RemoteCubes: the model of a database of a server, with the methods of `hbstore.cubes.Cubes`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from hbstore.client.remote_table import RemoteTable
from hbstore.client.transport import Transport, segment
from hbstore.cubes import (
    Action,
    Cover,
    CoverPartitions,
    CoverRun,
    Cube,
    DerivedCube,
    DimTable,
    Fact,
    Named,
    PartitionDesc,
    Step,
    Uncoverable,
    parse_documents,
)
from hbstore.cubes.files import checked_kind
from hbstore.cubes.logical_tables import LogicalTable
from hbstore.cubes.registration import only_storage_of, storage_table_of
from hbstore.errors import ConcurrentChange, ModelNotFound, PartitionNotFound
from hbstore.keys.partition_names import identifier
from hbstore.model.objects import Partition
from hbstore.model.structs import partitions_from_payloads
from hbstore.texts.arguments import expect, expect_flags, expect_many
from hbstore.timelines import PartitionTimeline, UpdatePeriod
from hbstore.timelines.factory import timeline_of
from hbstore.timelines.runs import joined
from hbstore.times.moments import moments, naive

if TYPE_CHECKING:
    from hbstore.store.reader import Filter

_A_DOCUMENT: Final = "Give a Storage, Cube, DerivedCube, Dimension, Fact or DimTable"
_A_DESC: Final = 'Give a list of PartitionDescs, such as [PartitionDesc("DAILY", {"dt": "2015-01-29"})]'
_POLL_SECONDS: Final = 60.0
_RUNS: Final = 10_000
"""Of a page of a cover."""


class RemoteCubes:
    """Storages, cubes, dimensions, facts and dimension tables of a database of a server, and their partitions.

    Arguments, answers and errors are those of `hbstore.cubes.Cubes`. Queries are asked by `Connection.query` and
    `Connection.explain`.

    Raises, in all that follows:
        ServerUnavailable: the server does not answer.
        StoreReadOnly: it changes nothing.
        CommitStateUnknown: the answer to a change was lost.

    Attributes:
        database: the database's name.
    """

    def __init__(self, transport: Transport, database: str) -> None:
        self._transport = transport
        self.database = identifier("database", database)
        self._address = f"/databases/{self.database}"

    def __repr__(self) -> str:
        return f"<RemoteCubes of {self.database} at {self._transport.url}>"

    # The model

    def create(self, document: Named, *, if_not_exists: bool = False) -> None:
        """Add a document; of a fact or a dimension table, its storage tables as well."""
        expect("document", document, Named, hint=_A_DOCUMENT)
        self.create_all([document], if_not_exists=if_not_exists)

    def create_all(self, documents: Iterable[Named], *, if_not_exists: bool = False) -> list[Named]:
        """Add documents in an order in which each finds what it names; those that were added."""
        steps = self.put(documents, only="create", if_not_exists=if_not_exists)
        return [step.document for step in steps if step.action is Action.CREATE]

    def put(
        self,
        documents: Iterable[Named],
        *,
        only: str | None = None,
        if_not_exists: bool = False,
        check: bool = False,
    ) -> list[Step]:
        """Create documents that are not there, and alter others; what was done, or with ``check`` would be."""
        ones = expect_many("documents", documents, Named, hint=_A_DOCUMENT)
        expect_flags(if_not_exists=if_not_exists, check=check)
        query = {"only": only, "if_not_exists": _flag(if_not_exists), "check": _flag(check)}
        body = [one.to_dict() for one in ones]
        found = self._transport.document("POST", f"{self._address}/model", query=query, body=body, is_change=not check)
        by_name = {(one.kind, one.name): one for one in ones}
        return [Step(by_name[one["kind"], one["name"]], Action(one["action"])) for one in found["steps"]]

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well. ModelNotFound if there is none."""
        (document,) = parse_documents(json.dumps(self._entity(kind, name)), "json")
        return document

    def names(self, kind: str) -> list[str]:
        """The names of all documents of a kind in order. DatabaseNotFound if the database is not there."""
        return [one.name for one in self.list(kind)]

    def describe(self, kind: str, name: str) -> dict[str, Any]:
        """A document as JSON would hold it, with what uses it and what its storage tables are called."""
        return self._entity(kind, name, users="true")

    def alter(self, document: Named, *, replaces: Named | None = None) -> None:
        """Replace a document; ``replaces`` is what the caller read, if nothing else is to be replaced."""
        expect("document", document, Named, hint=_A_DOCUMENT)
        expect("replaces", replaces, Named, NoneType, hint=_A_DOCUMENT)
        if replaces is None:
            self.put([document], only="alter")
            return
        headers = self._if_match(document.kind, document.name, replaces)
        path = self._path(document.kind, document.name)
        self._transport.document("PUT", path, body=document.to_dict(), headers=headers, is_change=True)

    def drop(self, kind: str, name: str, *, cascade: bool = False, replaces: Named | None = None) -> None:
        """Remove a document with its tables and their partitions; with ``cascade`` also what names it."""
        expect_flags(cascade=cascade)
        expect("replaces", replaces, Named, NoneType, hint=_A_DOCUMENT)
        headers = {} if replaces is None else self._if_match(kind, name, replaces)
        query = {"cascade": _flag(cascade)}
        self._transport.document("DELETE", self._path(kind, name), query=query, headers=headers, is_change=True)

    def cube(self, name: str) -> Cube | DerivedCube:
        """The cube of a name, base or derived. ModelNotFound if there is none."""
        cube = self.get("cube", name)
        assert isinstance(cube, Cube | DerivedCube)
        return cube

    def fact(self, name: str) -> Fact:
        """The fact of a name. ModelNotFound if there is none."""
        fact = self.get("fact", name)
        assert isinstance(fact, Fact)
        return fact

    def dimtable(self, name: str) -> DimTable:
        """The dimension table of a name. ModelNotFound if there is none."""
        dimtable = self.get("dimtable", name)
        assert isinstance(dimtable, DimTable)
        return dimtable

    def storage_table(self, name: str, storage: str) -> str:
        """What the table of a fact or a dimension table on a storage is called. ModelNotFound if there is none."""
        logical = self._tabled(name)
        return logical.table_name(storage_table_of(logical, storage).storage)

    def only_storage(self, name: str) -> str:
        """The storage of a fact or a dimension table that is on no other."""
        return only_storage_of(self._tabled(name))

    # Partitions

    def add_partitions(
        self, name: str, storage: str, descs: Iterable[PartitionDesc], *, if_not_exists: bool = False
    ) -> int:
        """Register partitions of a fact or a dimension table on a storage, all or none; how many. At most 4 MiB."""
        expect_flags(if_not_exists=if_not_exists)
        return self._change("POST", name, storage, descs, if_not_exists=_flag(if_not_exists))

    def alter_partitions(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Give registered partitions other parameters and, where one is given, another location, all or none."""
        return self._change("PATCH", name, storage, descs)

    def drop_partitions(self, name: str, storage: str, descs: Iterable[PartitionDesc]) -> int:
        """Drop partitions, all or none; how many."""
        return self._change("DELETE", name, storage, descs)

    def partitions(self, name: str, storage: str, filter: Filter = None) -> Sequence[Partition]:
        """The partitions of a fact or a dimension table on a storage that a filter selects, in key order."""
        return RemoteTable(self._transport, self.database, self.storage_table(name, storage)).partitions(filter)

    def latest(self, dimtable: str, storage: str, other: Mapping[str, str | None] | None = None) -> Partition | None:
        """The partition `latest` of a dimension table; None if there is none."""
        values = [f"{name}={value or ''}" for name, value in (other or {}).items()]
        query = {"storage": storage, "other": values or None, "format": "thrift"}
        path = f"{self._address}/dimtables/{segment(dimtable)}/latest"
        try:
            with self._transport.reply("GET", path, query=query) as reply:
                return partitions_from_payloads([reply.data])[0]
        except PartitionNotFound:
            return None

    # Timelines, covers, waits

    def timelines(
        self,
        fact: str,
        *,
        storage: str | None = None,
        update_period: UpdatePeriod | str | None = None,
        time_dimension: str | None = None,
    ) -> list[PartitionTimeline]:
        """Timelines of a fact: of all storages in its order, the smallest period first, or of those that are named."""
        period = UpdatePeriod.named(update_period) if isinstance(update_period, str) else update_period
        query = {
            "storage": storage,
            "update_period": None if period is None else period.name,
            "time_dimension": time_dimension,
            "holes": 0,
            "properties": "true",
        }
        documents = self._transport.document("GET", f"{self._fact(fact)}/timelines", query=query)["timelines"]
        return [
            timeline_of(
                one["storage_table"], UpdatePeriod[one["update_period"]], one["partition_column"], one["properties"]
            )
            for one in documents
        ]

    def cover(
        self,
        fact: str,
        start: datetime,
        end: datetime,
        *,
        time_dimension: str | None = None,
        partial: bool = False,
    ) -> Cover:
        """The best set of partitions of a fact for [start, end): as few and as large as there are.

        Raises:
            Uncoverable: something is missing, unless ``partial``.
        """
        expect_flags(partial=partial)
        query: dict[str, Any] = _range(start, end, time_dimension) | {"partial": "true", "limit": _RUNS}
        runs: list[CoverRun] = []
        missing: list[tuple[datetime, datetime]] = []
        is_last = False
        while not is_last:
            page = self._transport.document("GET", f"{self._fact(fact)}/cover", query=query)
            runs += map(_run, page["runs"])
            missing += [(_time(one["from"]), _time(one["to"])) for one in page["missing"]]
            query["page"] = page["next"]
            is_last = page["next"] is None
        found = Cover(CoverPartitions(runs), joined(missing))
        if found.missing and not partial:
            raise Uncoverable(found.missing)
        return found

    def wait(
        self,
        fact: str,
        start: datetime,
        end: datetime,
        *,
        time_dimension: str | None = None,
        seconds: float | None = None,
    ) -> Cover:
        """The cover of [start, end) as soon as nothing of it is missing; the server says when.

        Raises:
            Uncoverable: ``seconds`` are over; ``missing`` of the error says what is missing.
            TooManyWaiters: the server holds as many waiting requests as it may.
        """
        expect("seconds", seconds, int, float, NoneType, hint="Give a number of seconds, or None")
        until = float("inf") if seconds is None else time.monotonic() + seconds
        query = _range(start, end, time_dimension)
        while True:
            left = max(min(_POLL_SECONDS, until - time.monotonic()), 0)
            said = self._transport.document("GET", f"{self._fact(fact)}/wait", query={**query, "seconds": left})
            is_over = time.monotonic() >= until
            if said["complete"] or is_over:
                found = self.cover(fact, start, end, time_dimension=time_dimension, partial=True)
                if not found.missing:
                    return found
                if is_over:
                    raise Uncoverable(found.missing)

    # How it is sent

    def _path(self, kind: str, name: str) -> str:
        return f"{self._address}/model/{checked_kind(kind)}s/{segment(name)}"

    def _fact(self, name: str) -> str:
        return f"{self._address}/facts/{segment(name)}"

    def _entity(self, kind: str, name: str, **query: str) -> dict[str, Any]:
        return self._transport.document("GET", self._path(kind, name), query=query)

    def _if_match(self, kind: str, name: str, replaces: Named) -> dict[str, str]:
        """The header that names the version of a document.

        Raises:
            ConcurrentChange: it is not what the caller has read.
        """
        with self._transport.reply("GET", self._path(kind, name)) as reply:
            tag: str = reply.headers["ETag"]
            (document,) = parse_documents(reply.data.decode(), "json")
        if document != replaces:
            raise ConcurrentChange(
                "another writer changed the description",
                kind=kind,
                name=name,
                hint="Read the description again, then repeat the change",
            )
        return {"If-Match": tag}

    def _tabled(self, name: str) -> LogicalTable:
        """The fact of a name, or the dimension table."""
        try:
            return self.fact(name)
        except ModelNotFound:
            return self.dimtable(name)

    def _change(self, method: str, name: str, storage: str, descs: Iterable[PartitionDesc], **query: str | None) -> int:
        body = [_desc(one) for one in expect_many("descs", descs, PartitionDesc, hint=_A_DESC)]
        path = f"{self._fact(name)}/partitions"
        asked = {"storage": storage, **query}
        changed: int = self._transport.document(method, path, query=asked, body=body, is_change=True)["partitions"]
        return changed

    def list(self, kind: str) -> list[Named]:
        """All documents of a kind in order of their names. DatabaseNotFound if the database is not there."""
        query = {"kind": f"{checked_kind(kind)}s"}
        with self._transport.reply("GET", f"{self._address}/model", query=query) as reply:
            return parse_documents(reply.data.decode(), "json")


def _flag(said: bool) -> str | None:  # noqa: FBT001  a value to be sent
    return "true" if said else None


def _desc(partition: PartitionDesc) -> dict[str, Any]:
    """A partition as a body has it."""
    return {
        "update_period": None if partition.period is None else partition.period.name,
        "time": {name: _time_text(value) for name, value in partition.time.items()},
        "other": dict(partition.other),
        "location": partition.location,
        "parameters": dict(partition.parameters),
    }


def _time_text(value: object) -> str:
    if isinstance(value, str):
        return value
    if not isinstance(value, datetime) or value.tzinfo is None:
        raise naive(value)
    return value.astimezone(UTC).isoformat()


def _range(start: datetime, end: datetime, time_dimension: str | None) -> dict[str, Any]:
    """A range in an address.

    Raises:
        InvalidTime, InvalidTimeRange: it is none.
    """
    moments(start, end)
    return {
        "from": start.astimezone(UTC).isoformat(),
        "to": end.astimezone(UTC).isoformat(),
        "time_dimension": time_dimension,
    }


def _run(document: Mapping[str, Any]) -> CoverRun:
    period = UpdatePeriod[document["update_period"]]
    start = period.index(period.parse(document["from"]))
    return CoverRun(period, start, start + document["partitions"], document["storage_table"])


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
