"""Databases, tables and partitions together with their folders, changed by the rules of a Hive Metastore."""
