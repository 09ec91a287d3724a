"""PartitionStore: databases, tables, partitions, and the journal of changes."""
