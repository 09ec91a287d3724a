"""Statements about partitions, as Hive and Spark SQL write them, without Spark: docs/ddl.md."""

from hbstore.ddl.parser import parse_statements
from hbstore.ddl.results import Result
from hbstore.ddl.session import Session, execute
from hbstore.ddl.statements import (
    AddPartitions,
    AnalyzeTable,
    CubeQuery,
    Describe,
    DropPartitions,
    ExchangePartitions,
    ExplainPartitions,
    RenamePartition,
    RepairTable,
    SetProperties,
    ShowDatabases,
    ShowPartitions,
    ShowTableExtended,
    ShowTables,
    Statement,
    TruncateTable,
    UnsetProperties,
    UseDatabase,
)

__all__ = [
    "AddPartitions",
    "AnalyzeTable",
    "CubeQuery",
    "Describe",
    "DropPartitions",
    "ExchangePartitions",
    "ExplainPartitions",
    "RenamePartition",
    "RepairTable",
    "Result",
    "Session",
    "SetProperties",
    "ShowDatabases",
    "ShowPartitions",
    "ShowTableExtended",
    "ShowTables",
    "Statement",
    "TruncateTable",
    "UnsetProperties",
    "UseDatabase",
    "execute",
    "parse_statements",
]
