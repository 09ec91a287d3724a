"""Cube queries: a question to a cube becomes one Spark SQL query over the fewest and lightest partitions."""
