"""What of `Rows` follows from the rest of it: a backend that has no better way inherits it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn, Protocol

from hbstore.errors import not_picklable
from hbstore.model.name_lists import lay_out
from hbstore.rows.interface import Cells, Rows
from hbstore.rows.predicate import Predicate


class DerivedRows(Rows, Protocol):
    """Rows that are read by `scan` and `get` alone, and on no disk of this machine."""

    def __reduce__(self) -> NoReturn:
        raise not_picklable(self.url, "hbstore.connect")

    def doubt(self) -> str | None:
        """None: there is no file that somebody copies."""
        return None

    def settle_doubt(self) -> None:
        """Nothing to do."""
        return

    def keep_reserve(self) -> None:
        """Nothing: there is no disk that hbstore could keep room on."""
        return

    def use_reserve(self) -> bool:
        """False: there is none."""
        return False

    def give_back(self) -> None:
        """Nothing to do."""
        return

    def get_many(self, keys: Sequence[bytes]) -> dict[bytes, Cells]:
        """The cells of some catalog rows, read one after the other."""
        return {key: cells for key in keys if (cells := self.get(key))}

    def payloads(
        self, start: bytes, stop: bytes, residual: Predicate | None = None, limit: int | None = None
    ) -> Iterator[Sequence[bytes]]:
        """The payloads of the rows that `scan` returns."""
        for batch in self.scan(start, stop, residual, limit):
            yield [payload for _, payload in batch]

    def heads(self, start: bytes, stop: bytes, size: int, residual: Predicate | None = None) -> Iterator[bytes]:
        """The beginnings of the payloads that `payloads` returns."""
        for batch in self.payloads(start, stop, residual):
            yield lay_out(batch, size)
