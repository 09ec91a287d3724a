"""What each aggregate of a query takes from the rows of a storage table.

The rows of all storage tables stand below each other, and an aggregate is computed once over all of them. So it says of
each table which columns of it become which columns of these rows:

    avg(fare)          fare    count of fare                        SUM(fare) / SUM(`count of fare`)
    not rolled up      fare    CASE WHEN fare IS NULL THEN 0 ELSE 1 END
    rolled up          fare    fare_count
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from hbstore.cubes.query.candidates import StorageCandidate
from hbstore.cubes.query.times import plain_text


@dataclass(frozen=True, slots=True)
class AggregateInput:
    """A column of the rows that an aggregate is computed from.

    Attributes:
        of_values: what it is where a table's rows hold the values themselves; None: NULL.
        of_parts: what it is where they are rolled up.
    """

    of_values: exp.Expr | None
    of_parts: exp.Expr | None

    @staticmethod
    def column(name: str) -> AggregateInput:
        """A column that rows of both kinds have by one name."""
        tree = exp.column(name, quoted=True)
        return AggregateInput(tree, tree)


@dataclass(frozen=True, slots=True)
class RolledUp:
    """How an aggregate is computed where rolled-up rows are among its rows.

    Attributes:
        mixed: where there are rows with values as well.
        alone: where there are not.
        inputs: the columns of the rows, by name.
        columns: the columns of a rolled-up table that it needs.
    """

    mixed: exp.Expr
    alone: exp.Expr
    inputs: Mapping[str, AggregateInput]
    columns: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        trees = [one.of_parts for one in self.inputs.values() if one.of_parts is not None]
        columns = frozenset(column.name for tree in trees for column in tree.find_all(exp.Column))
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True, slots=True)
class RollUpRefusal:
    """Why rolled-up rows do not answer an aggregate.

    Attributes:
        reason: what they do not tell.
        hint: what to declare, or to ask instead; empty: nothing helps but rows that are not rolled up.
    """

    reason: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate of the query, and what it needs in one row.

    Attributes:
        tree: as it is computed from values.
        root: the alias of the cube.
        measures: fields that it names and that are measures.
        attributes: the other fields.
        insensitive: whether it does not matter to it how often a value of its attributes comes.
        rolled_up: how it is computed from rolled-up rows; None: it is not, or as from values.
        refusal: why it is not.
    """

    tree: exp.Expr
    root: str
    measures: frozenset[str]
    attributes: frozenset[str]
    insensitive: bool = False
    rolled_up: RolledUp | None = None
    refusal: RollUpRefusal = RollUpRefusal()

    @property
    def text(self) -> str:
        """The aggregate as people write it."""
        return plain_text(self.tree, self.root)

    @property
    def fields(self) -> frozenset[str]:
        """All fields that it names."""
        return self.measures | self.attributes

    def answers(self, table: StorageCandidate) -> bool:
        """Whether rows such as those of a table will do, if they have the columns."""
        return table.raw or self.insensitive or self.rolled_up is not None

    def needed(self, table: StorageCandidate) -> frozenset[str]:
        """The columns that a table has to have."""
        if self.rolled_up is None or self._takes_values(table):
            return self.fields
        return self.rolled_up.columns

    def computed(self, tables: Iterable[StorageCandidate]) -> exp.Expr:
        """The aggregate as it is computed from the rows of some tables."""
        kinds = {self._takes_values(table) for table in tables}
        if self.rolled_up is None or False not in kinds:
            return self.tree
        return self.rolled_up.mixed if True in kinds else self.rolled_up.alone

    def inputs(self, tables: Iterable[StorageCandidate], table: StorageCandidate) -> dict[str, exp.Expr]:
        """What the rows of one of the tables give to the columns from which the aggregate is computed so."""
        if self.rolled_up is None or all(map(self._takes_values, tables)):
            return {name: exp.column(name, quoted=True) for name in self.fields}
        values = self._takes_values(table)
        inputs = self.rolled_up.inputs.items()
        return {name: (one.of_values if values else one.of_parts) or exp.Null() for name, one in inputs}

    def _takes_values(self, table: StorageCandidate) -> bool:
        """Whether the aggregate is computed from a table's rows as from the cube's own."""
        return table.raw or (self.insensitive and self.attributes <= table.fields)
