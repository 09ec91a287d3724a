"""Epochs: changes of all partitions of a table that rewrite none of them.

A rename, and an alteration that goes to all partitions, begin a new *epoch* of the table. Rows that were written before
keep their bytes; what became of them since is noted once, beside the table's templates, and done to each as it is read.
So such a change takes the same few writes whatever the table's size. `hbstore upgrade` and, where many epochs have come
together, the next rename write the rows of earlier epochs anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Final

from hbstore.errors import CorruptRow
from hbstore.model.objects import Column
from hbstore.rows.damage import RESTORE
from hbstore.transactions.payload_change import PayloadChange

MOST_RELOCATIONS: Final = 16
"""Epochs with relocations that may come together: each costs a look at each older partition that is read."""


@dataclass(frozen=True, slots=True)
class Epochs:
    """The epochs of a table's partitions, and what each row of an earlier one is since.

    Attributes:
        current: the number of the epoch of rows that are written now.
        names: the database and the table that rows of all earlier ones belong to; None: as they say.
        columns: rows of epochs before the first have the second as columns of their storage; None: as they say.
        relocated: in rows of epochs before the first, locations that begin with the second begin with the third.

    >>> from hbstore.model.structs import decode_partition, encode_partition
    >>> from hbstore.model.objects import Partition, Table
    >>> row = encode_partition(Table("shop", "sales", [Column("ds", "date")]), Partition(["x"], location="s3://a/b"))
    >>> epochs = Epochs().renamed(("shop", "sold"), ("s3://a", "s3://c")).renamed(("shop", "old"), ("s3://c", "s3://d"))
    >>> [decode_partition(epochs.change(epoch).apply(row)).location for epoch in (0, 1)]
    ['s3://d/b', 's3://a/b']
    """

    current: int = 0
    names: tuple[str, str] | None = None
    columns: tuple[int, tuple[Column, ...]] | None = None
    relocated: tuple[tuple[int, str, str], ...] = ()

    def renamed(self, names: tuple[str, str], relocated: tuple[str, str] | None) -> Epochs:
        """With one more epoch, before which rows had other names, and perhaps locations."""
        more = () if relocated is None else ((self.current + 1, *relocated),)
        return replace(self, current=self.current + 1, names=names, relocated=self.relocated + more)

    def with_columns(self, columns: tuple[Column, ...]) -> Epochs:
        """With one more epoch, before which storages had other columns."""
        return replace(self, current=self.current + 1, columns=(self.current + 1, columns))

    def rewritten(self) -> Epochs:
        """As they are where no row of an earlier one is left."""
        return Epochs(self.current)

    def change(self, epoch: int) -> PayloadChange:
        """What became of rows of an earlier epoch."""
        columns = self.columns[1] if self.columns is not None and epoch < self.columns[0] else None
        relocated = [(old, new) for before, old, new in self.relocated if epoch < before]
        return PayloadChange(self.names, relocated, columns)

    def encode(self) -> dict[str, object]:
        """For JSON."""
        columns = self.columns and [self.columns[0], [[one.name, one.type, one.comment] for one in self.columns[1]]]
        return {"epoch": self.current, "names": self.names, "columns": columns, "relocated": self.relocated}

    @staticmethod
    def decode(data: bytes) -> tuple[Epochs, list[int]]:
        """Those of a line of JSON, and the epochs of the templates that follow it.

        Raises:
            CorruptRow: it is none.
        """
        try:
            line = json.loads(data)
            names, columns = line["names"], line["columns"]
            epochs = Epochs(
                int(line["epoch"]),
                None if names is None else (str(names[0]), str(names[1])),
                None if columns is None else (int(columns[0]), tuple(Column(*one) for one in columns[1])),
                tuple((int(before), str(old), str(new)) for before, old, new in line["relocated"]),
            )
            return epochs, [int(epoch) for epoch in line["of"]]
        except (ValueError, TypeError, KeyError, IndexError) as error:
            raise CorruptRow("the epochs of a table cannot be decoded", bytes=len(data), hint=RESTORE) from error


FIRST_EPOCH: Final = Epochs()
