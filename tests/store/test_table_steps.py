"""Steps of `store.change`: they write about what they have read, in the table that they have read it from, or again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore import ConcurrentChange, InvalidInput, Partition, PartitionNotFound, StoreBusy, TableNotFound
from hbstore.store.partition_store import PartitionStore
from tests.store.conftest import hours, sales_table

READS = {
    "asked": lambda step: step.partitions([{"hour": "5", "ds": "2013-01-01"}]),
    "selected": lambda step: step.select("hour = 5"),
}
NEW = Partition(("2013-01-01", "7"))
READING = pytest.mark.parametrize("read", READS.values(), ids=READS)


@pytest.fixture(autouse=True)
def _with_hours(sales):
    sales.add_partitions("shop", "sales", hours(1, 5, 6))


def marked(partitions, mark):
    return [
        replace(one, parameters={**one.parameters, "marks": one.parameters.get("marks", "") + mark})
        for one in partitions
    ]


def marks(store, hour="5"):
    return store.get_partition("shop", "sales", ("2013-01-01", hour)).parameters.get("marks")


def other_writer(store, times):
    """Marks the partition as another writer, some times."""
    left = iter(range(times))

    def write():
        if next(left, None) is not None:
            store.alter_partitions(
                "shop", "sales", marked(store.get_partitions_by_filter("shop", "sales", "hour = 5"), "o")
            )

    return write


@READING
def test_a_step_runs_again_where_another_was_faster(sales, read):
    meanwhile = other_writer(sales, 2)

    def step(table):
        partitions = read(table)
        meanwhile()
        table.change(put=marked(partitions, "s"))

    sales.change("shop.sales", step)
    assert marks(sales) == "oos"


@READING
def test_what_is_dropped_is_what_was_read(sales, read):
    meanwhile, seen = other_writer(sales, 1), []

    def step(table):
        partitions = read(table)
        seen.append(partitions[0].parameters.get("marks"))
        meanwhile()
        table.change(drop=partitions)
        return len(partitions)

    assert sales.change("Shop.Sales", step) == 1
    assert seen == [None, "o"]
    assert sales.partition_names("shop", "sales") == ["ds=2013-01-01/hour=6"]


def test_what_must_be_unchanged_is_compared_as_well(sales):
    meanwhile, runs = other_writer(sales, 1), []

    def step(table):
        five, six = table.select()
        runs.append(five)
        meanwhile()
        table.change(put=marked([six], "s"), unchanged=[five])

    sales.change("shop.sales", step)
    assert (len(runs), marks(sales, "5"), marks(sales, "6")) == (2, "o", "s")


def test_what_was_not_there_must_not_be_there(sales):
    new = hours(2, 7)
    runs = []

    def step(table):
        runs.append(table.partitions(new))
        if len(runs) == 1:
            sales.add_partitions("shop", "sales", new)
        table.change(put=marked(runs[-1] or new, "s"))

    sales.change("shop.sales", step)
    assert [len(found) for found in runs] == [0, 1]


def test_others_of_the_table_may_change_meanwhile(sales):
    def step(table):
        (six,) = table.partitions([("2013-01-01", "6")])
        sales.add_partitions("shop", "sales", hours(3, 1))
        table.change(put=marked([six], "s"))

    sales.change("shop.sales", step)
    assert marks(sales, "6") == "s"


def test_a_table_is_altered_if_it_is_what_it_was(sales):
    owners = iter(["ann", "bob"])

    def step(table):
        owner = next(owners, None)
        if owner is not None:
            sales.alter_table(replace(sales.get_table("shop", "sales"), owner=owner))
        table.alter(replace(table.table, parameters={"owned by": str(table.table.owner)}))

    sales.change("shop.sales", step)
    assert sales.get_table("shop", "sales").parameters == {"owned by": "bob"}


@pytest.mark.parametrize("write", ["change", "alter"])
def test_a_table_of_the_same_name_is_another_one(sales, write):
    """It looks the same, and its partition is what was read, byte for byte."""
    payloads = sales.get_payloads("shop", "sales", hours(1, 5))
    definition = sales.get_table("shop", "sales")

    def step(table):
        (five,) = table.select("hour = 5")
        sales.drop_table("shop", "sales")
        sales.create_table(sales_table(create_time=definition.create_time))
        sales.add_partitions("shop", "sales", [replace(five)])
        assert sales.get_payloads("shop", "sales", hours(1, 5)) == payloads
        assert sales.get_table("shop", "sales") == table.table
        table.change(put=marked([five], "s")) if write == "change" else table.alter(replace(definition, owner="ann"))

    with pytest.raises(TableNotFound, match="another one has its name now"):
        sales.change("shop.sales", step)
    assert marks(sales) is None
    assert sales.get_table("shop", "sales") == definition


def test_a_table_that_was_dropped(sales):
    def step(table):
        sales.drop_table("shop", "sales")
        table.change(drop=table.partitions(hours(1, 5)))

    with pytest.raises(TableNotFound):
        sales.change("shop.sales", step)


def test_who_is_never_faster_is_told_so(sales):
    with PartitionStore(sales.rows, patience=0.0) as hasty:
        meanwhile = other_writer(sales, 100)

        def step(table):
            partitions = table.select("hour = 5")
            meanwhile()
            table.change(put=marked(partitions, "s"))

        with pytest.raises(StoreBusy, match=r"other writers kept changing the table: table=shop\.sales") as caught:
            hasty.change("shop.sales", step, hint="Do it later")
        assert caught.value.hint == "Do it later"
        assert "s" not in marks(sales)


def test_errors_of_a_step_are_its_own(sales):
    def step(table):
        table.change(drop=[("2013-01-09", "5")])

    with pytest.raises(PartitionNotFound):
        sales.change("shop.sales", step)
    outcomes = iter([ConcurrentChange("faster"), PartitionNotFound("gone"), None])

    def troubled(_):
        error = next(outcomes)
        if error is not None:
            raise error
        return "done"

    assert sales.change("shop.sales", troubled, outrun=(PartitionNotFound,)) == "done"


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (lambda step: step.change(add=NEW), "argument=add, type=Partition"),
        (lambda step: step.change(put=3), "argument=put, type=int"),
        (lambda step: step.change(put=[("2013-01-01", "5")]), r"argument=put\[0\], type=tuple"),
        (lambda step: step.change(drop=None), "argument=drop, type=NoneType"),
        (lambda step: step.change(add=[NEW], unchanged=5), "argument=unchanged, type=int"),
        (lambda step: step.partitions(5), "argument=values, type=int"),
        (lambda step: step.alter("sales"), "argument=table, type=str"),
    ],
)
def test_arguments_of_other_types_are_named(sales, wrong, named):
    with pytest.raises(InvalidInput, match=named):
        sales.change("shop.sales", wrong)
    assert len(sales.get_partitions_by_filter("shop", "sales", "ds = '2013-01-01'")) == 2


def test_partitions_may_come_one_by_one(sales):
    def step(table):
        (five,) = table.partitions(iter([("2013-01-01", "5")]))
        table.change(put=iter(marked([five], "a")), drop=iter([iter(("2013-01-01", "6"))]))

    sales.change("shop.sales", step)
    assert marks(sales) == "a"
    assert [one.values[1] for one in sales.get_partitions_by_filter("shop", "sales", "ds = '2013-01-01'")] == ["5"]
