"""Options of a cube query, by their names here and by Lens's.

>>> QueryOptions.of({"lens.cube.query.join.type": "inner"}).join_type
'INNER'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hbstore.errors import InvalidInput

_LENS: Final = {
    "lens.cube.query.join.type": "join_type",
    "lens.cube.query.fail.if.data.partial": "fail_if_partial",
}
_JOINS: Final = {
    "inner": "INNER",
    "left": "LEFT",
    "leftouter": "LEFT",
    "right": "RIGHT",
    "rightouter": "RIGHT",
    "full": "FULL",
    "fullouter": "FULL",
}
_TRUTHS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a cube query is answered.

    Attributes:
        partial: whether what there is will do, with what is missing said.
        join_type: how dimensions are joined that chains lead to: LEFT keeps rows without a row of the dimension.
    """

    partial: bool = False
    join_type: str = "LEFT"

    @staticmethod
    def of(options: Mapping[str, str], *, partial: bool = False) -> QueryOptions:
        """The options of names and values.

        Raises:
            InvalidInput: one is not an option, or has not such a value.
        """
        join_type = "LEFT"
        for name, value in options.items():
            key = _LENS.get(name.lower(), name.lower())
            if key == "join_type" and str(value).lower() in _JOINS:
                join_type = _JOINS[str(value).lower()]
            elif key == "partial" and str(value).lower() in _TRUTHS:
                partial = _TRUTHS[str(value).lower()]
            elif key == "fail_if_partial" and str(value).lower() in _TRUTHS:
                partial = not _TRUTHS[str(value).lower()]
            elif key in ("join_type", "partial", "fail_if_partial"):
                expected = ", ".join(_JOINS if key == "join_type" else _TRUTHS)
                raise InvalidInput("not a value of the option", option=name, value=value, hint=f"Use one of {expected}")
            else:
                raise InvalidInput(
                    "not an option of cube queries",
                    option=name,
                    hint=f"Use one of join_type, partial, {', '.join(_LENS)}",
                )
        return QueryOptions(partial, join_type)
