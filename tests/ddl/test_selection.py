"""Which partitions a statement selects: beside what is true of each, and for whatever texts stand in them."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, Partition, Table, connect
from hbstore.ddl.parser import parse_statements
from hbstore.ddl.selection import conditions_of, selected_names
from hbstore.ddl.statements import Condition, PartitionSpec, ShowPartitions, TableName
from hbstore.filters.tree import Operator
from hbstore.keys.partition_names import partition_name
from hbstore.keys.types import parse_type
from tests.strategies import TYPE_TEXTS, texts

COMPARE = {
    Operator.EQ: operator.eq,
    Operator.NE: operator.ne,
    Operator.LT: operator.lt,
    Operator.LE: operator.le,
    Operator.GT: operator.gt,
    Operator.GE: operator.ge,
}
HOURS = st.integers(-3, 12)


def stored(table, partitions):
    store = connect("memory://")
    store.create_database("d")
    store.create_table(table)
    store.add_partitions("d", "t", partitions, if_not_exists=True, invalid_values="keep")
    return store


@given(st.data(), st.lists(st.sampled_from(TYPE_TEXTS), min_size=1, max_size=3))
def test_every_partition_is_found_by_its_whole_spec_as_it_is_printed(data, types):
    columns = [Column(f"c{at}", kind) for at, kind in enumerate(types)]
    some = st.tuples(*(texts(parse_type(kind)).filter(bool) for kind in types))
    values = data.draw(st.lists(some, min_size=1, max_size=5))
    table = Table("d", "t", columns)
    with stored(table, map(Partition, values)) as store:
        names = store.partition_names("d", "t")
        for one in store.get_partitions_by_filter("d", "t", None):
            spec = PartitionSpec(tuple(zip(table.partition_column_names, one.values, strict=True)))
            (parsed,) = parse_statements(str(ShowPartitions(TableName("t"), spec)))
            found = selected_names(store, table, conditions_of(table, parsed.spec))
            name = partition_name(table.partition_column_names, one.values)
            assert found == [name]
            names.remove(name)
        assert names == []


@given(
    st.sets(st.tuples(st.sampled_from("abc"), HOURS), max_size=12),
    st.lists(st.tuples(st.sampled_from(Operator), HOURS), max_size=3),
    st.lists(st.tuples(st.sampled_from(Operator), st.sampled_from("abc")), max_size=2),
)
def test_conditions_select_what_they_are_true_of(partitions, hours, days):
    table = Table("d", "t", [Column("ds", "string"), Column("hour", "int")])
    conditions = [Condition("HOUR", one, str(hour) if one is Operator.EQ else f"{hour:03}") for one, hour in hours]
    conditions += [Condition("ds", one, day) for one, day in days]
    true = [
        f"ds={ds}/hour={hour}"
        for ds, hour in sorted(partitions)
        if all(COMPARE[one](hour, than) for one, than in hours) and all(COMPARE[one](ds, than) for one, than in days)
    ]
    with stored(table, [Partition((ds, str(hour))) for ds, hour in partitions]) as store:
        assert selected_names(store, table, conditions) == true
