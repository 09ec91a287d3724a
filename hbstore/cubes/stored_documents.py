"""Documents of the model as a database keeps them: each as JSON, in a document of the store of its kind and name.

{"name": "sales_daily", "cube": "sales", …}
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from hbstore.byte_cache import remembered
from hbstore.cubes.document import Named
from hbstore.cubes.files import checked_kind, make
from hbstore.errors import CorruptRow, InvalidModel
from hbstore.rows.damage import RESTORE
from hbstore.store.documents import document_in, documents_in, put_document, remove_document
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
