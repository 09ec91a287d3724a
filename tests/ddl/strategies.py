"""Hypothesis strategies for statements."""

from __future__ import annotations

from hypothesis import strategies as st

from hbstore.ddl.statements import (
    AddedPartition,
    AddPartitions,
    AnalyzeTable,
    Condition,
    CubeQuery,
    Describe,
    DropPartitions,
    ExchangePartitions,
    ExplainPartitions,
    PartitionSpec,
    RenamePartition,
    RepairTable,
    SetLocation,
    SetProperties,
    ShowColumns,
    ShowCreateTable,
    ShowDatabases,
    ShowPartitions,
    ShowProperties,
    ShowTableExtended,
    ShowTables,
    TableName,
    TruncateTable,
    UnsetProperties,
    UseDatabase,
)
from hbstore.filters.tree import Operator
from hbstore.keys.row_key import NULL_PARTITION

ODD = ["\\", "'", '"', "`", ";", "-", "\n", "\0", "0", "1", "n", "%", "_", "u", "é", "\U0001f600"]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.text(st.sampled_from(ODD), max_size=6)
KEYWORDS = st.sampled_from(
    ["partition", "EXTENDED", "formatted", "table", "where", "location", "exists", "purge", "with", "null", "date"]
)
WORDS = st.sampled_from(["true", "like", "add", "drop", "select", "1", "5days", "if"])
NAMES = st.from_regex(r"[a-z][a-z0-9_]{0,5}", fullmatch=True) | KEYWORDS | WORDS | TEXTS.filter(bool)
FILTERS = st.sampled_from(
    [
        "hour > 5",
        "ds >= '2013-01-01' and (hour in (5, 6) or region like '%;--')",
        "`a;b` = 'it\"s'",
        "ds = 'a\\'",
        'x = "it\'s -- not a comment"\n  and not y is null',
    ]
)
CUBE_QUERIES = st.sampled_from(
    [
        "cube select a from b",
        "CUBE\n-- one; 'two\nSELECT concat(a, ';', 'it\\'s;', \"it's\") FROM b -- 'three;\n/* four; */ where c = 1",
        "cube /* it's; */ select `a;b` x, -c / 2 from b where time_range_in(t, '2015', '2016')",
        "cube select r'\\' || R\";\" from bar'x;'",
    ]
)
TABLES = st.builds(TableName, NAMES, st.none() | NAMES)
SPECS = st.builds(
    PartitionSpec,
    st.lists(st.tuples(NAMES, TEXTS | st.just(NULL_PARTITION)), min_size=1, max_size=3).map(tuple),
)
CONDITIONS = (
    st.builds(Condition, NAMES, st.sampled_from(Operator), TEXTS | st.just(NULL_PARTITION))
    | st.builds(Condition, NAMES, st.just("LIKE"), TEXTS, negated=st.booleans())
    | st.builds(Condition, NAMES, st.just("IN"), TEXTS, st.lists(TEXTS, max_size=2).map(tuple), st.booleans())
    | st.builds(Condition, NAMES, st.just("BETWEEN"), TEXTS, st.tuples(TEXTS), st.booleans())
)


def several(strategy):
    return st.lists(strategy, min_size=1, max_size=3).map(tuple)


STATEMENTS = st.one_of(
    st.builds(AddPartitions, TABLES, several(st.builds(AddedPartition, SPECS, st.none() | TEXTS)), st.booleans()),
    st.builds(DropPartitions, TABLES, several(several(CONDITIONS)), st.booleans(), st.booleans()),
    st.builds(RenamePartition, TABLES, SPECS, SPECS),
    st.builds(SetLocation, TABLES, st.none() | SPECS, TEXTS),
    st.builds(ExchangePartitions, TABLES, several(SPECS), TABLES),
    st.builds(TruncateTable, TABLES, st.none() | SPECS),
    st.builds(SetProperties, TABLES, several(st.tuples(TEXTS, TEXTS))),
    st.builds(UnsetProperties, TABLES, several(TEXTS), st.booleans()),
    st.builds(
        ShowPartitions,
        TABLES,
        st.none() | SPECS,
        st.none() | FILTERS,
        st.just(()) | several(st.tuples(NAMES, st.booleans())),
        st.none() | st.integers(0, 10**6),
    ),
    st.builds(ShowColumns, TABLES),
    st.builds(ShowCreateTable, TABLES),
    st.builds(ShowProperties, TABLES, st.none() | TEXTS),
    st.builds(ShowTableExtended, TEXTS, st.none() | NAMES, st.none() | SPECS),
    st.builds(ShowTables, st.none() | NAMES, st.none() | TEXTS),
    st.builds(ShowDatabases, st.none() | TEXTS),
    st.builds(Describe, TABLES, st.none() | SPECS, st.none() | NAMES, st.booleans()),
    st.builds(UseDatabase, NAMES),
    st.builds(ExplainPartitions, TABLES, st.none() | FILTERS),
    st.builds(RepairTable, TABLES, st.sampled_from(["ADD", "DROP", "SYNC"]), st.booleans()),
    st.builds(CubeQuery, CUBE_QUERIES),
    st.builds(
        lambda table, spec, what: AnalyzeTable(table, spec, *what),
        TABLES,
        st.none() | SPECS,
        st.tuples(st.none() | st.just("all") | several(NAMES)) | st.just((None, True)),
    ),
)
