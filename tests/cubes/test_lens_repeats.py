"""Lens's own shapes of models that say something twice: they are taken as Lens takes them, or refused."""

from __future__ import annotations

import datetime as dt

import pytest

from hbstore.cubes import parse_documents, write_documents
from hbstore.cubes.registration import validity
from hbstore.errors import InvalidModel

CUBE = """<x_base_cube name="rides" xmlns="uri:lens:cube:0.1">
  <measures>
    <measure name="a" _type="DOUBLE" default_aggr="SUM"/><measure name="b" _type="DOUBLE" default_aggr="SUM"/>{measures}
  </measures>
  <dim_attributes>
    <dim_attribute name="city" _type="INT" display_string="City" description="where it began"/>
    <dim_attribute name="place">
      <hierarchy>
        <dim_attribute name="city" _type="{type}" description="the city"/><dim_attribute name="country" _type="INT"/>
      </hierarchy>
    </dim_attribute>
  </dim_attributes>
  <expressions>
    <expression name="both" _type="DOUBLE"><expr_spec expr="a + b"/></expression>
    <expression name="BOTH" _type="double"><tags><property name="seen" value="true"/></tags>
      <expr_spec expr="{expression}"/></expression>
  </expressions>
</x_base_cube>"""
SAME = {"type": "INT", "expression": "a + b", "measures": ""}
FACT = """<x_fact_table name="f" cube_name="rides" weight="1.0" xmlns="uri:lens:cube:0.1">
  <columns><column name="a" _type="double"/></columns>
  <properties>
    <property name="cube.fact.relative.start.time" value="{start}"/>
    <property name="cube.fact.absolute.start.time" value="2015-01-01"/>
    <property name="cube.fact.relative.end.time" value="now.day"/>
    <property name="cube.fact.absolute.end.time" value="2016-01-01"/>
  </properties>
  <storage_tables/>
</x_fact_table>"""


def xml(text):
    (document,) = parse_documents(text, "xml", file="rides.xml")
    return document


def test_what_is_declared_twice_and_differs_for_people_alone_is_taken_with_a_warning(caplog):
    cube = xml(CUBE.format(**SAME))
    assert [(one.name, one.description) for one in cube.dim_attributes] == [
        ("city", "where it began"),
        ("country", None),
    ]
    assert cube.hierarchies[0].attributes == ("city", "country")
    assert [(one.name, one.specs[0].expression) for one in cube.expressions] == [("both", "a + b")]
    assert [record.getMessage() for record in caplog.records] == [
        f"rides.xml, line 1: {name} is declared more than once, and described differently; the first declaration counts"
        for name in ("city", "BOTH")
    ]
    assert xml(write_documents([cube], "xml")) == cube


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("city", {"type": "string"}),
        ("both", {"expression": "a - b"}),
        ("a", {"measures": '<measure name="a" _type="DOUBLE" default_aggr="MAX"/>'}),
    ],
)
def test_two_meanings_under_one_name_are_refused(name, other):
    with pytest.raises(InvalidModel) as caught:
        xml(CUBE.format(**{**SAME, **other}))
    assert caught.value.fields["expected"] == f"each field named {name} only once"


def test_of_an_absolute_and_a_relative_time_the_narrower_one_counts():
    fact = xml(FACT.format(start="now.day - 90 days"))
    assert fact.start_time == "2015-01-01 and now.day - 90 days"
    for now, start, end in (
        ("2015-02-10", "2015-01-01", "2015-02-10"),
        ("2015-06-10", "2015-03-12", "2015-06-10"),
        ("2016-06-10", "2016-03-12", "2016-01-01"),
    ):
        bounds = validity(fact, dt.datetime.fromisoformat(f"{now}T00:00:00+00:00"))
        assert [f"{one:%Y-%m-%d}" for one in bounds] == [start, end]
    assert xml(write_documents([fact], "xml")) == fact
    (again,) = parse_documents(write_documents([fact]), "yaml")
    assert again == fact


def test_a_time_of_two_that_does_not_parse_is_named():
    with pytest.raises(InvalidModel) as caught:
        xml(FACT.format(start="a while ago"))
    assert caught.value.fields["at"] == "start_time"


def test_a_fact_that_ends_before_one_of_its_starts_is_refused():
    from hbstore import connect
    from hbstore.cubes import Cubes

    with connect("memory://") as store:
        store.create_database("shop")
        cubes = Cubes(store, "shop")
        cubes.create(xml(CUBE.format(**SAME)))
        fact = xml(FACT.format(start="now.day"))
        cubes.create(fact)
        with pytest.raises(InvalidModel) as caught:
            cubes.alter(fact.changed(end_time="now and 2014-01-01"))
    assert caught.value.fields["at"] == "end_time"
