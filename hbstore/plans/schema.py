"""What planning knows of a table: where its keys begin, and its partition columns."""

from __future__ import annotations

from dataclasses import dataclass, field

from hbstore.errors import UnknownColumnError, did_you_mean
from hbstore.keys.types import ColumnType


@dataclass(frozen=True, slots=True)
class KeySchema:
    r"""A table as its row keys see it.

    Attributes:
        prefix: what all its row keys begin with (`hbstore.keys.row_key.table_prefix`).
        names: partition columns in key order.
        types: their types.
        respelled: the positions of columns that hold respelled values, so that one value may have several cells there.
            A plan that was made without one of them may miss rows, so schemas that differ in it are not equal.

    >>> from hbstore.keys.types import parse_type
    >>> KeySchema(b"shop\\0sales\\0", ("ds", "hour"), (parse_type("date"), parse_type("int"))).column("HOUR")
    1
    """

    prefix: bytes
    names: tuple[str, ...]
    types: tuple[ColumnType, ...]
    respelled: frozenset[int] = frozenset()
    _positions: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_positions", {name.lower(): at for at, name in enumerate(self.names)})

    def column(self, name: str) -> int:
        """The position of a column; names match in any case.

        Raises:
            UnknownColumnError: it is not a partition column.
        """
        position = self._positions.get(name)
        if position is None:
            position = self._positions.get(name.lower())
        if position is None:
            raise UnknownColumnError(
                "the column is not a partition column",
                column=name,
                hint=did_you_mean(name, self.names, f"The partition columns are {', '.join(self.names)}")
                if self.names
                else "The table has no partition columns",
            )
        return position
