"""Documents of the model as they are kept, and their storage tables brought to what they say.

Every process that meets a document that is not settled does what is left (see `entries`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

from hbstore.cubes.document import Named
from hbstore.cubes.entries import Entry, State
from hbstore.cubes.files import checked_kind
from hbstore.cubes.logical_tables import LogicalTable
from hbstore.cubes.references import Known, check_references
from hbstore.cubes.storage_tables import OvertakenError, drop_table, settle_tables
from hbstore.errors import AlreadyExists, ConcurrentChange, InvalidModel, ModelNotFound
from hbstore.store.partition_store import PartitionStore

_NAMESPACES: Final = (("storage",), ("cube", "derived_cube", "dimension"), ("fact", "dimtable"))
"""Kinds whose names differ: queries name cubes and dimensions alike, and tables on storages are called by theirs."""

_ATTEMPTS: Final = 20


@dataclass(frozen=True, slots=True)
class Settler:
    """The documents of a database.

    Attributes:
        store: where they are.
        database: in which.
    """

    store: PartitionStore
    database: str

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""
        entry = self.entry(kind, name)
        return None if entry is None or entry.state is State.LEAVING else entry.document

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind in order of their names."""
        return [entry.document for entry in self.entries(kind) if entry.state is not State.LEAVING]

    def entries(self, kind: str) -> Iterator[Entry]:
        """All documents of a kind as they are kept, in order of their names. One scan."""
        return (Entry.read(kind, text) for _, text in self.store.documents.all(self.database, checked_kind(kind)))

    def entry(self, kind: str, name: str) -> Entry | None:
        """A document as it is kept. One row."""
        text = self.store.documents.get(self.database, checked_kind(kind), name)
        return None if text is None else Entry.read(kind, text)

    def check_new(self, document: Named) -> None:
        """See that all is there that a document names, and that no document of another kind has its name."""
        check_references(document, self)
        check_name(self.database, document, self)

    def replace(self, known: Entry, entry: Entry) -> Entry:
        """Put a document in the place of what is known of it.

        Raises:
            ConcurrentChange: it is another by now.
        """
        document = entry.document
        self.store.documents.replace(self.database, document.kind, document.name, known.text, entry.text)
        return entry

    def settle(self, entry: Entry) -> Entry:
        """What is left to be done for a document, done; the document as it is then.

        Raises:
            ConcurrentChange: other writers kept changing the description.
            ModelNotFound: it was dropped meanwhile.
        """
        for _ in range(_ATTEMPTS):
            if entry.state is State.SETTLED:
                return entry
            document, before = entry.document, entry.before
            if entry.state is State.LEAVING:
                self.finish_drop(entry)
                raise not_found(self.database, document.kind, document.name)
            try:
                if entry.state is State.PROPOSED:
                    entry = self._decide(entry)
                    continue
                if isinstance(document, LogicalTable):
                    assert before is None or isinstance(before, LogicalTable)
                    settle_tables(
                        self.store, self.database, document, before, entry.stamp, partial(self._still, document, entry)
                    )
                return self.replace(entry, Entry(document))
            except (ConcurrentChange, OvertakenError) as error:
                late = isinstance(error, OvertakenError)
                now = self._without_strays(document) if late else self.entry(document.kind, document.name)
                if now is None or now.state is State.LEAVING:
                    raise not_found(self.database, document.kind, document.name) from None
                entry = self._unsettled(now) if late else now
        raise _busy(document)

    def settle_all(self) -> None:
        """Finish what dead writers left of facts and dimension tables."""
        for kind in ("fact", "dimtable"):
            for entry in self.entries(kind):
                with suppress(ModelNotFound):  # dropped, or refused, by now
                    self.settle(entry)

    def withdraw(self, entry: Entry, back: Entry) -> bool:
        """Put what was before a change that cannot be made; False where others have made it meanwhile."""
        try:
            self.replace(entry, back)
        except ConcurrentChange:
            if entry.state is not State.PROPOSED:
                raise
            return False
        if back.state is State.LEAVING:
            self.finish_drop(back)
        return True

    def settle_or_take_back(self, entry: Entry, back: Entry) -> Entry:
        """Settle a document; where a table has a name that it needs, put back what was before.

        Raises:
            AlreadyExists: one has.
        """
        try:
            return self.settle(entry)
        except AlreadyExists:
            now = self.entry(entry.document.kind, entry.document.name)
            if now is not None and now.state is State.PENDING and now.document == entry.document:
                with suppress(ModelNotFound):
                    self.settle(self.replace(now, back))
            raise

    def finish_drop(self, entry: Entry) -> None:
        """Drop the tables of a document that leaves, and then it."""
        leaving = entry.document
        try:
            for document in (leaving, entry.before):
                if isinstance(document, LogicalTable):
                    for on in document.storage_tables:
                        drop_table(
                            self.store, self.database, document, on.storage, partial(self._still, document, entry)
                        )
            self.store.documents.drop(self.database, leaving.kind, leaving.name, entry.text)
        except ConcurrentChange:
            now = self.entry(leaving.kind, leaving.name)
            if now is not None and now.stamp == entry.stamp:
                raise

    def _decide(self, proposed: Entry) -> Entry:
        """What was put, if all is there that it names; else what was before."""
        document, before = proposed.document, proposed.before
        try:
            if before is None:
                self.check_new(document)
            else:
                check_references(document, self)
        except (InvalidModel, AlreadyExists):
            return self.replace(proposed, Entry(document, State.LEAVING) if before is None else Entry(before))
        return self.replace(proposed, Entry(document, State.PENDING, before))

    def _without_strays(self, late: Named) -> Entry | None:
        """Drop tables that only an earlier state of a document has; the document as it is now, None if it is gone.

        A late process may have made them after all others had looked.
        """
        assert isinstance(late, LogicalTable)
        for _ in range(_ATTEMPTS):
            now = self.entry(late.kind, late.name)
            states = () if now is None or now.state is State.LEAVING else (now.document, now.before)
            kept = {on.storage for one in states if isinstance(one, LogicalTable) for on in one.storage_tables}
            with suppress(ConcurrentChange):
                for on in late.storage_tables:
                    if on.storage not in kept:
                        drop_table(self.store, self.database, late, on.storage, partial(self._still, late, now))
                return now
        raise _busy(late)

    def _unsettled(self, entry: Entry) -> Entry:
        """A document whose tables have to be looked at again, as somebody who was late may have changed them."""
        with suppress(ConcurrentChange):
            if entry.state is State.SETTLED:
                return self.replace(entry, Entry(entry.document, State.PENDING, entry.document))
        return entry

    def _still(self, document: Named, entry: Entry | None) -> None:
        """See that a document is kept as it was seen; None: that it is not there."""
        now = self.entry(document.kind, document.name)
        if (now and now.stamp) != (entry and entry.stamp):
            raise changed(document)


def check_name(database: str, document: Named, known: Known) -> None:
    """See that no document of another kind that shares its names has this one.

    Raises:
        AlreadyExists: one has.
    """
    (kinds,) = (one for one in _NAMESPACES if document.kind in one)
    for kind in kinds:
        if kind != document.kind and (other := known.find(kind, document.name)) is not None:
            raise there(database, other)


def not_found(database: str, kind: str, name: str) -> ModelNotFound:
    """The error for a document that is not there."""
    return ModelNotFound(
        f"the {kind} does not exist", name=f"{database}.{name}", hint="List the descriptions with `hbstore model list`"
    )


def changed(document: Named) -> ConcurrentChange:
    """The error for a document that is another by now."""
    return ConcurrentChange(
        "another writer changed the description",
        kind=document.kind,
        name=document.name,
        hint="Read the description again, then repeat the change",
    )


def _busy(document: Named) -> ConcurrentChange:
    return ConcurrentChange(
        "other writers kept changing the description", kind=document.kind, name=document.name, hint="Try again"
    )


def there(database: str, document: Named) -> AlreadyExists:
    """The error for a document that is there already."""
    return AlreadyExists(
        f"the {document.kind} already exists",
        name=f"{database}.{document.name}",
        hint="Alter the existing one, or give the new one another name",
    )
