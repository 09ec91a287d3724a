"""Hive's serialized expressions: bytes of Kryo to nodes, and nodes to an ExpressionTree (docs/hive-expressions.md)."""
