"""Tables that keep timelines through random sequences of all that can be done to them, beside a naive look at them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from hbstore import (
    NULL_PARTITION,
    AlreadyExists,
    ConcurrentChange,
    InvalidInput,
    PartitionNotFound,
    connect,
)
from hbstore.errors import InvalidTime, TimelineMismatch, TimelineNotFound
from hbstore.timelines.classes import short_name
from hbstore.timelines.declaration import LATEST, TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from hbstore.timelines.factory import PRESENT, STORAGE_CLASS, property_prefix
from hbstore.times.update_period import UpdatePeriod
from tests.store import machines
from tests.store import timelines as tl
from tests.timelines import strategies as timeline_strategies

NAMES = (tl.FACT, tl.TWIN)
DECLARED = (("HOURLY,DAILY", "dt,pt"), ("daily", "pt"), ("DAILY, MONTHLY,QUARTERLY", "DT,pt"), ("MONTHLY", "dt"), None)
TIMES = (
    *(f"2015-01-0{day}" for day in (1, 2, 4)),
    *(f"2015-01-01-0{hour}" for hour in (0, 1, 5)),
    "2015-01",
    "2015-02",
    "2015-04",
    LATEST,
    NULL_PARTITION,
    "never",
)
CLASSES = tuple(map(short_name, timeline_strategies.CLASSES))
MISFITS = (InvalidTime, TimelineMismatch)

times = st.sampled_from(TIMES) | st.sampled_from(TIMES[:3])
names = st.sampled_from(NAMES)
periods = st.sampled_from((None, None, "DAILY", "MONTHLY", "quarterly"))
partitions = st.builds(tl.partition, times, times | st.none(), st.sampled_from(("eu", "us")), periods)
batches = st.lists(partitions, min_size=1, max_size=4, unique_by=lambda one: one.values)


class TimelineMachine(RuleBasedStateMachine):
    """What is refused must leave all as it was; whoever looks must see what the partitions are."""

    url = "memory://"

    def __init__(self):
        super().__init__()
        self.store = connect(self.url)
        self.store.drop_database("shop", cascade=True, if_exists=True)
        self.store.create_database("shop")

    @initialize(given=st.tuples(st.sampled_from(DECLARED), st.sampled_from(DECLARED)))
    def create(self, given):
        for name, one in zip(NAMES, given, strict=True):
            self.store.create_table(tl.table(name, {} if one is None else tl.declared(*one)))

    def teardown(self):
        tl.repair(self.store)
        for name in NAMES:
            self.look(name)
        self.store.close()

    def existing(self, data, name, most=3):
        there = self.store.get_partitions_by_filter(*name, None)
        some = st.lists(st.sampled_from(there), max_size=most, unique_by=lambda one: one.values)
        return data.draw(some) if there else []

    @rule(name=names)
    def look(self, name):
        if UPDATE_PERIODS in self.store.get_table(*name).parameters:
            tl.assert_true(self.store, name)
        else:
            with pytest.raises(TimelineNotFound):
                self.store.timelines.read(".".join(name))

    @rule(name=names, batch=batches, if_not_exists=st.booleans())
    def add(self, name, batch, if_not_exists):
        with suppress(AlreadyExists, *MISFITS):
            self.store.add_partitions(*name, batch, if_not_exists)

    @rule(name=names, data=st.data())
    def drop(self, name, data):
        gone = [one.values for one in self.existing(data, name)]
        absent = [("1999-01-01", "eu", "1999-01-01")] if data.draw(st.booleans()) else []
        assert self.store.drop_partitions(*name, gone + absent, if_exists=True) == len(gone)

    @rule(name=names, data=st.data())
    def alter(self, name, data):
        some = [tl.partition(*one.values[::2], one.values[1], data.draw(periods)) for one in self.existing(data, name)]
        with suppress(*MISFITS):
            self.store.alter_partitions(*name, some)

    @rule(name=names, data=st.data(), renamed=partitions, whole=st.booleans())
    def rename(self, name, data, renamed, whole):
        for one in self.existing(data, name, 1):
            with suppress(AlreadyExists, *MISFITS):
                self.store.rename_partition(*name, one.values, renamed if whole else renamed.values)

    @rule(names=st.permutations(NAMES), data=st.data())
    def exchange(self, names, data):
        some = [one.values for one in self.existing(data, names[0])]
        with suppress(AlreadyExists, *MISFITS):
            self.store.exchange_partitions(*names, some)

    @rule(name=names, data=st.data(), add=batches, put=batches, wrong=st.booleans())
    def change(self, name, data, add, put, wrong):
        gone = [one.values for one in self.existing(data, name)]
        looked_at = self.existing(data, name, 2)
        expected = {one.values: self.store.get_payloads(*name, [one.values])[0] for one in looked_at}
        if wrong and expected:
            expected[looked_at[0].values] = None
        with suppress(AlreadyExists, PartitionNotFound, ConcurrentChange, InvalidInput, *MISFITS):
            self.store.change_partitions(*name, add=add, put=put, drop=gone, expected=expected)
            assert not (wrong and expected)

    @rule(name=names, to=st.sampled_from(("s3_sales", "s4_sales")), given=st.sampled_from(DECLARED), back=st.booleans())
    def rename_table(self, name, to, given, back):
        """To another name, with other parameters at times; then back, or a new table takes its name."""
        known = self.store.get_table(*name)
        other = ("shop", to)
        parameters = known.parameters if given is None else tl.declared(*given)
        self.store.rename_table(*name, tl.table(other, parameters))
        if UPDATE_PERIODS in parameters:
            tl.assert_true(self.store, other)
        if back:
            self.store.rename_table(*other, known)
        else:
            self.store.drop_table(*other)
            self.store.create_table(known)

    @rule(name=names, same=st.booleans(), given=st.sampled_from(DECLARED))
    def drop_and_create_again(self, name, same, given):
        known = self.store.get_table(*name)
        self.store.drop_table(*name)
        self.store.create_table(known if same else tl.table(name, {} if given is None else tl.declared(*given)))

    @rule(name=names, given=st.sampled_from(DECLARED), cascade=st.booleans(), keep=st.booleans())
    def redeclare(self, name, given, cascade, keep):
        known = self.store.get_table(*name)
        others = {key: value for key, value in known.parameters.items() if keep and key != TIME_PARTITION_COLUMNS}
        others.pop(UPDATE_PERIODS, None)
        parameters = others | ({} if given is None else tl.declared(*given))
        self.store.alter_table(replace(known, parameters=parameters), cascade=cascade)

    @rule(name=names, flag=st.sampled_from(("false", "true", None)), mark=st.sampled_from("ab"))
    def alter_parameters(self, name, flag, mark):
        known = self.store.get_table(*name)
        parameters = {**known.parameters, "mark": mark} | ({} if flag is None else {PRESENT: flag})
        self.store.alter_table(replace(known, parameters=parameters))

    @rule(name=names, made=st.sampled_from(CLASSES), at=st.integers(0, 5), rebuild=st.booleans())
    def convert(self, name, made, at, rebuild):
        """In place, or by a parameter and a rebuild."""
        known = self.store.get_table(*name)
        if UPDATE_PERIODS not in known.parameters:
            return
        timelines = sorted((period.name, column) for period, column in self.store.timelines.read(".".join(name)))
        period, column = timelines[at % len(timelines)]
        if rebuild:
            parameter = f"{property_prefix(UpdatePeriod[period], column)}{STORAGE_CLASS}"
            parameters = {**known.parameters, parameter: made, PRESENT: "false"}
            self.store.alter_table(replace(known, parameters=parameters))
        else:
            self.store.timelines.convert(".".join(name), UpdatePeriod[period], column, made)
        (found,) = self.store.timelines.of(".".join(name), UpdatePeriod[period], column)
        assert short_name(type(found)) == made

    @precondition(lambda self: tl.keeping(self.store))
    @rule(data=st.data())
    def rebuild(self, data):
        name = data.draw(st.sampled_from(tl.keeping(self.store)))
        built = self.store.timelines.rebuild(".".join(name))
        assert built.partitions == self.store.count_partitions(*name)


def test_memory():
    machines.run(TimelineMachine, "memory://", 15, 40)


def test_memory_without_transactions():
    machines.run(TimelineMachine, "memory://?atomic=false", 25, 40)


def test_sqlite(tmp_path):
    machines.run(TimelineMachine, f"sqlite://{tmp_path}/store.db", 10, 40)


@pytest.mark.hbase
def test_hbase(hbase_server_url):
    machines.run_on_hbase(TimelineMachine, hbase_server_url, 4, 25)
