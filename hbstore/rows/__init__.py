"""Ordered rows: one small interface, three backends (memory, SQLite, HBase)."""
