"""Databases, tables, partitions and what else a catalog keeps: values, and their bytes as Thrift structs."""
