"""Statistics of partitions and columns, computed by Spark."""
