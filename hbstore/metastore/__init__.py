"""The Hive Metastore's wire protocol over a partition store: what `hbstore serve` serves."""
