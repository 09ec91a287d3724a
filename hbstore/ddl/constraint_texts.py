"""Constraints as statements write them, and as descriptions of tables show them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from hbstore.ddl.texts import quoted_name
from hbstore.model.constraints import Constraint, ConstraintKind
from hbstore.model.objects import Table

_OF_COLUMNS: Final = (ConstraintKind.NOT_NULL, ConstraintKind.DEFAULT)
"""Kinds that Hive adds by declaring the column anew."""


def constraint_text(constraint: Constraint) -> str:
    """What a constraint says.

    >>> constraint_text(Constraint(ConstraintKind.PRIMARY_KEY, ["ds", "hour"]))
    'PRIMARY KEY (ds, hour)'
    >>> constraint_text(Constraint(ConstraintKind.DEFAULT, ["price"], text="1.5"))
    'price DEFAULT 1.5'
    """
    if constraint.kind is ConstraintKind.CHECK:
        return f"CHECK ({constraint.text})"
    kind = constraint.kind.value.upper()
    if constraint.kind in _OF_COLUMNS:
        return " ".join([quoted_name(constraint.columns[0]), kind, *([constraint.text] if constraint.text else [])])
    text, to = f"{kind} ({_names(constraint.columns)})", constraint.references
    if to is None:
        return text
    return f"{text} REFERENCES {quoted_name(to.database)}.{quoted_name(to.table)} ({_names(to.columns)})"


def constraint_state(constraint: Constraint) -> str:
    """How far it holds, in Hive's words.

    >>> constraint_state(Constraint(ConstraintKind.NOT_NULL, ["price"], relied=True))
    'DISABLE NOVALIDATE RELY'
    """
    return " ".join(
        (
            "ENABLE" if constraint.enabled else "DISABLE",
            "VALIDATE" if constraint.validated else "NOVALIDATE",
            "RELY" if constraint.relied else "NORELY",
        )
    )


def adding_statements(table: Table, constraints: Iterable[Constraint]) -> Iterator[str]:
    """The statements that add constraints to a table, as Hive 4 writes them behind the one that creates it."""
    types = {column.name.lower(): column.type for column in (*table.columns, *table.partition_columns)}
    before = f"ALTER TABLE {quoted_name(table.database)}.{quoted_name(table.name)}"
    for constraint in constraints:
        name, text = f"CONSTRAINT {quoted_name(constraint.name)}", constraint_text(constraint)
        state = constraint_state(constraint)
        if constraint.kind in _OF_COLUMNS:
            column = quoted_name(constraint.columns[0])
            declared = f"{column} {column} {types[constraint.columns[0]]}"
            yield f"{before} CHANGE COLUMN {declared} {name} {text.removeprefix(f'{column} ')} {state}"
        else:
            yield f"{before} ADD {name} {text} {state}"


def _names(columns: Iterable[str]) -> str:
    return ", ".join(map(quoted_name, columns))
