"""Streams that write partitions, exactly once."""
