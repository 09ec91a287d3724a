"""Constraints as Hive's structs: one struct for each column, while hbstore's `Constraint` has all columns of a key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from hbstore.metastore.catalogs import CATALOG
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.constraints import Constraint, ConstraintKind, ForeignKey, References


@dataclass(frozen=True, slots=True)
class Layout:
    """How a kind of constraint looks on the wire.

    Attributes:
        field: the list of such structs in requests and replies with all kinds, and in replies with this kind.
        struct: the struct.
        name: its field with the constraint's name.
        get: the method that reads those of a table, and the classes of its request and its reply.
        add: the method that adds some, the class of its request, and that one's list.
        text: the field with a default's value or a check's condition; of others empty.
    """

    field: str
    struct: Any
    name: str
    get: tuple[str, Any, Any]
    add: tuple[str, Any, str]
    text: str = ""

    @staticmethod
    def of(words: str, name: str, request: Any = THRIFT.LaterConstraintsRequest, text: str = "") -> Layout:
        """The layout of a kind, whose words make the names of its methods, structs and lists in Hive.

        >>> Layout.of("not null constraint", "nn_name").add[0], Layout.of("not null constraint", "nn_name").field
        ('add_not_null_constraint', 'notNullConstraints')
        """
        snake, camel = words.replace(" ", "_"), words.title().replace(" ", "")
        lower = camel[0].lower() + camel[1:]
        get = f"get_{snake}s", request, getattr(THRIFT, f"{camel}sResponse")
        add = f"add_{snake}", getattr(THRIFT, f"Add{camel}Request"), f"{lower}Cols"
        return Layout(f"{lower}s", getattr(THRIFT, f"SQL{camel}"), name, get, add, text)


LAYOUTS: Final[Mapping[ConstraintKind, Layout]] = {
    ConstraintKind.PRIMARY_KEY: Layout.of("primary key", "pk_name", THRIFT.PrimaryKeysRequest),
    ConstraintKind.FOREIGN_KEY: Layout.of("foreign key", "fk_name", THRIFT.ForeignKeysRequest),
    ConstraintKind.UNIQUE: Layout.of("unique constraint", "uk_name"),
    ConstraintKind.NOT_NULL: Layout.of("not null constraint", "nn_name"),
    ConstraintKind.DEFAULT: Layout.of("default constraint", "dc_name", text="default_value"),
    ConstraintKind.CHECK: Layout.of("check constraint", "dc_name", text="check_expression"),
}
_NUMBERED: Final = (ConstraintKind.PRIMARY_KEY, ConstraintKind.FOREIGN_KEY, ConstraintKind.UNIQUE)
"""Kinds whose structs number their columns."""


def structs_of(owned: ForeignKey) -> list[Any]:
    """The structs of a constraint of a table, one for each column."""
    constraint, layout = owned.constraint, LAYOUTS[owned.constraint.kind]
    fields: dict[str, Any] = {
        "catName": CATALOG,
        layout.name: constraint.name,
        "enable_cstr": constraint.enabled,
        "validate_cstr": constraint.validated,
        "rely_cstr": constraint.relied,
    }
    if layout.text:
        fields[layout.text] = constraint.text
    to = constraint.references
    structs = []
    for at, column in enumerate(constraint.columns or (None,)):
        if constraint.kind in _NUMBERED:
            fields["key_seq"] = at + 1
        if to is None:
            place = {"table_db": owned.database, "table_name": owned.table, "column_name": column}
        else:
            place = {"fktable_db": owned.database, "fktable_name": owned.table, "fkcolumn_name": column}
            place |= {"pktable_db": to.database, "pktable_name": to.table, "pkcolumn_name": to.columns[at]}
            fields |= {"pk_name": to.key, "update_rule": to.update_rule, "delete_rule": to.delete_rule}
        structs.append(layout.struct(**fields, **place))
    return structs


def constraints_in(structs_by_kind: Mapping[ConstraintKind, Iterable[Any]]) -> list[ForeignKey]:
    """The constraints of structs, each with its table; the columns of a key are put together.

    Raises:
        InvalidInput, InvalidName: one cannot be.
    """
    constraints: list[ForeignKey] = []
    for kind, structs in structs_by_kind.items():
        last: dict[tuple[str, str, str], int] = {}
        for struct in structs or ():
            read = _constraint(kind, struct)
            place = (read.database, read.table, read.constraint.name)
            at = last.get(place)
            unnamed_first = not read.constraint.name and (struct.key_seq or 0) <= 1 if kind in _NUMBERED else False
            if kind not in _NUMBERED or at is None or unnamed_first:
                last[place] = len(constraints)
                constraints.append(read)
            else:
                constraints[at] = _joined(constraints[at], read.constraint)
    return constraints


def _constraint(kind: ConstraintKind, struct: Any) -> ForeignKey:
    """The constraint of one struct, of one column or none."""
    layout = LAYOUTS[kind]
    if kind is ConstraintKind.FOREIGN_KEY:
        place, column = (struct.fktable_db, struct.fktable_name), struct.fkcolumn_name
        references = References(
            database_name(struct.pktable_db),
            struct.pktable_name or "",
            [struct.pkcolumn_name or ""],
            update_rule=struct.update_rule or 0,
            delete_rule=struct.delete_rule or 0,
        )
    else:
        place, column, references = (struct.table_db, struct.table_name), struct.column_name, None
    constraint = Constraint(
        kind,
        [column] if column else [],
        getattr(struct, layout.name) or "",
        (getattr(struct, layout.text) or "") if layout.text else None,
        references,
        enabled=bool(struct.enable_cstr),
        validated=bool(struct.validate_cstr),
        relied=bool(struct.rely_cstr),
    )
    return ForeignKey(database_name(place[0]).lower(), (place[1] or "").lower(), constraint)


def _joined(one: ForeignKey, more: Constraint) -> ForeignKey:
    """A key with another column."""
    key, to = one.constraint, one.constraint.references
    if to is not None and more.references is not None:
        to = replace(to, columns=[*to.columns, *more.references.columns])
    return replace(one, constraint=replace(key, columns=[*key.columns, *more.columns], references=to))
