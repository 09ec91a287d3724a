"""The catalog of the model: storages, cubes, dimensions, facts and dimension tables of a database.

Each is a document of the store, changed by compare-and-put; those of facts and dimension tables have storage tables,
which follow them (see `entries`). What a document names is looked for before it is put and again afterwards; who drops
one looks for what names it before and afterwards. So of two that get into each other's way at least one notices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from hbstore.cubes.document import Named
from hbstore.cubes.entries import Entry, State
from hbstore.cubes.files import KINDS
from hbstore.cubes.logical_tables import DimTable, Fact
from hbstore.cubes.references import Known, check_references, dependents
from hbstore.cubes.storage_tables import (
    OvertakenError,
    check_names_free,
    check_partition_columns,
    drop_table,
    settle_tables,
)
from hbstore.errors import AlreadyExists, ConcurrentChange, InvalidModel, ModelInUse, ModelNotFound
from hbstore.store.outcome import decided
from hbstore.store.partition_store import PartitionStore

Tabled: TypeAlias = Fact | DimTable
"""The documents that have storage tables."""

_NAMESPACES: Final = (("storage",), ("cube", "derived_cube", "dimension"), ("fact", "dimtable"))
"""Kinds whose names differ: queries name cubes and dimensions alike, and tables on storages are called by theirs."""

_ATTEMPTS: Final = 20


@dataclass(frozen=True, slots=True)
class Catalog:
    """The model of a database.

    Attributes:
        store: where it is.
        database: in which.
    """

    store: PartitionStore
    database: str

    # Reading

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""
        entry = self.entry(kind, name)
        return None if entry is None or entry.state is State.LEAVING else entry.document

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well.

        Raises:
            ModelNotFound: there is none.
        """
        for one in ("cube", "derived_cube") if kind == "cube" else (kind,):
            found = self.find(one, name)
            if found is not None:
                return found
        raise _not_found(self.database, kind, name)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind in order of their names."""
        found = (Entry.read(kind, text) for _, text in self.store.documents.all(self.database, _checked(kind)))
        return [entry.document for entry in found if entry.state is not State.LEAVING]

    def entry(self, kind: str, name: str) -> Entry | None:
        """A document as it is kept. One row."""
        text = self.store.documents.get(self.database, _checked(kind), name)
        return None if text is None else Entry.read(kind, text)

    def settled(self, kind: str, name: str) -> Tabled:
        """The fact or the dimension table of a name, when its tables are as it says. One row.

        Raises:
            ModelNotFound: there is none.
        """
        entry = self.entry(kind, name)
        if entry is None or entry.state is State.LEAVING:
            raise _not_found(self.database, kind, name)
        document = self.settle(entry).document
        assert isinstance(document, Fact | DimTable)
        return document

    def tabled(self, name: str) -> Tabled:
        """The fact of a name, or the dimension table, when its tables are as it says. One row, or two.

        Raises:
            ModelNotFound: there is neither.
        """
        for kind in ("fact", "dimtable"):
            with suppress(ModelNotFound):
                return self.settled(kind, name)
        raise _not_found(self.database, "fact or dimension table", name)

    # Changing

    def create(self, document: Named) -> None:
        """Add a document; one that was not finished, and is the same, is finished.

        Raises:
            AlreadyExists: there is one of its name, or a table of the name of one of its storage tables.
            InvalidModel: it names something that is not there.
        """
        check_references(document, self)
        for _ in range(_ATTEMPTS):
            known = self.entry(document.kind, document.name)
            if known is None:
                break
            if known.state is State.LEAVING:
                self._finish_drop(known)
            elif known.state is State.PENDING and known.document == document:
                self.settle(known)
                return
            else:
                raise _there(self.database, document)
        self._check_name(document)
        if isinstance(document, Fact | DimTable):
            check_names_free(self.store, self.database, document)
        pending = isinstance(document, Fact | DimTable)
        entry = Entry(document, State.PENDING if pending else State.SETTLED)
        self.store.documents.create(self.database, document.kind, document.name, entry.text)
        with self._decided(document):
            try:
                check_references(document, self)
                self._check_name(document)
                self.settle(entry)
            except (InvalidModel, AlreadyExists):
                self._finish_drop(self._replace(entry, Entry(document, State.LEAVING)))
                raise

    def alter(self, document: Named) -> None:
        """Replace a document; tables of a fact or a dimension table are made, altered and dropped with it.

        Raises:
            ModelNotFound: there is none of its kind and name.
            InvalidModel: it names something that is not there, or changes partition columns of a storage table.
            ModelInUse: a document that names it would then name something that is not there.
            ConcurrentChange: another writer changed it meanwhile; nothing was changed.
        """
        known = self.entry(document.kind, document.name)
        if known is None or known.state is State.LEAVING:
            raise _not_found(self.database, document.kind, document.name)
        known = self.settle(known)
        self._check_altered(document, _Overlay(self, document))
        pending = isinstance(document, Fact | DimTable)
        if isinstance(document, Fact | DimTable):
            assert isinstance(known.document, Fact | DimTable)
            check_partition_columns(document, known.document)
            check_names_free(self.store, self.database, document)
        entry = Entry(document, State.PENDING, known.document) if pending else Entry(document)
        self._replace(known, entry)
        with self._decided(document):
            try:
                self._check_altered(document, self)
                self.settle(entry)
            except (InvalidModel, ModelInUse, AlreadyExists):
                back = Entry(known.document, State.PENDING, document) if pending else Entry(known.document)
                self.settle(self._replace(entry, back))
                raise

    def _check_altered(self, document: Named, known: Known) -> None:
        """See that all is there that a document names, and all in it that others name."""
        check_references(document, known)
        for one in dependents(document, known):
            try:
                check_references(one, known)
            except InvalidModel as error:
                raise ModelInUse(
                    "what is altered is used as it was",
                    kind=document.kind,
                    name=document.name,
                    used_by=one,
                    at=error.fields.get("at"),
                    expected=error.fields.get("expected"),
                ) from None

    def drop(self, kind: str, name: str, *, cascade: bool = False) -> None:
        """Remove a document with its tables; what a crash left of it as well.

        Args:
            kind: of the document; "cube" means derived cubes as well.
            name: its name.
            cascade: drop what names it, too: of a storage, its tables of all facts and dimension tables.

        Raises:
            ModelNotFound: there is none.
            ModelInUse: others name it.
        """
        entry = self.entry(kind, name)
        if entry is None and kind == "cube":
            entry = self.entry("derived_cube", name)
        if entry is None:
            raise _not_found(self.database, kind, name)
        document = entry.document
        if kind == "storage":
            self._settle_all()  # a table on it may be left of a fact that is not on it any more
        for _ in range(_ATTEMPTS):
            users = dependents(document, self)
            if not users:
                break
            if not cascade:
                raise _in_use(document, users)
            for user in users:
                self._release(user, document)
        leaving = (
            entry
            if entry.state is State.LEAVING
            else self._replace(entry, Entry(document, State.LEAVING, entry.before))
        )
        with self._decided(document):
            late = dependents(document, self)
            if late:
                self.settle(self._replace(leaving, Entry(document, State.PENDING)))
                raise _in_use(document, late)
            self._finish_drop(leaving)

    def settle(self, entry: Entry) -> Entry:
        """What is left to be done for a document, done; the document as it is then.

        Raises:
            ConcurrentChange: other writers kept changing it.
            ModelNotFound: it was dropped meanwhile.
        """
        for _ in range(_ATTEMPTS):
            if entry.state is State.SETTLED:
                return entry
            document, before = entry.document, entry.before
            try:
                if isinstance(document, Fact | DimTable):
                    assert before is None or isinstance(before, Fact | DimTable)
                    settle_tables(self.store, self.database, document, before, entry.stamp, partial(self._still, entry))
                return self._replace(entry, Entry(document))
            except (ConcurrentChange, OvertakenError) as error:
                now = self.entry(document.kind, document.name)
                if now is None or now.state is State.LEAVING:
                    raise _not_found(self.database, document.kind, document.name) from None
                entry = self._unsettled(now) if isinstance(error, OvertakenError) else now
        raise ConcurrentChange("other writers kept changing it", kind=document.kind, name=document.name)

    def _settle_all(self) -> None:
        """Finish what dead writers left of facts and dimension tables."""
        for kind in ("fact", "dimtable"):
            for _, text in self.store.documents.all(self.database, kind):
                entry = Entry.read(kind, text)
                if entry.state is State.PENDING:
                    self.settle(entry)
                elif entry.state is State.LEAVING:
                    self._finish_drop(entry)

    def _finish_drop(self, entry: Entry) -> None:
        """Drop the tables of a document that leaves, and then it."""
        leaving = entry.document
        try:
            for document in (leaving, entry.before):
                if isinstance(document, Fact | DimTable):
                    for on in document.storage_tables:
                        drop_table(self.store, self.database, document, on.storage, partial(self._still, entry))
            self.store.documents.drop(self.database, leaving.kind, leaving.name, entry.text)
        except (ConcurrentChange, OvertakenError) as error:
            now = self.entry(leaving.kind, leaving.name)
            if now is not None and now.stamp == entry.stamp:
                raise
            if now is not None and now.state is not State.LEAVING and isinstance(error, OvertakenError):
                self.settle(self._unsettled(now))

    def _unsettled(self, entry: Entry) -> Entry:
        """A document whose tables have to be looked at again, as somebody who was late may have changed them."""
        with suppress(ConcurrentChange):
            if entry.state is State.SETTLED:
                return self._replace(entry, Entry(entry.document, State.PENDING, entry.document))
        return entry

    def _release(self, user: Named, document: Named) -> None:
        """Drop what names a document; of a fact or a dimension table on a storage, its table there."""
        if document.kind == "storage" and isinstance(user, Fact | DimTable):
            self.alter(
                user.changed(storage_tables=[one for one in user.storage_tables if one.storage != document.name])
            )
        else:
            self.drop(user.kind, user.name, cascade=True)

    def _decided(self, document: Named) -> AbstractContextManager[None]:
        """Inside, a change is decided: a backend that goes away leaves it to others to finish."""
        return decided("the change is decided, but not all of it is done", kind=document.kind, name=document.name)

    def _replace(self, known: Entry, entry: Entry) -> Entry:
        document = entry.document
        self.store.documents.replace(self.database, document.kind, document.name, known.text, entry.text)
        return entry

    def _still(self, entry: Entry) -> None:
        now = self.entry(entry.document.kind, entry.document.name)
        if now is None or now.stamp != entry.stamp:
            raise ConcurrentChange(
                "the description was changed meanwhile", kind=entry.document.kind, name=entry.document.name
            )

    def _check_name(self, document: Named) -> None:
        """See that no document of another kind that shares its names has this one."""
        for kinds in _NAMESPACES:
            for kind in kinds:
                if document.kind in kinds and kind != document.kind:
                    other = self.find(kind, document.name)
                    if other is not None:
                        raise _there(self.database, other)


@dataclass(frozen=True, slots=True)
class _Overlay:
    """A catalog as it would be with one document altered."""

    catalog: Catalog
    document: Named

    def find(self, kind: str, name: str) -> Named | None:
        if (kind, name) == (self.document.kind, self.document.name):
            return self.document
        return self.catalog.find(kind, name)

    def list(self, kind: str) -> Sequence[Named]:
        found = self.catalog.list(kind)
        return [
            self.document if (one.kind, one.name) == (self.document.kind, self.document.name) else one for one in found
        ]


def _checked(kind: str) -> str:
    if kind not in KINDS:
        raise InvalidModel("no such kind of description", found=kind, expected=", ".join(KINDS))
    return kind


def _not_found(database: str, kind: str, name: str) -> ModelNotFound:
    return ModelNotFound(f"no such {kind}", name=f"{database}.{name}")


def _there(database: str, document: Named) -> AlreadyExists:
    return AlreadyExists(f"the {document.kind} is there already", name=f"{database}.{document.name}")


def _in_use(document: Named, users: Iterable[Named]) -> ModelInUse:
    return ModelInUse(
        f"the {document.kind} is used",
        name=document.name,
        used_by=", ".join(map(str, users)),
        hint="Drop these first, or drop with cascade (--cascade)",
    )
