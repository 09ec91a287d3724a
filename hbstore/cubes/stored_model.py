"""The model as it is stored: storages, cubes, dimensions, facts and dimension tables of a database.

Each is a document of the store, as JSON without its kind: ``{"name": "sales_daily", "cube": "sales", …}``. Facts and
dimension tables have storage tables besides. A document and its tables are
changed in one transaction, in which all is read that the document names. So of two changes that get into each other's
way one comes behind the other.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, MutableSequence, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from hbstore.byte_cache import remembered
from hbstore.cubes.checks import check_content
from hbstore.cubes.document import Named
from hbstore.cubes.files import checked_kind, make
from hbstore.cubes.logical_tables import LogicalTable
from hbstore.cubes.references import Known, Overlay, check_references, check_use, dependents, uses
from hbstore.cubes.storage_tables import follow, table_changes
from hbstore.errors import (
    AlreadyExists,
    ConcurrentChange,
    CorruptRow,
    CubeError,
    InvalidModel,
    InvalidType,
    ModelInUse,
    ModelNotFound,
    TableNotFound,
    TimelineError,
    did_you_mean,
)
from hbstore.model.objects import Table
from hbstore.rows.damage import RESTORE
from hbstore.store.documents import document_in, documents_in, put_document, remove_document
from hbstore.store.partition_store import PartitionStore
from hbstore.transactions.transaction import Transaction


def text_of(document: Named) -> str:
    """A document as it is stored; the row that it stands in says its kind."""
    content = {key: value for key, value in document.to_dict().items() if key != "kind"}
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


@remembered
def document_of(kind: str, text: str) -> Named:
    """The document of a stored text. Documents are frozen, and the same ones are read again and again.

    Raises:
        CorruptRow: it is none.
    """
    try:
        return make(kind, json.loads(text))
    except (ValueError, InvalidModel) as error:
        raise CorruptRow(
            "a document of the model cannot be decoded", kind=kind, reason=str(error), hint=RESTORE
        ) from None


@dataclass(frozen=True, slots=True)
class DocumentsInTransaction:
    """The documents of a database in a transaction.

    A document that was looked for stays what it is until the transaction ends, also where there is none. What was
    listed does not; but nobody begins to name a document without looking for it. So who has looked for a document, and
    then lists those that name it, misses none.

    Attributes:
        transaction: the transaction.
        database: in which database they are.
    """

    transaction: Transaction
    database: str

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name as it was before the transaction; None if there was none."""
        text = document_in(self.transaction, self.database, checked_kind(kind), name)
        return None if text is None else document_of(kind, text)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind in order of their names. One scan."""
        return [document_of(kind, text) for _, text in documents_in(self.transaction, self.database, kind)]

    def put(self, document: Named) -> None:
        """Put a document in the place of what there is of its kind and name."""
        put_document(self.transaction, self.database, document.kind, document.name, text_of(document))

    def remove(self, document: Named) -> None:
        """Remove a document."""
        remove_document(self.transaction, self.database, document.kind, document.name)


T = TypeVar("T")
_NAMESPACES: Final = (("storage",), ("cube", "derived_cube", "dimension"), ("fact", "dimtable"))
"""Kinds whose names differ: queries name cubes and dimensions alike, and tables on storages are called by theirs."""


@dataclass(frozen=True, slots=True)
class Model:
    """The model of a database.

    Attributes:
        store: where it is.
        database: in which.
    """

    store: PartitionStore
    database: str

    # Reading

    def find(self, kind: str, name: str) -> Named | None:
        """The document of a kind and name; None if there is none. One row."""
        text = self.store.documents.get(self.database, checked_kind(kind), name)
        return None if text is None else document_of(kind, text)

    def list(self, kind: str) -> Sequence[Named]:
        """All documents of a kind in order of their names. One scan."""
        return [document_of(kind, text) for _, text in self.store.documents.all(self.database, checked_kind(kind))]

    def get(self, kind: str, name: str) -> Named:
        """The document of a kind and name; "cube" finds derived cubes as well.

        Raises:
            ModelNotFound: there is none.
        """
        return _existing(self.database, self, kind, name)

    def tabled(self, name: str) -> LogicalTable:
        """The fact of a name, or the dimension table. One row, or two.

        Raises:
            ModelNotFound: there is neither.
        """
        for kind in ("fact", "dimtable"):
            document = self.find(kind, name)
            if isinstance(document, LogicalTable):
                return document
        raise not_found(self.database, "fact or dimension table", name, self, ("fact", "dimtable"))

    # Checking

    def check(self, document: Named, before: Named | None, known: Known) -> None:
        """See that a document could be created, or take the place of what it was. Raises as `Cubes.put`."""
        _check_described(document, before, known)
        if before is None:
            check_name(self.database, document, known)
        else:
            _check_users(document, known)
        table_changes(self.database, before, document, self._table)

    # Changing

    def add(self, documents: Iterable[Named], *, if_not_exists: bool) -> Sequence[Named]:
        """Add documents at once, as `Cubes.create_all`; those that were added, and not there before.

        They are in an order in which each refers to those before it. With ``if_not_exists`` those that are there are
        passed over.
        """
        listed = [*documents]

        def add(stored: DocumentsInTransaction) -> Sequence[Named]:
            added: MutableSequence[Named] = []
            tables: dict[str, Table] = {}
            for document in listed:
                with _naming(document):
                    known = Overlay.of(stored, *added)
                    before = known.find(document.kind, document.name)
                    _check_described(document, None, known)
                    if before is None:
                        check_name(self.database, document, known)
                        self._put(stored, None, document, tables)
                        added.append(document)
                    elif not if_not_exists:
                        raise there(self.database, document)
            return added

        return self._run(add)

    def alter(self, document: Named, *, replaces: Named | None = None) -> None:
        """Replace a document, as `Cubes.alter` says."""

        def alter(documents: DocumentsInTransaction) -> None:
            before = documents.find(document.kind, document.name)
            if before is None:
                raise not_found(self.database, document.kind, document.name, documents, (document.kind,))
            if replaces not in (None, before):
                raise changed(document)
            known = Overlay.of(documents, document)
            _check_described(document, before, known)
            _check_users(document, known)
            self._put(documents, before, document)

        self._run(alter)

    def drop(self, kind: str, name: str, *, cascade: bool = False, replaces: Named | None = None) -> None:
        """Remove a document with its tables, as `Cubes.drop`; the kind "cube" means derived cubes as well."""

        def drop(documents: DocumentsInTransaction) -> None:
            document = _existing(self.database, documents, kind, name)
            if replaces not in (None, document):
                raise changed(document)
            users = dependents(document, documents)
            if users and not cascade:
                raise ModelInUse(
                    f"other descriptions use the {document.kind}",
                    name=document.name,
                    used_by=", ".join(map(str, users)),
                    hint="Drop the descriptions in used_by first, or drop with cascade (--cascade)",
                )
            for listed in users:
                user = documents.find(listed.kind, listed.name)
                if user is not None and uses(user, document):  # others may have altered it since it was listed
                    self._put(documents, user, _without(user, document))
            self._put(documents, document, None)

        self._run(drop)

    def _run(self, step: Callable[[DocumentsInTransaction], T]) -> T:
        def run(transaction: Transaction) -> T:
            return step(DocumentsInTransaction(transaction, self.database))

        return self.store.documents.transactions.run(run)

    def _put(
        self,
        documents: DocumentsInTransaction,
        before: Named | None,
        after: Named | None,
        created: dict[str, Table] | None = None,
    ) -> None:
        """Put a document in the place of another one; None stands for none. Its tables follow, beside those created."""
        follow(documents.transaction, self.database, before, after, {} if created is None else created)
        if after is not None:
            documents.put(after)
        elif before is not None:
            documents.remove(before)

    def _table(self, name: str) -> Table | None:
        with suppress(TableNotFound):
            return self.store.get_table(self.database, name)
        return None


@contextmanager
def _naming(document: Named) -> Iterator[None]:
    """Errors of a document say which it is."""
    try:
        yield
    except (AlreadyExists, CubeError, InvalidType, TimelineError) as error:
        if "name" not in error.fields:
            error.fields = {"kind": document.kind, "name": document.name, **error.fields}
        raise


def check_name(database: str, document: Named, known: Known) -> None:
    """See that no document of another kind that shares its names has this one.

    Raises:
        AlreadyExists: one has.
    """
    (kinds,) = (one for one in _NAMESPACES if document.kind in one)
    for kind in kinds:
        if kind != document.kind and (other := known.find(kind, document.name)) is not None:
            raise there(database, other)


def not_found(database: str, kind: str, name: str, known: Known, kinds: Iterable[str]) -> ModelNotFound:
    """The error for a document that is not there, beside others of some kinds."""
    names = (document.name for one in kinds for document in known.list(one))
    hint = did_you_mean(name, names, "List the descriptions with `hbstore model list`")
    return ModelNotFound(f"the {kind} does not exist", name=f"{database}.{name}", hint=hint)


def changed(document: Named) -> ConcurrentChange:
    """The error for a document that is another by now."""
    return ConcurrentChange(
        "another writer changed the description",
        kind=document.kind,
        name=document.name,
        hint="Read the description again, then repeat the change",
    )


def there(database: str, document: Named) -> AlreadyExists:
    """The error for a document that is there already."""
    return AlreadyExists(
        f"the {document.kind} already exists",
        name=f"{database}.{document.name}",
        hint="Alter the existing one, or give the new one another name",
    )


def _existing(database: str, known: Known, kind: str, name: str) -> Named:
    kinds = ("cube", "derived_cube") if isinstance(kind, str) and kind == "cube" else (kind,)
    for one in kinds:
        document = known.find(one, name)
        if document is not None:
            return document
    raise not_found(database, kind, name, known, kinds)


def _check_described(document: Named, before: Named | None, known: Known) -> None:
    """See that what a document says holds, whether it is new or takes the place of another."""
    check_content(document, known, before)
    check_references(document, known)


def _check_users(document: Named, known: Known) -> None:
    """See that all is in a document that others name in it."""
    for user in dependents(document, known):
        try:
            check_use(user, document)
        except InvalidModel as error:
            raise ModelInUse(
                "other descriptions use what the change removes",
                kind=document.kind,
                name=document.name,
                used_by=user,
                at=error.fields.get("at"),
                expected=error.fields.get("expected"),
                hint="Alter or drop the description in used_by first",
            ) from None


def _without(user: Named, document: Named) -> Named | None:
    """What is left of a document when one goes that it names: a fact on a storage is on the others still."""
    if document.kind == "storage" and isinstance(user, LogicalTable):
        return user.changed(storage_tables=[table for table in user.storage_tables if table.storage != document.name])
    return None
