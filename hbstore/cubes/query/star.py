"""Star: a cube or some dimensions of a query, with the facts, chains and dimension tables that belong to them.

All documents, and the latest partitions of dimension tables, are read when they are first asked for, and once, so that
a query sees one state of each. Facts are read anew where others alter them meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension
from hbstore.cubes.fields import DimAttribute, Expression, JoinChain, Measure
from hbstore.cubes.logical_tables import DimTable, Fact, StorageTable
from hbstore.cubes.query.latest_partitions import Latest, latest_of
from hbstore.cubes.stored_model import Model
from hbstore.errors import UnsupportedQuery
from hbstore.model.frozen import FrozenDict

Concept: TypeAlias = Cube | Dimension
"""What has fields that a query names."""

Field: TypeAlias = Measure | DimAttribute | Expression
"""A field of a concept."""

ONLY_DERIVED = "cube.allfields.queriable"
"""The property that, where it is false, lets only fields of one derived cube be asked together; Lens's name of it."""

IS_AGGREGATED = "cube.fact.is.aggregated"
"""The property of a fact that says whether its rows are rolled up, which they are unless it is false; Lens's name."""


@dataclass(eq=False)
class Star:
    """The documents of one query.

    Attributes:
        model: where they are.
    """

    model: Model
    _concepts: dict[str, Concept | DerivedCube | None] = field(default_factory=dict)
    _dimtables: dict[str, list[DimTable]] = field(default_factory=dict)
    _latest: dict[str, Latest | str] = field(default_factory=dict)
    _derived_cubes: dict[str, list[DerivedCube]] = field(default_factory=dict)

    def concept(self, name: str) -> Concept | DerivedCube | None:
        """The cube, the derived cube or the dimension of a name; None if there is none."""
        name = name.lower()
        if name not in self._concepts:
            concept = next(
                filter(None, (self.model.find(kind, name) for kind in ("cube", "derived_cube", "dimension"))), None
            )
            assert concept is None or isinstance(concept, Cube | DerivedCube | Dimension)
            self._concepts[name] = concept
        return self._concepts[name]

    def base(self, derived: DerivedCube) -> Cube:
        """The base cube of a derived one."""
        cube = self.concept(derived.parent)
        if not isinstance(cube, Cube):
            raise UnsupportedQuery(
                "the parent of the derived cube is gone",
                derived_cube=derived.name,
                parent=derived.parent,
                hint="Ask again",
            )
        return cube

    def facts(self, cube: Cube) -> list[Fact]:
        """The facts of a base cube in order of their names."""
        return [one for one in self.model.list("fact") if isinstance(one, Fact) and one.cube == cube.name]

    def dimtables(self, dimension: Dimension) -> list[DimTable]:
        """The dimension tables of a dimension, the lightest first."""
        if dimension.name not in self._dimtables:
            tables = [document for document in self.model.list("dimtable") if isinstance(document, DimTable)]
            own = [table for table in tables if table.dimension == dimension.name]
            self._dimtables[dimension.name] = sorted(own, key=lambda one: (one.weight or 0.0, one.name))
        return self._dimtables[dimension.name]

    def latest(self, table: str, on: StorageTable) -> Latest | str:
        """The latest partitions of a dimension table on a storage; if there are none, a text that says why.

        Raises:
            TableNotFound: the storage table is not in the catalog.
            UnsupportedQuery: they are too many to be asked for one by one.
        """
        if table not in self._latest:
            self._latest[table] = latest_of(self.model.store, self.model.database, table, on)
        return self._latest[table]

    def derived_cubes(self, cube: Cube) -> list[DerivedCube]:
        """The derived cubes of a cube."""
        if cube.name not in self._derived_cubes:
            derived = (document for document in self.model.list("derived_cube") if isinstance(document, DerivedCube))
            self._derived_cubes[cube.name] = [one for one in derived if one.parent == cube.name]
        return self._derived_cubes[cube.name]


def fields_of(concept: Concept) -> dict[str, Field]:
    """The fields of a cube or a dimension by name."""
    measures: tuple[Field, ...] = concept.measures if isinstance(concept, Cube) else ()
    return {one.name: one for one in (*measures, *concept.dim_attributes, *concept.expressions)}


def time_dimensions(concept: Concept) -> Mapping[str, str]:
    """The time dimensions of a cube, with their partition columns; a dimension has none."""
    return concept.time_dimensions if isinstance(concept, Cube) else FrozenDict()


def chain_of(concept: Concept, name: str) -> JoinChain | None:
    """The join chain of a name; None if there is none."""
    return next((chain for chain in concept.join_chains if chain.name == name), None)


def is_raw(fact: Fact) -> bool:
    """Whether a fact's rows are those of the cube itself, and not rolled up."""
    return fact.properties.get(IS_AGGREGATED, "true").strip().lower() == "false"
