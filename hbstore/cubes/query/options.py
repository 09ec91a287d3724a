"""Options of a cube query, by their names here and by Lens's.

>>> QueryOptions.of({"lens.cube.query.join.type": "inner"}).join_type
'INNER'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hbstore.errors import InvalidInput

_LENS: Final = {
    "lens.cube.query.join.type": "join_type",
    "lens.cube.query.fail.if.data.partial": "fail_if_partial",
    "lens.cube.query.enable.flattening.bridge.tables": "flatten_bridges",
    "lens.cube.query.flatten.bridge.tables.early": "flatten_early",
    "lens.cube.query.bridge.table.field.aggregator": "bridge_aggregator",
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
_VALUES: Final[Mapping[str, Mapping[str, Any]]] = {
    "join_type": _JOINS,
    "partial": _TRUTHS,
    "fail_if_partial": _TRUTHS,
    "flatten_bridges": _TRUTHS,
    "flatten_early": {"false": False},
    "bridge_aggregator": {"collect_set": "collect_set"},
}
_REASONS: Final = {
    "flatten_early": "expressions are computed in each row of a bridge table, and then become sets",
    "bridge_aggregator": "fields behind a bridge table become sets",
}
"""Why options have one value alone."""


@dataclass(frozen=True, slots=True)
class QueryOptions:
    """How a cube query is answered.

    Attributes:
        partial: whether what there is will do, with what is missing said.
        join_type: how dimensions are joined that chains lead to: LEFT keeps rows without a row of the dimension.
        flatten_bridges: whether what lies behind an edge to many rows is joined as sets, one row for each key.
    """

    partial: bool = False
    join_type: str = "LEFT"
    flatten_bridges: bool = False

    @staticmethod
    def of(options: Mapping[str, str], *, partial: bool = False) -> QueryOptions:
        """The options of names and values.

        Raises:
            InvalidInput: one is not an option, or has not such a value.
        """
        chosen: dict[str, Any] = {"partial": partial}
        for name, value in options.items():
            key = _LENS.get(name.lower(), name.lower())
            values = _VALUES.get(key)
            if values is None:
                raise InvalidInput(
                    "not an option of cube queries",
                    option=name,
                    hint=f"Use one of {', '.join([*_VALUES, *_LENS])}",
                )
            text = str(value).lower()
            if text not in values:
                reason = {"reason": _REASONS[key]} if key in _REASONS else {}
                raise InvalidInput(
                    "not a value of the option",
                    option=name,
                    value=value,
                    **reason,
                    hint=f"Use one of {', '.join(values)}" if len(values) > 1 else f"Use {', '.join(values)}",
                )
            if key == "fail_if_partial":
                chosen["partial"] = not values[text]
            else:
                chosen[key] = values[text]
        return QueryOptions(chosen["partial"], chosen.get("join_type", "LEFT"), chosen.get("flatten_bridges", False))
