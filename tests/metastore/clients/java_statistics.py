"""Conversations about column statistics."""

from __future__ import annotations

from tests.metastore.clients.java_structs import columns, filled, storage, table

KINDS = {
    "flag": ("boolean", "booleanStats", {"numTrues": 3, "numFalses": 4, "numNulls": 1}),
    "number": ("bigint", "longStats", {"lowValue": -5, "highValue": 9, "numNulls": 2, "numDVs": 7}),
    "amount": ("double", "doubleStats", {"lowValue": -0.5, "highValue": 2.25, "numNulls": 0, "numDVs": 3}),
    "note": ("string", "stringStats", {"maxColLen": 20, "avgColLen": 7.5, "numNulls": 4, "numDVs": 11}),
    "raw": ("binary", "binaryStats", {"maxColLen": 9, "avgColLen": 1.5, "numNulls": 0}),
}


def data(ask, field, **fields):
    """The statistics of a column of one kind."""
    name = f"{field[0].upper()}{field[1:].removesuffix('Stats')}ColumnStatsData"
    return ask.struct("ColumnStatisticsData", **{field: ask.struct(name, **fields)})


def of_column(ask, name, *, plus=0):
    """Statistics of a column of KINDS, with numbers that much higher."""
    kind, field, numbers = KINDS[name]
    return ask.struct(
        "ColumnStatisticsObj",
        colName=name,
        colType=kind,
        statsData=data(ask, field, **{key: number + plus for key, number in numbers.items()}),
    )


def date_and_decimal(ask):
    date = {"lowValue": ask.struct("Date", daysSinceEpoch=10), "highValue": ask.struct("Date", daysSinceEpoch=20)}
    low, high = (ask.struct("Decimal", unscaled=bytes(one), scale=2) for one in ([1, 44], [2, 88]))
    yield ask.struct(
        "ColumnStatisticsObj",
        colName="day",
        colType="date",
        statsData=data(ask, "dateStats", numNulls=1, numDVs=8, **date),
    )
    decimal = data(ask, "decimalStats", numNulls=1, numDVs=2, lowValue=low, highValue=high)
    yield ask.struct("ColumnStatisticsObj", colName="price", colType="decimal(10,2)", statsData=decimal)


def statistics(ask, name, columns, partition=None):
    """Statistics of some columns of the table ``stats.name``, or of the partition ``parts.name``."""
    database = "stats" if partition is None else "parts"
    described = ask.struct("ColumnStatisticsDesc", dbName=database, tableName=name, isTblLevel=partition is None)
    if partition is not None:
        described.setPartName(partition)
    return ask.struct("ColumnStatistics", statsDesc=described, statsObj=columns)


def of_tables(ask):
    ask("createDatabase", ask.struct("Database", name="stats"))
    kinds = {name: kind for name, (kind, *_) in KINDS.items()}
    sd = storage(ask, cols=columns(ask, **kinds, day="date", price="decimal(10,2)"))
    ask("createTable", table(ask, "stats", "flat", {}, sd=sd))
    names = [*KINDS, "day", "price"]
    ask("getTableColumnStatistics", "stats", "flat", names)
    given = [*(of_column(ask, name) for name in KINDS), *date_and_decimal(ask)]
    ask("updateTableColumnStatistics", statistics(ask, "flat", given))
    ask("getTableColumnStatistics", "stats", "flat", names)
    ask("updateTableColumnStatistics", statistics(ask, "flat", [of_column(ask, "number", plus=100)]))
    ask("getTableColumnStatistics", "stats", "FLAT", ["NUMBER", "note"])
    twice = ask.struct("SetPartitionsStatsRequest", colStats=[statistics(ask, "flat", given)] * 2)
    ask.fails("MetaException", "setPartitionColumnStatistics", twice)
    ask("deleteTableColumnStatistics", "stats", "flat", "note")
    ask("getTableColumnStatistics", "stats", "flat", ["note", "number"])
    ask("deleteTableColumnStatistics", "stats", "flat", None)
    ask("getTableColumnStatistics", "stats", "flat", names)
    ask.fails("NoSuchObjectException", "updateTableColumnStatistics", statistics(ask, "nope", given))


def of_partitions(ask):
    filled(ask, "parts", "t", ("a", "1"), ("a", "2"), ("b", "1"))
    names = ["ds=a/hour=1", "ds=a/hour=2", "ds=b/hour=1"]
    both = ["amount", "note"]

    def given(name, plus):
        return statistics(ask, "t", [of_column(ask, column, plus=plus) for column in both], name)

    ask("getPartitionColumnStatistics", "parts", "t", names, both)
    ask("updatePartitionColumnStatistics", given(names[0], 0))
    ask("updatePartitionColumnStatistics", given(names[1], 5))
    ask("getPartitionColumnStatistics", "parts", "t", names, both)
    ask("getAggrColStatsFor", "parts", "t", both, names[:2])
    ask("getAggrColStatsFor", "parts", "t", ["amount"], names[2:])
    ask.differs(
        "Hive guesses for the partitions of which it knows nothing",
        {"partsFound": 2, "colStats": [{"colName": "amount"}, {"colName": "note"}]},
        "getAggrColStatsFor",
        "parts",
        "t",
        both,
        names,
    )
    request = ask.struct("SetPartitionsStatsRequest", colStats=[given(names[0], 50), given(names[2], 1)])
    ask("setPartitionColumnStatistics", request)
    ask("getPartitionColumnStatistics", "parts", "t", names, ["note"])
    ask("getAggrColStatsFor", "parts", "t", both, names)
    ask("deletePartitionColumnStatistics", "parts", "t", names[0], "note")
    ask("getPartitionColumnStatistics", "parts", "t", names, both)
    ask("deletePartitionColumnStatistics", "parts", "t", names[1], None)
    ask("getPartitionColumnStatistics", "parts", "t", names, both)
    ask.fails("NoSuchObjectException", "updatePartitionColumnStatistics", given("ds=nope/hour=1", 0))
    ask("dropPartition", "parts", "t", ["b", "1"], True)
    ask("getPartitionColumnStatistics", "parts", "t", names, both)
    ask("getPartitionColumnStatistics", "parts", "t", names[:1], [])


TOPICS = (of_tables, of_partitions)
