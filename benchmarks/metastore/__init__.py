"""The Hive Metastore endpoint beside a real Hive Metastore 2.3: `python -m benchmarks.metastore --help`."""
