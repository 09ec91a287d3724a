"""What a Hive Metastore keeps besides: functions, locks, transactions, roles, grants, statistics, marks."""
