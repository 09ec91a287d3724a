"""The catalog of the model: storages, cubes, dimensions, facts and dimension tables of a database.

Each is a document of the store, changed by compare-and-put; those of facts and dimension tables have storage tables,
which follow them (see `entries`). What a document names is looked for before it is put and again afterwards; who drops
one looks for what names it before and afterwards. So of two that get into each other's way at least one notices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Final

from hbstore.cubes.checks import check_content
from hbstore.cubes.document import Named
from hbstore.cubes.entries import Entry, State
from hbstore.cubes.logical_tables import LogicalTable
from hbstore.cubes.overlay import Overlay
from hbstore.cubes.references import Known, check_references, dependents
from hbstore.cubes.settling import Settler, changed, check_name, not_found, there
from hbstore.cubes.storage_tables import check_names_free, check_partition_columns, check_timeline_classes
from hbstore.errors import AlreadyExists, InvalidModel, ModelInUse, ModelNotFound
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.outcome import decided

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
    _settler: Settler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_settler", Settler(self.store, self.database))

    # Reading

    @property
    def documents(self) -> Known:
        """All documents as they are kept, for what looks at them together."""
        return self._settler

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none."""
        return self._settler.find(kind, name)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind in order of their names."""
        return self._settler.list(kind)

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well.

        Raises:
            ModelNotFound: there is none.
        """
        for one in ("cube", "derived_cube") if isinstance(kind, str) and kind == "cube" else (kind,):
            found = self.find(one, name)
            if found is not None:
                return found
        raise not_found(self.database, kind, name)

    def settled(self, kind: str, name: str) -> LogicalTable:
        """The fact or the dimension table of a name, once its storage tables agree with it. One row.

        Raises:
            ModelNotFound: there is none.
        """
        entry = self._settler.entry(kind, name)
        if entry is None or entry.state is State.LEAVING:
            raise not_found(self.database, kind, name)
        document = self._settler.settle(entry).document
        assert isinstance(document, LogicalTable)
        return document

    def all_settled(self, kind: str, wanted: Callable[[LogicalTable], bool]) -> Sequence[LogicalTable]:
        """The facts, or the dimension tables, that are wanted, when their tables are as they say.

        In order of their names, by one scan. What is dropped meanwhile is left out.
        """
        documents = []
        for entry in self._settler.entries(kind):
            assert isinstance(entry.document, LogicalTable)
            if entry.state is not State.LEAVING and wanted(entry.document):
                with suppress(ModelNotFound):
                    document = self._settler.settle(entry).document
                    assert isinstance(document, LogicalTable)
                    documents.append(document)
        return documents

    def tabled(self, name: str) -> LogicalTable:
        """The fact of a name, or the dimension table, when its tables are as it says. One row, or two.

        Raises:
            ModelNotFound: there is neither.
        """
        for kind in ("fact", "dimtable"):
            with suppress(ModelNotFound):
                return self.settled(kind, name)
        raise not_found(self.database, "fact or dimension table", name)

    # Changing

    def add(self, document: Named, *, if_not_exists: bool) -> bool:
        """Add a document; whether it was added, and not there before. Raises as `create`."""
        try:
            self.create(document)
        except AlreadyExists:
            if not if_not_exists or self.find(document.kind, document.name) is None:
                raise
            return False
        return True

    def create(self, document: Named) -> None:
        """Add a document; one that was not finished, and is the same, is finished.

        Raises:
            AlreadyExists: there is one of its name, or a table of the name of one of its storage tables.
            InvalidModel: it names something that is not there, or holds a type, an aggregate or an expression that is
                none.
            UnknownTimelineClass: a storage table's properties name a class that there is not.
        """
        self._check_described(document, None, self._settler)
        for _ in range(_ATTEMPTS):
            stored = self._settler.entry(document.kind, document.name)
            if stored is None:
                break
            if stored.state is State.LEAVING:
                self._settler.finish_drop(stored)
            elif stored.state is not State.SETTLED and stored.before is None and stored.document == document:
                self._settler.settle(stored)
                return
            else:
                raise there(self.database, document)
        self._check_free(document, self._settler)
        entry = Entry(document, State.PROPOSED if isinstance(document, LogicalTable) else State.SETTLED)
        self.store.documents.create(self.database, document.kind, document.name, entry.text)
        with self._decided(document):
            try:
                self._settler.check_new(document)
            except (InvalidModel, AlreadyExists):
                if self._settler.withdraw(entry, Entry(document, State.LEAVING)):
                    raise
            self._settler.settle_or_take_back(entry, Entry(document, State.LEAVING))

    def check_new(self, document: Named, known: Known) -> None:
        """See that a document could be created among others. Raises as `create`."""
        self._check_described(document, None, known)
        self._check_free(document, known)

    def check_alteration(self, document: Named, before: Named, known: Known) -> None:
        """See that a document could take the place of what it was, among others. Raises as `Cubes.alter`."""
        self._check_described(document, before, known)
        self._check_altered(document, known)
        if isinstance(document, LogicalTable):
            assert isinstance(before, LogicalTable)
            check_partition_columns(document, before)
            check_names_free(self.store, self.database, document)

    def alter(self, document: Named, *, replaces: Named | None = None) -> None:
        """Replace a document, as `Cubes.alter` says."""
        stored = self._settler.entry(document.kind, document.name)
        if stored is None or stored.state is State.LEAVING:
            raise not_found(self.database, document.kind, document.name)
        stored = self._settler.settle(stored)
        if replaces is not None and stored.document != replaces:
            raise changed(document)
        self.check_alteration(document, stored.document, Overlay.of(self._settler, document))
        if isinstance(document, LogicalTable):
            entry = Entry(document, State.PROPOSED, stored.document)
        else:
            entry = Entry(document)
        self._settler.replace(stored, entry)
        with self._decided(document):
            try:
                self._check_altered(document, self._settler)
            except (InvalidModel, ModelInUse):
                if self._settler.withdraw(entry, Entry(stored.document)):
                    raise
            found = self._settler.settle_or_take_back(entry, Entry(stored.document, State.PENDING, document))
        if found.document == stored.document != document:
            raise changed(document)

    def _check_described(self, document: Named, before: Named | None, known: Known) -> None:
        """See that what a document says holds, whether it is new or takes the place of another."""
        check_content(document, known, before)
        check_references(document, known)
        if isinstance(document, LogicalTable):
            check_timeline_classes(self.store, self.database, document)

    def _check_free(self, document: Named, known: Known) -> None:
        """See that neither another document nor a table has a name that a new document needs."""
        check_name(self.database, document, known)
        if isinstance(document, LogicalTable):
            check_names_free(self.store, self.database, document)

    def _check_altered(self, document: Named, known: Known) -> None:
        """See that all is there that a document names, and all in it that others name."""
        check_references(document, known)
        for one in dependents(document, known):
            try:
                check_references(one, known)
            except InvalidModel as error:
                raise ModelInUse(
                    "other descriptions use what the change removes",
                    kind=document.kind,
                    name=document.name,
                    used_by=one,
                    at=error.fields.get("at"),
                    expected=error.fields.get("expected"),
                    hint="Alter or drop the description in used_by first",
                ) from None

    def drop(self, kind: str, name: str, *, cascade: bool = False, replaces: Named | None = None) -> None:
        """Remove a document with its tables; what a crash left of it as well.

        Args:
            kind: of the document; "cube" means derived cubes as well.
            name: its name.
            cascade: drop what names it, too: of a storage, its tables of all facts and dimension tables.
            replaces: what it has to be.

        Raises:
            ModelNotFound: there is none.
            ModelInUse: others name it.
            ConcurrentChange: it is not ``replaces``.
        """
        entry = self._settler.entry(kind, name)
        if entry is None and kind == "cube":
            entry = self._settler.entry("derived_cube", name)
        if entry is None:
            raise not_found(self.database, kind, name)
        document = entry.document
        if replaces is not None and document != replaces:
            raise changed(document)
        if kind == "storage":
            self._settler.settle_all()  # a table on it may be left of a fact that is not on it any more
        for _ in range(_ATTEMPTS):
            users = dependents(document, self._settler)
            if not users:
                break
            if not cascade:
                raise _in_use(document, users)
            for user in users:
                self._release(user, document)
        leaving = (
            entry
            if entry.state is State.LEAVING
            else self._settler.replace(entry, Entry(document, State.LEAVING, entry.before))
        )
        with self._decided(document):
            late = dependents(document, self._settler)
            if late:
                self._settler.settle(self._settler.replace(leaving, Entry(document, State.PENDING)))
                raise _in_use(document, late)
            self._settler.finish_drop(leaving)

    def _release(self, user: Named, document: Named) -> None:
        """Drop what names a document; of a fact or a dimension table on a storage, its table there."""
        if document.kind == "storage" and isinstance(user, LogicalTable):
            self.alter(
                user.changed(storage_tables=[one for one in user.storage_tables if one.storage != document.name])
            )
        else:
            self.drop(user.kind, user.name, cascade=True)

    def _decided(self, document: Named) -> AbstractContextManager[None]:
        """Inside, a change is decided: a backend that goes away leaves it to others to finish."""
        return decided("the change is decided, but it is not finished", kind=document.kind, name=document.name)


def _in_use(document: Named, users: Iterable[Named]) -> ModelInUse:
    return ModelInUse(
        f"other descriptions use the {document.kind}",
        name=document.name,
        used_by=", ".join(map(str, users)),
        hint="Drop the descriptions in used_by first, or drop with cascade (--cascade)",
    )
