"""Any sequence of calls against a model: the catalog says what the model says, and files are where the catalog says."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.metastore.writing import STORED, TYPES, opened, partition_of, storage, table_of

TABLES = st.sampled_from([("shop", "a"), ("shop", "b"), ("attic", "a")])
DAYS = st.sampled_from(["x", "y/z"])
VALUES = st.tuples(DAYS, st.integers(0, 1))
SOME = st.integers(0, 99)
"""Which of those that are there."""


class Calls(RuleBasedStateMachine):
    """Tables in two databases; partitions whose files hold a number that nothing else holds.

    The model has for each table whether it is external, and for each partition what is written in its file. External
    tables have folders of their own that are never used again, and nothing in them is ever deleted.
    """

    backend = "memory"

    def __init__(self):
        super().__init__()
        self.stack = ExitStack()
        self.folder = Path(tempfile.mkdtemp(prefix="hbstore-states-"))
        self.stack.callback(shutil.rmtree, self.folder)
        self.shop = self.stack.enter_context(opened(SimpleNamespace(param=self.backend), self.folder))
        self.tables = {}
        self.precious = set()
        self.number = 0

    def teardown(self):
        self.stack.close()

    @contextmanager
    def refused(self, when):
        """The call is refused exactly if the model says so."""
        errors = (TYPES.InvalidOperationException, TYPES.NoSuchObjectException, TYPES.InvalidObjectException)
        errors += (TYPES.AlreadyExistsException, TYPES.MetaException)
        if when:
            with pytest.raises(errors):
                yield
        else:
            yield

    def following(self):
        self.number += 1
        return str(self.number)

    @initialize()
    def begin(self):
        self.shop.create_database(STORED.Database(name="attic"))
        for table in (("shop", "a"), ("attic", "a")):
            self.create_one(table, external=False)

    @rule(table=TABLES, external=st.booleans())
    def create(self, table, external):
        self.create_one(table, external)

    def create_one(self, table, external):
        columns = [STORED.FieldSchema("ds", "string"), STORED.FieldSchema("h", "int")]
        fields = {"dbName": table[0], "partitionKeys": columns}
        if external:
            own = f"file:{self.folder}/external/{self.following()}"
            fields |= {"tableType": "EXTERNAL_TABLE", "parameters": {"EXTERNAL": "TRUE"}, "sd": storage(location=own)}
        with self.refused(table in self.tables):
            self.shop.create_table(table_of(table[1], **fields))
        self.tables.setdefault(table, (external, {}))

    @rule(table=TABLES)
    def drop(self, table):
        with self.refused(table not in self.tables):
            self.shop.drop_table(*table, True)
        self.tables.pop(table, None)

    @precondition(lambda self: self.tables)
    @rule(some=SOME, new=TABLES)
    def rename(self, some, new):
        old = self.table(some)
        if old == new:
            return
        table = self.shop.get_table(*old)
        table.dbName, table.tableName = new
        with self.refused(new in self.tables):
            self.shop.alter_table(*old, table)
        if new not in self.tables:
            self.tables[new] = self.tables.pop(old)

    @precondition(lambda self: self.tables)
    @rule(some=SOME, batch=st.lists(VALUES, min_size=1, max_size=3), exists=st.booleans())
    def add(self, some, batch, exists):
        table = self.table(some)
        external, known = self.tables[table]
        wrong = len(set(batch)) < len(batch) or (not exists and bool(known.keys() & set(batch)))
        parts = [partition_of(ds, str(h), dbName=table[0], table=table[1]) for ds, h in batch]
        with self.refused(wrong):
            added = self.shop.add_partitions_req(TYPES.AddPartitionsRequest(*table, parts, exists)).partitions
            assert {(one.values[0], int(one.values[1])) for one in added} == set(batch) - known.keys()
            for one in added:
                text = self.following()
                file = Path(one.sd.location.removeprefix("file:")) / (f"file-{text}" if external else "file")
                file.write_text(text)
                known[one.values[0], int(one.values[1])] = text
                self.precious |= {file} if external else set()

    @precondition(lambda self: self.partitions())
    @rule(some=SOME)
    def drop_partition(self, some):
        table, values = self.partition(some)
        for wrong in (False, True):  # the second time it is no longer there
            with self.refused(wrong):
                self.shop.drop_partition(*table, [values[0], str(values[1])], True)
        del self.tables[table][1][values]

    @precondition(lambda self: self.partitions())
    @rule(some=SOME, new=VALUES)
    def rename_partition(self, some, new):
        table, old = self.partition(some)
        known = self.tables[table][1]
        renamed = partition_of(new[0], str(new[1]), dbName=table[0], table=table[1])
        with self.refused(new in known):
            self.shop.rename_partition(*table, [old[0], str(old[1])], renamed)
        if new not in known:
            known[new] = known.pop(old)

    @precondition(lambda self: self.partitions())
    @rule(some=SOME, to=TABLES)
    def exchange(self, some, to):
        source, (ds, _) = self.partition(some)
        if to not in self.tables or source == to or self.tables[source][0] or self.tables[to][0]:
            return  # in an external table's folder may be files of others, so that the folder is taken
        here, there = self.tables[source][1], self.tables[to][1]
        moved = {values for values in here if values[0] == ds}
        wrong = bool(moved & there.keys())
        with self.refused(wrong):
            self.shop.exchange_partitions({"ds": ds}, *source, *to)
        if not wrong:
            there.update({values: here.pop(values) for values in moved})

    @precondition(lambda self: self.tables)
    @rule(some=SOME)
    def truncate(self, some):
        table = self.table(some)
        external, known = self.tables[table]
        with self.refused(external):
            self.shop.truncate_table(*table, None)
        if not external:
            known.update(dict.fromkeys(known))

    @invariant()
    def the_catalog_says_what_the_model_says(self):
        for database in ("shop", "attic"):
            names = self.shop.get_all_tables(database)
            assert names == [name for of, name in sorted(self.tables) if of == database]
        for table, (_, known) in self.tables.items():
            found = self.shop.get_partitions(*table, -1)
            assert {(one.values[0], int(one.values[1])) for one in found} == known.keys()
            assert {(one.dbName, one.tableName) for one in found} <= {table}

    @invariant()
    def files_are_where_the_catalog_says(self):
        for table, (external, known) in self.tables.items():
            assert Path(self.shop.get_table(*table).sd.location.removeprefix("file:")).is_dir()
            for (ds, h), text in known.items():
                partition = self.shop.get_partition(*table, [ds, str(h)])
                folder = Path(partition.sd.location.removeprefix("file:"))
                if external:
                    assert (folder / f"file-{text}").read_text() == text
                else:
                    assert [one.read_text() for one in folder.iterdir()] == ([] if text is None else [text])
        assert all(file.exists() for file in self.precious)

    @invariant()
    def nothing_lies_about_that_belongs_to_nothing(self):
        managed = {text for external, known in self.tables.values() if not external for text in known.values()}
        assert {one.read_text() for one in self.shop.root.rglob("file")} == managed - {None}

    def table(self, some):
        return sorted(self.tables)[some % len(self.tables)]

    def partitions(self):
        return [(table, values) for table, (_, known) in sorted(self.tables.items()) for values in sorted(known)]

    def partition(self, some):
        there = self.partitions()
        return there[some % len(there)]


class CallsOfTheJournal(Calls):
    """The same without transactions."""

    backend = "nonatomic"


TestCalls = Calls.TestCase
TestCalls.settings = settings(max_examples=25, stateful_step_count=30)
TestCallsOfTheJournal = CallsOfTheJournal.TestCase
TestCallsOfTheJournal.settings = settings(max_examples=15, stateful_step_count=30)
