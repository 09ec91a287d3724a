"""Statements about partitions, as Hive and Spark SQL write them, without Spark: docs/ddl.md."""

from hbstore.ddl.parser import parse_statements
from hbstore.ddl.results import Result
from hbstore.ddl.session import Session, execute
from hbstore.ddl.statements import Statement

__all__ = ["Result", "Session", "Statement", "execute", "parse_statements"]
