"""Timeline classes in tables' parameters: those that there are not are refused, and mended where they are there."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hbstore.errors import TableNotFound, UnknownTimelineClass
from hbstore.store.table_row import table_key
from hbstore.store.timeline_cell import cell_name
from hbstore.timelines import UpdatePeriod, classes, register
from hbstore.timelines.classes import short_name
from hbstore.timelines.factory import PRESENT, STORAGE_CLASS, property_prefix
from tests.store import timelines as tl
from tests.store.timelines import FACT, TWIN, days, declared
from tests.timelines.own_class import NAME, CountedRunsTimeline

DAY = UpdatePeriod.DAILY
CELL = cell_name("DAILY.dt")
CLASS = f"{property_prefix(DAY, 'dt')}{STORAGE_CLASS}"
OF_HOURS = f"{property_prefix(UpdatePeriod.HOURLY, 'pt')}{STORAGE_CLASS}"
RANGES = "RangesPartitionTimeline"


@pytest.fixture
def fact(store):
    """A table with a timeline of somebody else's class, on a machine where that is installed."""
    register(CountedRunsTimeline)
    tl.prepared(store, parameters={**declared(), CLASS: NAME})
    store.add_partitions(*FACT, days(1, 2, 4))
    return store


@pytest.fixture
def elsewhere(fact, monkeypatch):
    """The same, on a machine where it is not."""
    monkeypatch.setattr(classes, "_registered", {})
    return fact


def changed(store, **parameters):
    table = store.get_table(*FACT)
    return replace(table, parameters={**table.parameters, **parameters})


def class_of_days(store):
    (found,) = store.timelines.of(".".join(FACT), DAY, "dt")
    return short_name(type(found))


def test_a_class_of_somebody_elses_is_built_kept_and_stored(fact):
    assert class_of_days(fact) == NAME
    fact.drop_partitions(*FACT, [days(2)[0].values])
    tl.assert_true(fact)
    exported = fact.timelines.export(".".join(FACT))
    assert exported[CLASS] == NAME
    assert exported[f"{property_prefix(DAY, 'dt')}runs"] == "2015-01-01*1,2015-01-04*1"
    fact.timelines.convert(".".join(FACT), DAY, "dt", RANGES)
    fact.timelines.take_over(".".join(FACT), exported)
    assert class_of_days(fact) == NAME
    fact.alter_table(changed(fact, **{PRESENT: "false"}))
    assert class_of_days(fact) == NAME
    tl.assert_true(fact)


def test_an_unknown_class_is_refused_where_a_table_is_made_altered_or_renamed(fact):
    before = fact.get_table(*FACT)
    with pytest.raises(UnknownTimelineClass, match="or register your own") as caught:
        fact.create_table(tl.table(TWIN, {**declared(), CLASS: "com.example.Linked"}))
    assert caught.value.fields["timeline"] == "DAILY.dt"
    assert RANGES in caught.value.fields["classes"]
    with pytest.raises(TableNotFound):
        fact.get_table(*TWIN)
    bad = changed(fact, **{OF_HOURS: "com.example.Linked"})
    for change in (
        lambda: fact.alter_table(bad),
        lambda: fact.alter_table(bad, cascade=True),
        lambda: fact.alter_table(replace(bad, parameters={**bad.parameters, **declared("HOURLY")})),
        lambda: fact.rename_table(*FACT, replace(bad, name="s2_sales")),
    ):
        with pytest.raises(UnknownTimelineClass, match=r"timeline=HOURLY\.pt"):
            change()
    assert fact.get_table(*FACT) == before
    tl.assert_true(fact)


def test_a_class_of_a_timeline_that_the_table_does_not_keep_is_nobodys_business_until_it_does(store):
    store.create_database("shop")
    store.create_table(tl.table(parameters={**declared("DAILY"), OF_HOURS: "com.example.Linked"}))
    with pytest.raises(UnknownTimelineClass):
        store.alter_table(changed(store, **declared("HOURLY,DAILY")))
    tl.assert_true(store)


def test_only_timelines_are_out_of_reach_where_a_class_is_not_installed(elsewhere):
    assert elsewhere.count_partitions(*FACT, "dt >= '2015-01-02'") == 2
    for question in (elsewhere.timelines.read, elsewhere.timelines.of, elsewhere.timelines.export):
        with pytest.raises(
            UnknownTimelineClass, match=r"hbstore timeline convert shop\.s1_sales --update-period DAILY"
        ):
            question(".".join(FACT))
    assert len(elsewhere.timelines.check(".".join(FACT))) == 1
    elsewhere.alter_table(changed(elsewhere, comment="anything else may change"))
    elsewhere.rename_table(*FACT, replace(changed(elsewhere), name="s2_sales"))
    assert elsewhere.count_partitions(*TWIN) == 3


def test_what_changed_where_a_class_is_not_installed_is_built_where_it_is(elsewhere, monkeypatch):
    elsewhere.add_partitions(*FACT, days(7))
    elsewhere.drop_partitions(*FACT, [days(1)[0].values])
    assert not elsewhere.rows.get_all(table_key(*FACT)).get(CELL), "it would lack what came"
    monkeypatch.setitem(classes._registered, NAME, CountedRunsTimeline)
    tl.assert_true(elsewhere)
    assert class_of_days(elsewhere) == NAME


@pytest.mark.parametrize("built", [True, False])
def test_convert_mends(elsewhere, built):
    if not built:
        elsewhere.alter_table(changed(elsewhere, **{PRESENT: "false"}))
    assert elsewhere.timelines.convert(".".join(FACT), DAY, "DT", RANGES) == "DAILY.dt"
    assert class_of_days(elsewhere) == RANGES
    tl.assert_true(elsewhere)


def test_convert_mends_one_timeline_after_the_other(elsewhere, monkeypatch):
    monkeypatch.setitem(classes._registered, NAME, CountedRunsTimeline)
    elsewhere.timelines.convert(".".join(FACT), UpdatePeriod.HOURLY, "pt", NAME)
    classes._registered.clear()
    elsewhere.timelines.convert(".".join(FACT), DAY, "dt", RANGES)
    with pytest.raises(UnknownTimelineClass, match=r"timeline=HOURLY\.pt"):
        elsewhere.timelines.read(".".join(FACT))
    elsewhere.timelines.convert(".".join(FACT), UpdatePeriod.HOURLY, "pt", RANGES)
    assert class_of_days(elsewhere) == RANGES
    tl.assert_true(elsewhere)


def test_rebuild_mends_and_says_so(elsewhere):
    assert elsewhere.timelines.rebuild(".".join(FACT)).unknown_classes == (NAME,)
    assert class_of_days(elsewhere) == "EndsAndHolesPartitionTimeline"
    assert elsewhere.timelines.rebuild(".".join(FACT)).unknown_classes == ()
    tl.assert_true(elsewhere)


def test_a_question_never_takes_a_class_away(elsewhere):
    elsewhere.alter_table(changed(elsewhere, **{PRESENT: "false"}))
    with pytest.raises(UnknownTimelineClass):
        elsewhere.timelines.read(".".join(FACT))
    assert elsewhere.get_table(*FACT).parameters[CLASS] == NAME


@pytest.mark.parametrize("value", [RANGES, None])
def test_another_class_in_the_parameters_mends(elsewhere, value):
    table = elsewhere.get_table(*FACT)
    others = {key: text for key, text in table.parameters.items() if key != CLASS}
    elsewhere.alter_table(replace(table, parameters=others if value is None else {**others, CLASS: value}))
    assert class_of_days(elsewhere) == (value or "EndsAndHolesPartitionTimeline")
    tl.assert_true(elsewhere)
