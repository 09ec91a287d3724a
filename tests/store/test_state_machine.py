"""A store beside a model made of dictionaries, through random sequences of all that can be done to it."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hbstore import (
    NULL_PARTITION,
    AlreadyExists,
    Column,
    DatabaseNotEmpty,
    DatabaseNotFound,
    InvalidInput,
    Partition,
    PartitionNotFound,
    Table,
    TableNotFound,
    connect,
)
from hbstore.keys.partition_names import partition_name
from hbstore.keys.types import parse_type
from hbstore.model.totals import Totals
from tests.exactness.worlds import order_of
from tests.store import machines

DATABASES = ("d", "dd")
COLUMNS = (
    (("a", "int"),),
    (("a", "string"), ("b", "int")),
    (("a", "date"), ("b", "string"), ("c", "boolean")),
)
POOLS = {
    "int": ("5", "05", "+5", "-1", "10", "2147483647", NULL_PARTITION),
    "string": ("a", "ab", "a\0", "a%", "a/b", "Ü", NULL_PARTITION),
    "date": ("2013-01-01", "2013-1-1", "2013-12-31", "0001-01-01", NULL_PARTITION),
    "boolean": ("true", "TRUE", "false"),
}
MISFIT = "misfit"

databases = st.sampled_from(DATABASES)
tables = st.sampled_from(("t", "tt"))
places = st.tuples(databases, tables)
marks = st.text(st.sampled_from("xyz"), max_size=2)


def figures(mark):
    """Parameters of a partition; by its mark it says some figures, and others not."""
    names = {"x": "numRows", "y": "totalSize", "z": "numFiles"}
    return {"mark": mark} | {names[letter]: str(7 * mark.count(letter)) for letter in mark}


def totals(marks):
    """What partitions of these marks have together."""
    said = [[7 * mark.count(letter) for mark in marks] for letter in "xzy"]
    return Totals(len(marks), *map(sum, said), *(one.count(0) for one in said))


class _Known:
    """A table of the model: columns, and partitions by what they are ordered by."""

    def __init__(self, columns):
        self.columns = columns
        self.kinds = [parse_type(kind) for _, kind in columns]
        self.partitions = {}

    def order(self, values):
        return order_of(self.kinds, values)

    def listed(self):
        return [self.partitions[place] for place in sorted(self.partitions)]


class StoreMachine(RuleBasedStateMachine):
    """Rules take a place that may not exist; then the store must say so."""

    url = "memory://"

    def __init__(self):
        super().__init__()
        self.store = connect(self.url)
        self.model = {}
        for one in self.store.databases():
            self.store.drop_database(one.name, cascade=True)

    def teardown(self):
        for database, known in self.model.items():
            for name in known:
                assert all(problem is None for problem in self.store.check(database, name))
                assert not self.store.repair(database, name).miscounted
        self.listings_equal_the_model()
        self.store.close()

    def known(self, place):
        """The model's table; None after seeing that the store has none either."""
        database, name = place
        known = self.model.get(database, {}).get(name)
        if known is None:
            error = TableNotFound if database in self.model else DatabaseNotFound
            with pytest.raises(error):
                self.store.partition_names(database, name)
        return known

    def values_of(self, data, known, *, misfits=False):
        return tuple(
            data.draw(st.sampled_from((*POOLS[kind], MISFIT) if misfits else POOLS[kind])) for _, kind in known.columns
        )

    @rule(database=databases)
    def create_database(self, database):
        if database in self.model:
            with pytest.raises(AlreadyExists):
                self.store.create_database(database)
        else:
            self.store.create_database(database)
            self.model[database] = {}

    @rule(database=databases, cascade=st.booleans())
    def drop_database(self, database, cascade):
        if database not in self.model:
            with pytest.raises(DatabaseNotFound):
                self.store.drop_database(database, cascade=cascade)
        elif self.model[database] and not cascade:
            with pytest.raises(DatabaseNotEmpty):
                self.store.drop_database(database)
        else:
            self.store.drop_database(database, cascade=cascade)
            del self.model[database]

    @rule(place=places, columns=st.sampled_from(COLUMNS))
    def create_table(self, place, columns):
        database, name = place
        table = Table(database, name, partition_columns=[Column(*column) for column in columns], location="s3://x")
        if database not in self.model:
            with pytest.raises(DatabaseNotFound):
                self.store.create_table(table)
        elif name in self.model[database]:
            with pytest.raises(AlreadyExists):
                self.store.create_table(table)
        else:
            self.store.create_table(table)
            self.model[database][name] = _Known(columns)

    @rule(place=places)
    def drop_table(self, place):
        if self.known(place) is not None:
            self.store.drop_table(*place)
            del self.model[place[0]][place[1]]

    @rule(place=places, new=places, columns=st.sampled_from(COLUMNS), same=st.booleans())
    def rename_table(self, place, new, columns, same):
        known = self.known(place)
        if known is None:
            return
        columns = known.columns if same else columns
        database, name = new
        table = Table(database, name, partition_columns=[Column(*column) for column in columns], location="s3://y")
        error = None
        if new == place or columns != known.columns:
            error = InvalidInput
        elif database not in self.model:
            error = DatabaseNotFound
        elif name in self.model[database]:
            error = AlreadyExists
        if error is not None:
            with pytest.raises(error):
                self.store.rename_table(*place, table, relocated=("s3://x", "s3://y"))
            return
        self.store.rename_table(*place, table, relocated=("s3://x", "s3://y"))
        del self.model[place[0]][place[1]]
        self.model[database][name] = known

    @precondition(lambda self: any(known.partitions for tables in self.model.values() for known in tables.values()))
    @rule(data=st.data())
    def exchange(self, data):
        every = [(d, t) for d, tables in self.model.items() for t in tables]
        source = data.draw(st.sampled_from([place for place in every if self.model[place[0]][place[1]].partitions]))
        target = data.draw(st.sampled_from(every))
        known, other = self.known(source), self.known(target)
        some = data.draw(st.lists(st.sampled_from([values for values, _ in known.listed()]), min_size=1, max_size=4))
        if data.draw(st.integers(0, 3)) == 0:
            some.append(self.values_of(data, known))
        orders = {known.order(values) for values in some}
        if source == target or known.columns != other.columns:
            with pytest.raises(InvalidInput):
                self.store.exchange_partitions(source, target, some)
        elif orders - known.partitions.keys() or orders & other.partitions.keys():
            with pytest.raises((PartitionNotFound, AlreadyExists)):
                self.store.exchange_partitions(source, target, some)
        else:
            moved = self.store.exchange_partitions(source, target, some)
            assert [one.values for one in moved] == [known.partitions[order][0] for order in sorted(orders)]
            other.partitions.update({order: known.partitions.pop(order) for order in orders})

    @rule(place=places, data=st.data(), mark=marks, if_not_exists=st.booleans(), misfits=st.booleans())
    def add(self, place, data, mark, if_not_exists, misfits):
        known = self.known(place)
        if known is None:
            return
        batch = [self.values_of(data, known, misfits=misfits) for _ in range(data.draw(st.integers(1, 8)))]
        orders = [known.order(values) for values in batch]
        partitions = [Partition(values, parameters=figures(mark)) for values in batch]
        keep = "keep" if misfits else "reject"
        if not if_not_exists and (len(set(orders)) < len(orders) or known.partitions.keys() & set(orders)):
            with pytest.raises(AlreadyExists):
                self.store.add_partitions(*place, partitions, invalid_values=keep)
            return
        fresh = {}
        for order, values in zip(orders, batch, strict=True):
            if order not in known.partitions:
                fresh.setdefault(order, (values, mark))
        assert self.store.add_partitions(*place, partitions, if_not_exists, invalid_values=keep) == len(fresh)
        known.partitions.update(fresh)

    @rule(place=places, data=st.data(), if_exists=st.booleans())
    def drop(self, place, data, if_exists):
        known = self.known(place)
        if known is None:
            return
        there = [values for values, _ in known.listed()]
        some = data.draw(st.lists(st.sampled_from(there), max_size=5)) if there else []
        if data.draw(st.booleans()):
            some.append(self.values_of(data, known))
        orders = {known.order(values) for values in some}
        missing = orders - known.partitions.keys()
        if missing and not if_exists:
            with pytest.raises(PartitionNotFound):
                self.store.drop_partitions(*place, some)
            return
        assert self.store.drop_partitions(*place, some, if_exists=if_exists) == len(orders - missing)
        for order in orders - missing:
            del known.partitions[order]

    @rule(place=places, data=st.data(), mark=marks)
    def alter(self, place, data, mark):
        known = self.known(place)
        if known is None:
            return
        values = self.values_of(data, known)
        partition = Partition(values, parameters=figures(mark))
        if known.order(values) not in known.partitions:
            with pytest.raises(PartitionNotFound):
                self.store.alter_partitions(*place, [partition])
            return
        self.store.alter_partitions(*place, [partition])
        known.partitions[known.order(values)] = values, mark

    @precondition(lambda self: any(known.partitions for tables in self.model.values() for known in tables.values()))
    @rule(data=st.data())
    def rename(self, data):
        filled = [(d, t) for d, tables in self.model.items() for t, known in tables.items() if known.partitions]
        place = data.draw(st.sampled_from(filled))
        known = self.known(place)
        old, mark = data.draw(st.sampled_from(known.listed()))
        new = self.values_of(data, known)
        before, after = known.order(old), known.order(new)
        if after != before and after in known.partitions:
            with pytest.raises(AlreadyExists):
                self.store.rename_partition(*place, old, new)
            return
        self.store.rename_partition(*place, old, new)
        del known.partitions[before]
        known.partitions[after] = new, mark

    @rule(place=places, data=st.data())
    def read_one(self, place, data):
        known = self.known(place)
        if known is None:
            return
        values = self.values_of(data, known)
        found = known.partitions.get(known.order(values))
        if found is None:
            with pytest.raises(PartitionNotFound):
                self.store.get_partition(*place, values)
        else:
            assert self.store.get_partition(*place, values).values == found[0]
        assert [one.values for one in self.store.get_partitions(*place, [values, values])] == [
            one[0] for one in (found,) if one
        ]

    @rule(place=places, data=st.data())
    def names_by_spec(self, place, data):
        known = self.known(place)
        if known is None:
            return
        columns = [name for name, _ in known.columns]
        spec = dict(zip(columns, self.values_of(data, known), strict=True))
        for column in data.draw(st.sets(st.sampled_from(columns))):
            del spec[column]
        wanted = {at: known.order(tuple(spec.get(name, "") for name in columns))[at] for at, name in enumerate(columns)}
        expected = [
            partition_name(columns, values)
            for values, _ in known.listed()
            if all(known.order(values)[at] == wanted[at] for at, name in enumerate(columns) if name in spec)
        ]
        assert self.store.partition_names(*place, spec=spec) == expected

    @rule(place=places, data=st.data())
    def filter_by_the_first_column(self, place, data):
        known = self.known(place)
        if known is None:
            return
        name, kind = known.columns[0]
        text = data.draw(st.sampled_from([one for one in POOLS[kind] if one != NULL_PARTITION]))
        bound = known.order((text,) * len(known.columns))[0]
        listed = [values for values, _ in known.listed()]
        expected = [values for values in listed if (1,) < known.order(values)[0] <= bound]
        where = f"{name} <= '{text}'"
        assert [one.values for one in self.store.get_partitions_by_filter(*place, where)] == expected
        assert self.store.count_partitions(*place, where) == len(expected)
        assert len(self.store.partition_names(*place, where, max_parts=2)) == min(2, len(expected))

    @rule(place=places)
    def repair(self, place):
        if self.known(place) is not None:
            repaired = self.store.repair(*place)
            assert repaired.finished == 0
            assert not repaired.miscounted

    @invariant()
    def listings_equal_the_model(self):
        assert [one.name for one in self.store.databases()] == sorted(self.model)
        for database, known in self.model.items():
            assert [one.name for one in self.store.tables(database)] == sorted(known)
            for name, table in known.items():
                found = self.store.get_partitions_by_filter(database, name, None)
                assert [(one.values, one.parameters.get("mark")) for one in found] == table.listed()
                assert self.store.totals(database, name) == totals([mark for _, mark in table.listed()])


def test_memory():
    machines.run(StoreMachine, "memory://", 25, 40)


def test_memory_without_transactions():
    machines.run(StoreMachine, "memory://?atomic=false", 40, 40)


def test_sqlite(tmp_path):
    machines.run(StoreMachine, f"sqlite://{tmp_path}/store.db", 15, 40)


@pytest.mark.hbase
def test_hbase(hbase_server_url):
    machines.run_on_hbase(StoreMachine, hbase_server_url, 6, 30)
