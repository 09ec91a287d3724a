"""hbstore's SQL port beside Spark's own Thrift server, as JDBC drivers and PyHive see both."""

from benchmarks.sql_port.measuring import run

__all__ = ["run"]
