"""Cubes: what data there are by name and by time, and which partitions of a fact hold a range of it."""

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension, Storage
from hbstore.cubes.cover import Cover, CoverPartition, CoverPartitions, CoverRun, cover
from hbstore.cubes.cubes import Cubes
from hbstore.cubes.descriptions import PartitionDesc
from hbstore.cubes.document import Named
from hbstore.cubes.fields import (
    ChainField,
    DimAttribute,
    Edge,
    Expression,
    ExpressionSpec,
    Hierarchy,
    JoinChain,
    Measure,
    Reference,
)
from hbstore.cubes.files import KINDS, parse_documents, read_documents, write_documents
from hbstore.cubes.logical_tables import Column, DimTable, Fact, Serde, SortColumn, StorageTable, TableDescription
from hbstore.cubes.partition_files import parse_partitions, read_partitions
from hbstore.cubes.putting import Action, Step
from hbstore.cubes.query.candidates import Candidate
from hbstore.cubes.query.rewriting import Rewritten
from hbstore.errors import Uncoverable

__all__ = [
    "KINDS",
    "Action",
    "Candidate",
    "ChainField",
    "Column",
    "Cover",
    "CoverPartition",
    "CoverPartitions",
    "CoverRun",
    "Cube",
    "Cubes",
    "DerivedCube",
    "DimAttribute",
    "DimTable",
    "Dimension",
    "Edge",
    "Expression",
    "ExpressionSpec",
    "Fact",
    "Hierarchy",
    "JoinChain",
    "Measure",
    "Named",
    "PartitionDesc",
    "Reference",
    "Rewritten",
    "Serde",
    "SortColumn",
    "Step",
    "Storage",
    "StorageTable",
    "TableDescription",
    "Uncoverable",
    "cover",
    "parse_documents",
    "parse_partitions",
    "read_documents",
    "read_partitions",
    "write_documents",
]
