"""The catalog over HTTP: databases, tables, partitions and timelines as resources."""
