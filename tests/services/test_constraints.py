"""Constraints: both ends of a foreign key agree, whatever happens to the tables, at once or with a crash between."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbstore import Column, HbstoreError, InvalidInput, PartitionStore, Table, connect
from hbstore.errors import ConstraintNotFound, CorruptRow, DdlRefused
from hbstore.model.constraints import Constraint, ConstraintKind, ForeignKey, References
from hbstore.rows.interface import CatalogCell
from hbstore.store import constraints_cell
from hbstore.store.constraints_cell import CONSTRAINTS, TableConstraints
from hbstore.transactions import attempt
from tests.amounts import amount
from tests.pauses import without_patience, without_pauses
from tests.store.copies import copies_of
from tests.store.faults import Fault
from tests.store.stepping import play, schedules
from tests.store.strikes import struck
from tests.strategies import unicode_text

KEY = Constraint(ConstraintKind.PRIMARY_KEY, ["id", "ds"], "key", relied=True)
UNIQUE = Constraint(ConstraintKind.UNIQUE, ["note"], "one_note")
COLUMNS = (Column("id", "int"), Column("note", "string"), Column("of", "int"))


def table(database, name, columns=COLUMNS):
    return Table(database, name, columns=columns, partition_columns=[Column("ds", "date")])


def refers(database, name, key=KEY, called="", columns=("of", "ds")):
    return Constraint(ConstraintKind.FOREIGN_KEY, columns, called, references=References(database, name, key.columns))


def ends(store):
    """What both ends of all foreign keys say, as sets; each must be sound."""
    children, parents = set(), set()
    for database in store.database_names():
        for name in store.table_names(database):
            own = store.hive.constraints.of(database, name)
            there = {column.name for column in (*store.get_table(database, name).columns, Column("ds", "date"))}
            assert all(there.issuperset(one.columns) for one in own)
            children.update(ForeignKey(database, name, one) for one in own if one.references)
            for foreign in store.hive.constraints.referring(database, name):
                to = foreign.constraint.references
                assert (to.database, to.table) == (database, name)
                assert any(one.name == to.key and one.columns == to.columns for one in own)
                parents.add(foreign)
    assert children == set(store.hive.constraints.foreign_keys())
    return children, parents


constraints = st.one_of(
    st.builds(
        Constraint,
        st.sampled_from([ConstraintKind.PRIMARY_KEY, ConstraintKind.UNIQUE]),
        st.lists(unicode_text.filter(bool), min_size=1, max_size=3),
        unicode_text,
        enabled=st.booleans(),
        validated=st.booleans(),
        relied=st.booleans(),
    ),
    st.builds(lambda text, columns: Constraint(ConstraintKind.CHECK, columns, "c", text), unicode_text, st.just(["a"])),
    st.just(replace(refers("shop", "sales"), references=References("a", "b", ["x", "y"], "k", 1, 2))),
)


@given(st.lists(constraints, max_size=3), st.lists(constraints, max_size=2))
def test_every_field_of_any_constraint_is_kept(own, referring):
    given = TableConstraints(tuple(own), tuple(ForeignKey("shop", "sales", one) for one in referring))
    assert TableConstraints.decode(given.encode()) == given


@pytest.mark.parametrize("cell", [b"{", b"[]", b"[[[1]],[]]", b'[[["check",[],"","",null,1,0,0]],[]]', b"\xff"])
def test_a_damaged_cell_is_told(cell):
    with pytest.raises(CorruptRow, match="constraints"):
        TableConstraints.decode(cell)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"kind": "check"}, "kind"),
        ({"kind": ConstraintKind.UNIQUE}, "names no column"),
        ({"kind": ConstraintKind.UNIQUE, "columns": ["a"], "text": "b"}, "nothing else has a text"),
        ({"kind": ConstraintKind.CHECK}, "nothing else has a text"),
        ({"kind": ConstraintKind.NOT_NULL, "columns": ["a", "b"]}, "about one column"),
        ({"kind": ConstraintKind.FOREIGN_KEY, "columns": ["a"]}, "references"),
        ({"kind": ConstraintKind.UNIQUE, "columns": ["a"], "references": References("a", "b", ["c"])}, "only foreign"),
        (
            {"kind": ConstraintKind.FOREIGN_KEY, "columns": ["a", "b"], "references": References("a", "b", ["c"])},
            "other columns",
        ),
        ({"kind": ConstraintKind.UNIQUE, "columns": ["a"], "name": "n" * 401}, "too long"),
    ],
)
def test_constraints_that_cannot_be(wrong, words):
    with pytest.raises(InvalidInput, match=words):
        Constraint(**wrong)


def test_they_are_kept_on_every_backend(services, monkeypatch):
    store = services.store
    store.create_database("attic")
    store.create_table(table("shop", "sales"), constraints=[KEY, UNIQUE])
    itself = refers("shop", "items", called="itself")
    store.create_table(table("shop", "items"), constraints=[itself, KEY, refers("shop", "sales", called="to_sales")])
    assert [one.name for one in store.hive.constraints.of("shop", "items")] == ["key", "itself", "to_sales"]
    store.rename_table("shop", "items", table("attic", "parts"))
    (foreign,) = store.hive.constraints.referring("shop", "sales")
    assert (foreign.database, foreign.table, foreign.constraint.name) == ("attic", "parts", "to_sales")
    store.rename_table("shop", "sales", table("attic", "sold"))
    children, parents = ends(store)
    assert children == parents
    assert len(children) == 2
    store.alter_table(table("attic", "sold", [Column("id", "bigint"), *COLUMNS[1:]]))
    assert store.hive.constraints.of("attic", "sold") == (UNIQUE,)
    with pytest.raises(ConstraintNotFound, match="constraint=to_sales"):
        store.hive.constraints.drop("attic", "parts", "to_sales")
    with pytest.raises(DdlRefused, match="no primary key or unique"):
        store.hive.constraints.add("attic", "parts", [UNIQUE, refers("attic", "sold")])
    assert UNIQUE not in store.hive.constraints.of("attic", "parts")
    monkeypatch.setattr(constraints_cell, "MAX_CONSTRAINTS", 300)
    with pytest.raises(InvalidInput, match="too many"):
        store.hive.constraints.add("attic", "parts", [UNIQUE])
    store.drop_database("attic", cascade=True)
    assert ends(store) == (set(), set())


def test_a_damaged_cell_is_a_problem_of_its_table():
    store = connect("memory://")
    store.create_database("shop")
    store.create_table(table("shop", "sales"), constraints=[KEY])
    assert [one for one in store.check("shop", "sales") if one] == []
    store.rows.put_cells([CatalogCell(b"Tshop\0sales", CONSTRAINTS, b"{")], 99)
    (problem,) = [one for one in store.check("shop", "sales") if one]
    assert "the constraints of a table cannot be decoded" in str(problem)


steps = st.sampled_from(
    [
        *(("create", name, with_key) for name in "abc" for with_key in (True, False)),
        *(("refer", *pair) for pair in itertools.product("abc", "abc")),
        *(("rename", *pair) for pair in itertools.product("abc", "abc")),
        *(("move", name) for name in "abc"),
        *(("drop", name) for name in "abc"),
        *(("retype", name, column) for name in "abc" for column in ("id", "of", "note")),
        *(("drop_key", name) for name in "abc"),
        ("drop_database",),
    ]
)


def do(store, step):
    """One change, which may be refused."""
    what, *given = step
    home = next((one for one in ("shop", "attic") if given and given[0] in store.table_names(one)), "shop")
    try:
        if what == "create":
            store.create_table(table("shop", given[0]), constraints=[KEY, UNIQUE] if given[1] else [])
        elif what == "refer":
            to = next((one for one in ("shop", "attic") if given[1] in store.table_names(one)), "shop")
            store.hive.constraints.add(
                home, given[0], [refers(to, given[1]), refers(to, given[1], UNIQUE, "", ["note"])]
            )
        elif what == "rename":
            store.rename_table(home, given[0], replace(store.get_table(home, given[0]), name=given[1]))
        elif what == "move":
            other = {"shop": "attic", "attic": "shop"}[home]
            store.rename_table(home, given[0], replace(store.get_table(home, given[0]), database=other))
        elif what == "drop":
            store.drop_table(home, given[0])
        elif what == "retype":
            now = store.get_table(home, given[0])
            kinds = {"int": "bigint", "bigint": "int", "string": "int"}
            kept = [replace(one, type=kinds[one.type]) if one.name == given[1] else one for one in now.columns]
            store.alter_table(replace(now, columns=kept))
        elif what == "drop_key":
            store.hive.constraints.drop(home, given[0], "key")
        else:
            store.drop_database("attic", cascade=True)
            store.create_database("attic")
    except HbstoreError:
        return False
    return True


@given(st.lists(steps, max_size=25))
def test_both_ends_agree_whatever_happens(some):
    store = connect("memory://")
    for database in ("shop", "attic"):
        store.create_database(database)
    for step in some:
        do(store, step)
        children, parents = ends(store)
        assert children == parents, step


@pytest.fixture
def _fine_grained(monkeypatch):
    without_patience(monkeypatch)
    without_pauses(monkeypatch)
    monkeypatch.setattr(attempt, "MAX_LISTED", 0)


@copies_of
def prepared():
    store = connect("memory://?atomic=false")
    for database in ("shop", "attic"):
        store.create_database(database)
    store.create_table(table("shop", "a"), constraints=[KEY, UNIQUE])
    store.create_table(table("shop", "b"))
    do(store, ("refer", "b", "a"))
    return store


CHANGES = (("refer", "b", "a"), ("rename", "a", "c"), ("move", "b"), ("drop", "a"), ("retype", "a", "id"))


@pytest.mark.usefixtures("_fine_grained")
@pytest.mark.parametrize("step", CHANGES)
@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.LOST_ANSWER, Fault.LATE])
def test_both_ends_agree_after_a_crash_at_each_write(step, fault):
    for store, _, _ in struck(prepared, lambda one: do(one, step), fault):
        children, parents = ends(PartitionStore(store.rows))
        assert children == parents


@pytest.mark.usefixtures("_fine_grained")
@pytest.mark.parametrize("pair", list(itertools.combinations(CHANGES, 2)))
def test_both_ends_agree_after_two_changes_at_once(pair):
    acts = [lambda store, step=step: do(store, step) for step in pair]
    alone = [play(prepared().rows, [act], [])[1][0] for act in acts]
    for schedule in schedules(alone, amount(5, 1)):
        store = prepared()
        play(store.rows, acts, schedule)
        children, parents = ends(PartitionStore(store.rows))
        assert children == parents, schedule
