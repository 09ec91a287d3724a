"""One table of steps: all that a transaction can do with rows, on two tables of a database whose states count them.

A step that is added to `STEPS` is struck by every fault at each of its writes, and played against every other step.
"""

from __future__ import annotations

from hbstore.errors import AlreadyExists, DatabaseNotFound, PartitionNotFound
from hbstore.keys.row_key import successor
from hbstore.rows.interface import PartitionRow
from hbstore.transactions.transactions import Transactions
from hbstore.transactions.waiting import Patience

DATABASE, LEFT, RIGHT = b"Dshop", b"Tshop\0left", b"Tshop\0right"
PREFIX = {LEFT: b"shop\0left\0", RIGHT: b"shop\0right\0"}
COMPANION = b"\x01left 0"
DEFINITION, TIMELINE = "d:def", "t:DAILY.dt"

AT_ONCE = Patience(decided=0.0, undecided=0.0)
"""Nobody waits for anybody."""


def key(table, name):
    return PREFIX[table] + name.encode()


def put(table, name, payload="new"):
    return PartitionRow(key(table, name), (name.encode(),), payload.encode())


def number(view):
    return int(view.state or b"0")


def gain(view, more):
    view.set_state(b"%d" % (number(view) + more))


def prepare(transactions):
    """A database with two tables; the left one has three partitions, one with a companion row, the right one one."""

    def step(transaction):
        transaction.row(DATABASE).set_state(b"a database")
        for table, names in ((LEFT, "012"), (RIGHT, "5")):
            view = transaction.row(table)
            view.put_cell(DEFINITION, b"a table")
            view.put_cell(TIMELINE, names.encode())
            view.write([put(table, name, "old") for name in names], [])
            gain(view, len(names))
        transaction.row(LEFT).write([PartitionRow(COMPANION, (), b"statistics")], [])

    transactions.run(step)


def count(transaction):
    """One row's state alone."""
    view = transaction.row(DATABASE)
    view.set_state(view.state + b"!")
    return view.state


def define(transaction):
    """One row's cell alone."""
    view = transaction.row(LEFT)
    view.put_cell(DEFINITION, view.cells[DEFINITION] + b"!" if DEFINITION in view.cells else b"")
    return view.cells.get(DEFINITION)


def adding(*names):
    def add(transaction):
        """Partition rows that must not be there, the state, and a cell that is made of what it was."""
        view = transaction.row(LEFT)
        if view.existing(key(LEFT, name) for name in names):
            raise AlreadyExists("the partition already exists")
        view.write([put(LEFT, name) for name in names], [])
        gain(view, len(names))
        view.put_cell(TIMELINE, view.all_cells().get(TIMELINE, b"") + "".join(names).encode())
        return len(names)

    return add


def drop(transaction):
    """Partition rows that must be there, with what belongs to them."""
    view = transaction.row(LEFT)
    if len(view.existing([key(LEFT, "0"), key(LEFT, "1")])) < 2:
        raise PartitionNotFound("the partition does not exist")
    view.write([], [key(LEFT, "0"), key(LEFT, "1"), COMPANION])
    gain(view, -2)


def rename(transaction):
    """A partition row goes and another one comes."""
    view = transaction.row(LEFT)
    there = view.existing([key(LEFT, "0"), key(LEFT, "8")])
    if key(LEFT, "8") in there:
        raise AlreadyExists("the partition already exists")
    if not there:
        raise PartitionNotFound("the partition does not exist")
    view.write([put(LEFT, "8", "renamed")], [key(LEFT, "0"), COMPANION])


def moving(names, *, back=False):
    def move(transaction):
        """Partition rows go from one table to another."""
        source, target = (RIGHT, LEFT) if back else (LEFT, RIGHT)
        here, there = transaction.row(source), transaction.row(target)
        if len(here.existing(key(source, name) for name in names)) < len(names):
            raise PartitionNotFound("the partition does not exist")
        if there.existing(key(target, name) for name in names):
            raise AlreadyExists("the partition already exists")
        here.write([], [key(source, name) for name in names])
        there.write([put(target, name, "moved") for name in names], [])
        gain(here, -len(names))
        gain(there, len(names))

    return move


def annotate(transaction):
    """A companion row of a partition that must be there."""
    view = transaction.row(LEFT)
    if not view.existing([key(LEFT, "0")]):
        raise PartitionNotFound("the partition does not exist")
    view.write([PartitionRow(COMPANION, (), view.existing([COMPANION]).get(COMPANION, b"") + b"!")], [])


def emptied(view, table):
    view.write([], view.partition_keys(PREFIX[table], successor(PREFIX[table]), 100))


def drop_table(transaction):
    """All of a table."""
    view = transaction.row(LEFT)
    if DEFINITION not in view.cells:
        return False
    for name in (DEFINITION, TIMELINE):
        view.put_cell(name, b"")
    emptied(view, LEFT)
    view.write([], [COMPANION])
    view.set_state(b"")
    return True


def drop_other_table(transaction):
    """The right one's cells and rows, so that no table is left."""
    view = transaction.row(RIGHT)
    for name in (DEFINITION, TIMELINE):
        view.put_cell(name, b"")
    emptied(view, RIGHT)
    view.set_state(b"")


def create_table(transaction):
    """A table of a database that must be there, and stay there."""
    view = transaction.row(LEFT)
    if not transaction.row(DATABASE).state:
        raise DatabaseNotFound("the database does not exist")
    if DEFINITION in view.cells:
        raise AlreadyExists("the table already exists")
    view.put_cell(DEFINITION, b"a new table")
    assert not view.has_partition_rows(PREFIX[LEFT], successor(PREFIX[LEFT]))


def drop_database(transaction):
    """A database with all of its tables."""
    database = transaction.row(DATABASE)
    if not database.state:
        return False
    database.set_state(b"")
    for table in (LEFT, RIGHT):
        view = transaction.row(table)
        for name in (DEFINITION, TIMELINE):
            view.put_cell(name, b"")
        emptied(view, table)
        view.set_state(b"")
    transaction.row(LEFT).write([], [COMPANION])
    return True


def drop_empty_database(transaction):
    """A database that has no table with a definition."""
    database = transaction.row(DATABASE)
    tables = [table for one in (LEFT, RIGHT) for table in transaction.scan(one, one + b"\0")]
    if any(DEFINITION in cells for _, _, cells in tables):
        return False
    database.set_state(b"")
    return True


def look(transaction):
    """All that can be seen."""
    tables = []
    for table in (LEFT, RIGHT):
        view = transaction.row(table)
        rows = tuple(view.partition_rows(PREFIX[table], successor(PREFIX[table])))
        assert number(view) == len(rows), (view.log, rows)
        tables.append((dict(view.all_cells()), rows))
    database = transaction.row(DATABASE)
    companion = transaction.row(LEFT).existing([COMPANION])
    return database.state, tables, companion


STEPS = {
    "count": count,
    "define": define,
    "add": adding("3", "4"),
    "add others": adding("6"),
    "add the same": adding("4", "7"),
    "drop": drop,
    "rename": rename,
    "move": moving("01"),
    "move back": moving("5", back=True),
    "annotate": annotate,
    "drop the table": drop_table,
    "create the table": create_table,
    "drop the database": drop_database,
    "drop the empty database": drop_empty_database,
    "look": look,
}


def run(step, rows):
    return Transactions(rows, AT_ONCE).run(step)
