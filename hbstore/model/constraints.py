"""Constraints of tables: keys, NOT NULL, defaults and checks, which say what holds of rows; nobody enforces them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import identifier
from hbstore.model.frozen import freeze_sequence
from hbstore.texts.arguments import expect, expect_flags, expect_numbers, expect_texts

MAX_NAME: Final = 400
"""Characters of a constraint's name, as many as a Hive Metastore keeps."""


class ConstraintKind(Enum):
    """What a constraint says."""

    PRIMARY_KEY = "primary key"
    FOREIGN_KEY = "foreign key"
    UNIQUE = "unique"
    NOT_NULL = "not null"
    DEFAULT = "default"
    CHECK = "check"


KEYS: Final = (ConstraintKind.PRIMARY_KEY, ConstraintKind.UNIQUE)
"""What foreign keys may refer to."""
_OF_ONE_COLUMN: Final = (ConstraintKind.NOT_NULL, ConstraintKind.DEFAULT)
_WITH_TEXT: Final = (ConstraintKind.DEFAULT, ConstraintKind.CHECK)


@dataclass(frozen=True, slots=True)
class References:
    """What a foreign key refers to.

    Attributes:
        database: the database of the other table.
        table: the other table, which may be the same.
        columns: its columns, one for each column of the foreign key.
        key: the name of its primary key or unique constraint; the store sets it.
        update_rule: a number that Hive's clients send and get back.
        delete_rule: as the update rule.

    Raises:
        InvalidName: the database or the table cannot have such a name.
    """

    database: str
    table: str
    columns: Sequence[str]
    key: str = ""
    update_rule: int = 0
    delete_rule: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "database", identifier("database", self.database))
        object.__setattr__(self, "table", identifier("table", self.table))
        object.__setattr__(self, "columns", _columns(self, "columns"))
        object.__setattr__(self, "key", _name(self.key))
        expect_numbers(update_rule=self.update_rule, delete_rule=self.delete_rule)

    def __str__(self) -> str:
        return f"{self.database}.{self.table}"


@dataclass(frozen=True, slots=True)
class Constraint:
    """What is said about the rows of a table. It is kept and answered, and enforced by nobody.

    Attributes:
        kind: what it says.
        columns: the columns that it is about; a check may be about none.
        name: its name in lower case; without one the store makes one, as a Hive Metastore does.
        text: the value of a default, the condition of a check; of others None.
        references: what a foreign key refers to; of others None.
        enabled: whether engines shall enforce it for new rows.
        validated: whether it was checked for the rows that there are.
        relied: whether optimizers may rely on it.

    Raises:
        InvalidInput: a part is missing, or is of another kind.

    >>> Constraint(ConstraintKind.PRIMARY_KEY, ["Id"]).columns
    ('id',)
    """

    kind: ConstraintKind
    columns: Sequence[str] = ()
    name: str = ""
    text: str | None = None
    references: References | None = None
    enabled: bool = False
    validated: bool = False
    relied: bool = False

    def __post_init__(self) -> None:
        expect("kind", self.kind, ConstraintKind, hint="Give one of ConstraintKind")
        object.__setattr__(self, "columns", _columns(self, "columns"))
        object.__setattr__(self, "name", _name(self.name))
        expect_texts(or_none=True, text=self.text)
        expect_flags(enabled=self.enabled, validated=self.validated, relied=self.relied)
        if self.kind is not ConstraintKind.CHECK and not self.columns:
            raise InvalidInput(f"the {self.kind.value} names no column", hint="Name the columns that it is about")
        if self.kind in _OF_ONE_COLUMN and len(self.columns) != 1:
            raise InvalidInput(
                f"a {self.kind.value} is about one column", columns=len(self.columns), hint="Make one for each column"
            )
        if (self.text is not None) != (self.kind in _WITH_TEXT):
            raise InvalidInput(
                "a default has a value and a check a condition, and nothing else has a text",
                kind=self.kind.value,
                hint="Give the text of a default or check, and of no other constraint",
            )
        self._check_references()

    def _check_references(self) -> None:
        if self.kind is not ConstraintKind.FOREIGN_KEY:
            if self.references is not None:
                raise InvalidInput(
                    "only foreign keys refer to other tables", kind=self.kind.value, hint="Leave out references"
                )
            return
        hint = "Give References to the other table, with one of its columns for each column"
        expect("references", self.references, References, hint=hint)
        assert self.references is not None
        if len(self.references.columns) != len(self.columns):
            raise InvalidInput("the foreign key has other columns than what it refers to", name=self.name, hint=hint)


@dataclass(frozen=True, slots=True)
class ForeignKey:
    """A foreign key with the table that has it.

    Attributes:
        database: that table's database.
        table: that table.
        constraint: the foreign key.
    """

    database: str
    table: str
    constraint: Constraint


def _columns(owner: Constraint | References, name: str) -> tuple[str, ...]:
    freeze_sequence(owner, name)
    columns = tuple(getattr(owner, name))
    for column in columns:
        expect_texts(column=column)
    return tuple(column.lower() for column in columns)


def _name(name: str) -> str:
    expect_texts(name=name)
    if len(name) > MAX_NAME:
        raise InvalidInput(
            "the name of the constraint is too long", characters=len(name), limit=MAX_NAME, hint="Shorten it"
        )
    return name.strip().lower()
