"""The data source of partitions for Spark."""
