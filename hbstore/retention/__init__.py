"""Retention: partitions that are older than a table keeps them are dropped, and their files wait in the trash."""
