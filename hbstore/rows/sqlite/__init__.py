"""Rows in a file of SQLite."""
