"""Column statistics: kept, merged, deleted, and never shown for what comes after what they belonged to."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from hbstore import (
    Column,
    ConcurrentChange,
    CorruptRow,
    InvalidInput,
    InvalidPartitionValue,
    Partition,
    PartitionNotFound,
    Table,
    TableNotFound,
    TableNotPartitioned,
    connect,
)
from hbstore.model.service_objects import ColumnStatistic
from hbstore.model.service_structs import Companion, decode_companion, encode_companion
from hbstore.store.companion_keys import table_companion_key
from tests.services.conftest import Clock, Services
from tests.store.conftest import hours, sales_table
from tests.strategies import unicode_text

FIVE, SIX, SEVEN = [("2013-01-01", hour) for hour in ("5", "6", "7")]
statistics = st.builds(
    ColumnStatistic,
    unicode_text.filter(bool),
    st.none() | unicode_text,
    st.binary(max_size=20),
    st.integers(-(2**63), 2**63 - 1),
)


def about(*columns, data=b"1"):
    return [ColumnStatistic(column, "int", data, 7) for column in columns]


def columns_of(found):
    return {values: [one.column for one in some] for values, some in found.items()}


@pytest.fixture
def sales(services):
    services.store.create_table(sales_table())
    services.store.add_partitions("shop", "sales", hours(1, 5, 6, 7))
    return services


def everything(sales, columns=None):
    return sales.statistics.read_partitions("shop", "sales", [FIVE, SIX, SEVEN], columns)


@given(st.lists(statistics, max_size=4), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=3))
def test_every_companion_is_kept_in_its_bytes(some, events):
    companion = Companion(tuple(some), tuple(events))
    assert decode_companion(encode_companion(companion)) == companion


def test_bytes_that_are_no_companion_are_refused():
    for payload in (b"", b"\x0f\0\x01\x0c\0\0\0\x01\0\0", encode_companion(Companion()) + b"\0"):
        with pytest.raises(CorruptRow):
            decode_companion(payload)


def test_statistics_of_a_table(sales):
    assert sales.statistics.read_table("shop", "sales") == []
    sales.statistics.write_table("shop", "sales", about("b", "A"))
    sales.statistics.write_table("SHOP", "Sales", about("a", "c", data=b"\0\xff"))
    found = sales.statistics.read_table("shop", "sales")
    assert [(one.column, one.data) for one in found] == [("a", b"\0\xff"), ("b", b"1"), ("c", b"\0\xff")]
    assert [one.column for one in sales.statistics.read_table("shop", "sales", ["C", "a", "none"])] == ["a", "c"]
    assert found[0] == ColumnStatistic("a", "int", b"\0\xff", 7)
    assert everything(sales) == {}


def test_statistics_of_partitions(sales):
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("a", "b"), SIX: about("b")})
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("c"), SEVEN: about("b", data=b"2")})
    assert columns_of(everything(sales)) == {FIVE: ["a", "b", "c"], SIX: ["b"], SEVEN: ["b"]}
    assert columns_of(everything(sales, ["A", "C"])) == {FIVE: ["a", "c"]}
    assert everything(sales, ["b"])[SEVEN][0].data == b"2"
    assert sales.statistics.read_table("shop", "sales") == []
    assert sales.store.count_partitions("shop", "sales") == 3
    assert all(problem is None for problem in sales.store.check("shop", "sales"))


def test_partitions_of_one_value_have_statistics_of_their_own(sales):
    odd = ("2013-01-01", "05")
    sales.store.add_partitions("shop", "sales", [Partition(odd)])
    sales.statistics.write_partitions("shop", "sales", {odd: about("a"), FIVE: about("b")})
    assert columns_of(sales.statistics.read_partitions("shop", "sales", [odd, FIVE])) == {odd: ["a"], FIVE: ["b"]}


def test_null_partitions_and_long_values(services):
    services.store.create_table(Table("shop", "notes", partition_columns=[Column("note", "string")]))
    long, longer = "x" * 300, "x" * 300 + "y"
    given_values = [(None,), ("x",), (long,), (longer,), ("x" * 30_000,), ("a\0b",)]
    services.store.add_partitions("shop", "notes", [Partition(one) for one in given_values])
    texts = [one.values for one in services.store.get_partitions_by_filter("shop", "notes", None)]
    assert len(texts) == len(given_values)
    wanted = {one: about(f"c{at}") for at, one in enumerate(texts)}
    services.statistics.write_partitions("shop", "notes", wanted)
    assert services.statistics.read_partitions("shop", "notes", texts) == wanted


def test_statistics_are_deleted_by_column_or_all(sales):
    sales.statistics.write_table("shop", "sales", about("a", "b"))
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("a", "b", "c"), SIX: about("a")})
    assert sales.statistics.delete_table("shop", "sales", "A")
    assert not sales.statistics.delete_table("shop", "sales", "a")
    assert [one.column for one in sales.statistics.read_table("shop", "sales")] == ["b"]
    assert sales.statistics.delete_partition("shop", "sales", FIVE, "b")
    assert columns_of(everything(sales)) == {FIVE: ["a", "c"], SIX: ["a"]}
    assert sales.statistics.delete_partition("shop", "sales", FIVE)
    assert not sales.statistics.delete_partition("shop", "sales", FIVE)
    assert sales.statistics.delete_table("shop", "sales")
    assert sales.statistics.read_table("shop", "sales") == []
    assert columns_of(everything(sales)) == {SIX: ["a"]}
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("d")})
    assert columns_of(everything(sales)) == {FIVE: ["d"], SIX: ["a"]}


def test_many_are_written_all_or_none(sales):
    with pytest.raises(PartitionNotFound) as caught:
        sales.statistics.write_partitions("shop", "sales", {FIVE: about("a"), ("2013-01-02", "1"): about("a")})
    assert caught.value.fields["partition"] == "ds=2013-01-02/hour=1"
    with pytest.raises(InvalidPartitionValue):
        sales.statistics.write_partitions("shop", "sales", {("2013-01-01",): about("a")})
    with pytest.raises(InvalidInput):
        sales.statistics.write_partitions("shop", "sales", {FIVE: about("a", data=b"x" * (9 << 20))})
    with pytest.raises(InvalidInput):
        about("")
    assert everything(sales) == {}
    sales.statistics.write_partitions("shop", "sales", {})


def test_what_is_not_there_is_named(sales):
    sales.store.create_table(Table("shop", "plain", columns=[Column("a", "int")]))
    sales.statistics.write_table("shop", "plain", about("a"))
    for call in (
        lambda table: sales.statistics.write_partitions("shop", table, {FIVE: about("a")}),
        lambda table: sales.statistics.read_partitions("shop", table, [FIVE]),
        lambda table: sales.statistics.delete_partition("shop", table, FIVE),
    ):
        with pytest.raises(TableNotPartitioned):
            call("plain")
        with pytest.raises(TableNotFound):
            call("none")
    for call in (sales.statistics.read_table, sales.statistics.delete_table):
        with pytest.raises(TableNotFound):
            call("shop", "none")


def test_a_partition_that_comes_back_has_none(sales):
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("a"), SIX: about("a")})
    sales.store.drop_partitions("shop", "sales", [FIVE])
    assert columns_of(everything(sales)) == {SIX: ["a"]}
    with pytest.raises(PartitionNotFound):
        sales.statistics.write_partitions("shop", "sales", {FIVE: about("a")})
    sales.store.add_partitions("shop", "sales", hours(1, 5))
    assert columns_of(everything(sales)) == {SIX: ["a"]}
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("b")})
    assert columns_of(everything(sales)) == {FIVE: ["b"], SIX: ["a"]}


def test_partitions_that_come_and_go_at_once(sales):
    for turn in range(30):
        sales.statistics.write_partitions("shop", "sales", {FIVE: about(f"c{turn}")})
        assert columns_of(everything(sales)) == {FIVE: [f"c{turn}"]}
        sales.store.drop_partitions("shop", "sales", [FIVE])
        sales.store.add_partitions("shop", "sales", hours(1, 5))
        assert everything(sales) == {}


def test_a_table_that_comes_back_has_none(sales):
    for _ in range(3):
        row = sales.tables.open("shop", "sales")
        sales.statistics.write_table("shop", "sales", about("a"))
        sales.statistics.write_partitions("shop", "sales", {FIVE: about("a")})
        sales.store.drop_table("shop", "sales")
        sales.store.create_table(sales_table())
        sales.store.add_partitions("shop", "sales", hours(1, 5, 6, 7))
        assert sales.statistics.read_table("shop", "sales") == []
        assert everything(sales) == {}
        start = table_companion_key(row)
        assert list(sales.rows.scan(start, start + b"\xff" * 40)) == []


def test_who_began_with_the_table_before_does_not_write_to_nowhere(sales):
    row = sales.tables.open("shop", "sales")
    sales.store.drop_table("shop", "sales")
    sales.store.create_table(sales_table())
    with pytest.raises(ConcurrentChange):
        sales.companions.change(row, {table_companion_key(row): lambda companion: replace(companion, events=(1,))}, {})
    sales.store.drop_table("shop", "sales")
    with pytest.raises(TableNotFound):
        sales.companions.change(row, {table_companion_key(row): lambda companion: replace(companion, events=(1,))}, {})


def test_an_altered_table_keeps_its_own(sales):
    sales.statistics.write_table("shop", "sales", about("a"))
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("a")})
    sales.store.alter_table(sales_table(parameters={"a": "b"}))
    assert [one.column for one in sales.statistics.read_table("shop", "sales")] == ["a"]
    assert columns_of(everything(sales)) == {FIVE: ["a"]}


def test_a_renamed_table_keeps_its_own(sales):
    sales.statistics.write_table("shop", "sales", about("a"))
    sales.statistics.write_partitions("shop", "sales", {FIVE: about("a"), SIX: about("a")})
    for _ in range(2):
        sales.store.rename_table("shop", "sales", replace(sales_table(), name="sold"))
        with pytest.raises(TableNotFound):
            everything(sales)
        sales.statistics.write_partitions("shop", "sold", {FIVE: about("a", "b")})
        sales.store.drop_partitions("shop", "sold", [SIX])
        sales.store.add_partitions("shop", "sold", hours(1, 6))
        sales.store.create_table(sales_table())
        sales.store.add_partitions("shop", "sales", hours(1, 5))
        assert everything(sales) == {}
        sales.store.drop_table("shop", "sales")
        sales.store.rename_table("shop", "sold", sales_table())
        assert columns_of(everything(sales)) == {FIVE: ["a", "b"]}
        assert [one.column for one in sales.statistics.read_table("shop", "sales")] == ["a"]


@pytest.mark.parametrize("number", [10_000])
def test_ten_thousand_partitions_take_few_requests(url, number):
    with connect(url) as store:
        services = Services(store, Clock())
        store.create_database("many", if_not_exists=True)
        store.drop_table("many", "t", if_exists=True)
        store.create_table(Table("many", "t", partition_columns=[Column("n", "int")]))
        values = [(str(one),) for one in range(number)]
        store.add_partitions("many", "t", [Partition(one) for one in values])
        wanted = dict.fromkeys(values, about("a", "b", data=b"x" * 50))
        before = store.rows.round_trips()
        services.statistics.write_partitions("many", "t", wanted)
        written = store.rows.round_trips()
        assert services.statistics.read_partitions("many", "t", values) == wanted
        assert written - before < 100
        assert store.rows.round_trips() - written < 50
        store.drop_table("many", "t")


class Machine(RuleBasedStateMachine):
    """Partitions come and go, tables are made anew, statistics are written, through two servers."""

    URL = "memory://"

    def __init__(self):
        super().__init__()
        self.services = Services(connect(self.URL), Clock())
        self.services.store.create_database("shop")
        self.services.store.create_table(sales_table())
        self.partitions, self.table = {}, {}

    values = st.sampled_from([FIVE, SIX, SEVEN])
    columns = st.lists(st.sampled_from("abc"), max_size=2)

    @rule(values=values)
    def add(self, values):
        self.services.store.add_partitions("shop", "sales", [Partition(values)], True)
        self.partitions.setdefault(values, {})

    @rule(values=values)
    def drop(self, values):
        if values in self.partitions:
            self.services.store.drop_partitions("shop", "sales", [values])
            del self.partitions[values]

    @rule(some=st.dictionaries(values, columns, max_size=3), data=st.binary(max_size=2))
    def write(self, some, data):
        given_statistics = {values: about(*columns, data=data) for values, columns in some.items()}
        if some.keys() - self.partitions.keys():
            with pytest.raises(PartitionNotFound):
                self.services.statistics.write_partitions("shop", "sales", given_statistics)
            return
        self.services.statistics.write_partitions("shop", "sales", given_statistics)
        for values, columns in some.items():
            self.partitions[values] |= dict.fromkeys(columns, data)

    @rule(columns=columns, data=st.binary(max_size=2))
    def write_table(self, columns, data):
        self.services.statistics.write_table("shop", "sales", about(*columns, data=data))
        self.table |= dict.fromkeys(columns, data)

    @rule(values=values, column=st.sampled_from(["a", "B", None]))
    def delete(self, values, column):
        known = self.partitions.get(values, {})
        gone = set(known) if column is None else known.keys() & {column.lower()}
        assert self.services.statistics.delete_partition("shop", "sales", values, column) == bool(gone)
        for one in gone:
            del known[one]

    @rule()
    def make_anew(self):
        self.services.store.drop_table("shop", "sales")
        self.services.store.create_table(sales_table())
        self.partitions, self.table = {}, {}

    @invariant()
    def what_is_shown_is_what_was_written(self):
        found = everything(self.services)
        shown = {values: {one.column: one.data for one in some} for values, some in found.items()}
        assert shown == {values: known for values, known in self.partitions.items() if known}
        table = self.services.statistics.read_table("shop", "sales")
        assert {one.column: one.data for one in table} == self.table


@pytest.mark.parametrize("url", ["memory://", "memory://?atomic=false"])
def test_any_run_of_changes(url):
    class OnBackend(Machine):
        URL = url

    run_state_machine_as_test(OnBackend, settings=settings(max_examples=25, stateful_step_count=30, deadline=None))
