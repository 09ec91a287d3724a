"""PartitionStore: databases, tables and partitions, with all that belongs to them."""
