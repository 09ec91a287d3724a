"""Timelines on the table's row: stored, kept true by every change, and built."""
