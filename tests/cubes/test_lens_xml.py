"""Lens's XML: every element and attribute that is read, older spellings, and what is refused."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest

from hbstore import connect
from hbstore.cubes import (
    Column,
    Cube,
    Cubes,
    DerivedCube,
    DimTable,
    Edge,
    Fact,
    PartitionDesc,
    Reference,
    Serde,
    SortColumn,
    Storage,
    StorageTable,
    TableDescription,
    parse_documents,
    parse_partitions,
    read_documents,
    read_partitions,
    write_documents,
)
from hbstore.errors import InvalidModel
from hbstore.timelines import UpdatePeriod

SAMPLES = Path(__file__).parent / "samples"
DOCUMENTS = sorted(path.name for path in SAMPLES.glob("*.xml") if path.name != "partitions.xml")


def sample(name):
    (found,) = read_documents(SAMPLES / name)
    return found


def xml(text):
    (found,) = parse_documents(text, "xml", file="a.xml")
    return found


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_read_can_be_written_as_yaml(name):
    found = read_documents(SAMPLES / name)
    assert parse_documents(write_documents(found), "yaml") == found


def test_a_storage():
    assert sample("storage.xml") == Storage(
        name="depot",
        class_name="org.apache.lens.cube.metadata.HDFSStorage",
        properties={"storage.url": "file:///depot"},
    )


def test_a_base_cube():
    cube = sample("base_cube.xml")
    assert isinstance(cube, Cube)
    assert cube.time_dimensions == {"sent_time": "st", "arrival_time": "at"}
    assert cube.properties == {"cube.allfields.queriable": "false"}
    weight, postage = cube.measures
    assert (weight.type, weight.default_aggregate, weight.display, weight.unit) == ("double", "SUM", "Weight", "kg")
    assert (weight.min, weight.max, weight.format) == (0, 70, "#,##0.0")
    assert (weight.start_time, weight.end_time) == (dt.datetime(2015, 3, 1, tzinfo=dt.UTC), None)
    assert postage.type == "float"
    by_name = {attribute.name: attribute for attribute in cube.dim_attributes}
    assert by_name["arrival_time"].end_time == dt.datetime(2019, 1, 1, tzinfo=dt.UTC)
    town = by_name["town_id"]
    assert (town.references, town.join_key, town.distinct_values) == ((Reference(table="town", field="id"),), True, 800)
    assert by_name["size"].values == ("S", "L")
    assert [(one.chain, one.field) for one in by_name["town_name"].chain] == [("town_chain", "name")]
    (ratio,) = cube.expressions
    assert [one.expression for one in ratio.specs] == ["postage / weight", "postage / greatest(weight, 1)"]
    assert ratio.specs[0].end_time == ratio.specs[1].start_time == dt.datetime(2016, 1, 1, tzinfo=dt.UTC)
    one, many = cube.join_chains
    assert one.paths == ((Edge.parse("parcels.town_id=town.id"),),)
    assert [str(edge) for edge in many.paths[0]] == [
        "parcels.town_id=carrier_town.town_id (many)",
        "carrier_town.carrier_id=carrier.id",
    ]


def test_a_derived_cube():
    wanted = DerivedCube(
        name="heavy_parcels", parent="parcels", measures=["weight"], dim_attributes=["town_id", "sent_time"]
    )
    assert sample("derived_cube.xml") == wanted
    text = (SAMPLES / "derived_cube.xml").read_text()
    assert xml(text.replace("x_derived_cube", "x_cube")) == wanted
    assert xml(text.replace("x_derived_cube", "derived_cube")) == wanted


def test_a_fact():
    assert sample("fact_table.xml") == Fact(
        name="parcels_daily",
        cube="parcels",
        weight=12.5,
        start_time="now-90 days",
        end_time="2030-06",
        columns=[Column(name="weight", type="double"), Column(name="town_id", type="int", comment="where to")],
        properties={"cube.fact.is.aggregated": "true"},
        storage_tables=[
            StorageTable(
                storage="depot",
                update_periods=["DAILY", "HOURLY"],
                partition_columns=[
                    Column(name="st", type="string", comment="when it was sent"),
                    Column(name="at", type="string", comment="when it came"),
                    Column(name="country", type="string"),
                ],
                time_partition_columns=["st", "at"],
                description=TableDescription(
                    location="file:///depot/parcels_daily",
                    compressed=True,
                    serde=Serde(
                        name="org.example.Serde",
                        parameters={"field.delim": ",", "escape.delim": "\\", "serialization.null.format": "-"},
                    ),
                    buckets=8,
                    bucket_columns=["town_id"],
                    sort_columns=[SortColumn(name="weight", descending=True)],
                    table_properties={"owner.team": "post"},
                ),
            )
        ],
    )


@pytest.mark.parametrize("root", ["x_fact", "fact_table", "fact", "x_cube_fact"])
def test_roots_have_several_spellings(root):
    text = (SAMPLES / "fact_table.xml").read_text()
    assert xml(text.replace("x_fact_table", root)) == sample("fact_table.xml")


@pytest.mark.parametrize("root", ["x_dim_table", "dimtable", "dimension_table"])
def test_a_dimension_table(root):
    found = xml((SAMPLES / "dimension_table.xml").read_text().replace("x_dimension_table", root))
    assert isinstance(found, DimTable)
    assert (found.name, found.dimension, found.weight) == ("towns", "town", 3)
    assert found.storage_tables[0].update_periods == (UpdatePeriod.DAILY,)


def test_prefixes_of_namespaces_do_not_matter():
    text = '<l:x_storage xmlns:l="uri:lens:cube:0.1" name="s1"><l:properties/></l:x_storage>'
    assert xml(text) == Storage(name="s1")


def test_a_relative_time_may_be_a_difference_alone():
    text = (SAMPLES / "fact_table.xml").read_text()
    assert xml(text.replace("-90 days", "now.month - 2 months")).start_time == "now.month - 2 months"
    both = text.replace("cube.fact.absolute.end.time", "cube.fact.absolute.start.time")
    assert xml(both).start_time == "2030-06 and now-90 days"


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "found"),
    [
        ("storage.xml", 'name="Depot"', 'name="Depot" colour="red"', 2, "attribute colour"),
        ("storage.xml", "<properties>", "<labels/><properties>", 4, "element labels"),
        ("storage.xml", "x_storage", "x_store", 2, "x_store"),
        ("storage.xml", "value=", "worth=", 5, "attribute worth"),
        ("storage.xml", 'value="file:///depot"', "", 5, "a property without a name or a value"),
        ("base_cube.xml", 'name="postage"', 'name="postage" expr="a+b"', 11, "attribute expr"),
        ("base_cube.xml", "<values>S</values>", "<hierarchy><level/></hierarchy>", 24, "element level"),
        ("fact_table.xml", "<sort_cols>weight</sort_cols>", "<skewed_info/>", 32, "element skewed_info"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(name, old, new, line, found):
    text = (SAMPLES / name).read_text()
    assert old in text
    with pytest.raises(InvalidModel) as caught:
        xml(text.replace(old, new))
    assert (caught.value.fields["file"], caught.value.fields["line"]) == ("a.xml", line)
    assert caught.value.fields["found"] == found


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ('weight="12.5"', 'weight="heavy"', "weight"),
        ('external="true"', 'external="perhaps"', "storage_tables.0.description.external"),
        ('num_buckets="8"', 'num_buckets="many"', "storage_tables.0.description.buckets"),
        ("<update_period>DAILY", "<update_period>DALY", "storage_tables.0.update_periods.1"),
        ("<storage_name>depot</storage_name>", "", "storage_tables.0.storage"),
        ('name="town_id" type="INT"', 'name="town_id"', "columns.1.type"),
    ],
)
def test_values_are_checked_as_in_other_files(old, new, at):
    text = (SAMPLES / "fact_table.xml").read_text()
    assert old in text
    with pytest.raises(InvalidModel) as caught:
        xml(text.replace(old, new))
    assert caught.value.fields["at"] == at


PARTITIONS = [
    (
        "parcels_daily",
        PartitionDesc(
            "DAILY",
            {"st": "2015-04-11T00:00:00", "at": "2015-04-13T00:00:00"},
            {"country": "nl"},
            "file:///depot/parcels/1",
            {"numRows": "17"},
        ),
    ),
    (
        "parcels_daily",
        PartitionDesc("HOURLY", {"st": "2015-04-11T06:00:00", "at": "2015-04-13T05:00:00"}, {"country": "be"}),
    ),
]


def test_partitions():
    assert read_partitions(SAMPLES / "partitions.xml") == PARTITIONS
    text = (SAMPLES / "partitions.xml").read_text()
    tail = text.split("  <partition ", 1)[1]
    one = "<x_partition " + tail.split("</partition>")[0] + "</x_partition>"
    assert parse_partitions(one, "xml") == PARTITIONS[:1]
    assert parse_partitions("<x_partition_list/>", "xml") == []


def test_partitions_in_yaml_and_json():
    yaml = """
- table: Parcels_Daily
  update_period: daily
  time: {st: 2015-04-11T00:00:00, at: 2015-04-13T00:00:00}
  other: {country: nl}
  location: file:///depot/parcels/1
  parameters: {numRows: "17"}
"""
    assert parse_partitions(yaml, "yaml") == PARTITIONS[:1]
    assert parse_partitions('{"table": "t", "other": {"a": null}}', "json") == [("t", PartitionDesc(other={"a": None}))]


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("<x_storage name='s1'/>", "xml"),
        ("<x_partition_list><x/></x_partition_list>", "xml"),
        ("<x_partition update_period='DAILY'/>", "xml"),
        ("<x_partition fact_or_dimension_table_name='t' input_format='x'/>", "xml"),
        ("update_period: DAILY", "yaml"),
        ("{table: t, update_period: DAYLY}", "yaml"),
        ("{table: t, time: {dt: 5}}", "yaml"),
        ("{table: t, time: {dt: 2015-01-29, DT: 2015-01-30}}", "yaml"),
        ("{table: t, other: {country: nl, Country: de}}", "yaml"),
        ("{table: t, colour: red}", "yaml"),
        ("5", "yaml"),
    ],
)
def test_what_is_no_partition_is_refused(text, format):
    with pytest.raises(InvalidModel) as caught:
        parse_partitions(text, format, file="a")
    assert caught.value.fields["file"] == "a"


OWN_TABLES = """<x_fact_table name="f" cube_name="c"><storage_tables><storage_table>
<update_periods>
<update_period_table_descriptor><update_period>DAILY</update_period></update_period_table_descriptor>
</update_periods></storage_table></storage_tables></x_fact_table>"""


def test_attributes_by_chains_hierarchies_and_tags():
    cube = sample("orchard_cube.xml")
    names = ["picked_time", "tree_id", "sort_name", "row_id", "slope_name", "country"]
    assert [attribute.name for attribute in cube.dim_attributes] == names
    by_name = {attribute.name: attribute for attribute in cube.dim_attributes}
    reached = {name: [(one.chain, one.field) for one in by_name[name].chain] for name in ("sort_name", "slope_name")}
    assert reached == {"sort_name": [("tree", "sort"), ("row", "sort")], "slope_name": [("row", "slope")]}
    (place,) = cube.hierarchies
    assert (place.name, place.attributes, place.display) == ("place", tuple(names[3:]), "Where it grew")
    assert [dict(one.tags) for one in (*cube.measures, *cube.expressions)] == [
        {"category": "yield"},
        {},
        {"category": "ratio"},
    ]
    assert cube.properties == {"cube.timedim.relation.sold_time": "picked_time+[1 day, 20 days]"}
    trees = sample("orchard_dimension.xml")
    assert [dict(one.tags) for one in trees.dim_attributes] == [{}, {"shown": "first"}, {}, {}]
    assert trees.dim_attributes[3].chain[0].chain == "row"


def test_an_attribute_may_be_a_part_of_several_hierarchies_and_stand_alone():
    city = "<dim_attribute name='city' _type='string' description='Town'/>"
    country = "<dim_attribute name='country' _type='string'/>"
    text = f"""<x_dimension name="d"><attributes>{country}
        <dim_attribute name="place"><hierarchy>{city}{country}</hierarchy></dim_attribute>
        <dim_attribute name="market"><hierarchy>{city}</hierarchy></dim_attribute></attributes></x_dimension>"""
    dimension = xml(text)
    assert [one.name for one in dimension.dim_attributes] == ["country", "city"]
    assert [one.attributes for one in dimension.hierarchies] == [("city", "country"), ("city",)]
    with pytest.raises(InvalidModel) as caught:
        xml(text.replace(country, country.replace("string", "int"), 1))
    assert caught.value.fields["expected"] == "each field named country only once"


def test_columns_with_a_beginning_and_an_end():
    columns = sample("orchard_fact.xml").columns
    assert [(one.start_time, one.end_time) for one in columns] == [
        (None, None),
        ("2015-01-01", None),
        (None, "now.day - 1 year"),
    ]
    text = (SAMPLES / "orchard_fact.xml").read_text()
    with pytest.raises(InvalidModel) as caught:
        xml(text.replace("2015-01-01", "soon"))
    assert caught.value.fields["at"] == "columns.1.start_time"


def test_a_whole_model_is_created():
    rows = "kind: dimension\nname: rows\ndim_attributes: [{name: id, type: int}, {name: slope, type: string}]\n"
    with connect("memory://") as store:
        store.create_database("orchard")
        cubes = Cubes(store, "orchard")
        documents = [sample(f"{name}.xml") for name in ("storage", "orchard_cube", "orchard_dimension", "orchard_fact")]
        cubes.create_all([*documents, *parse_documents(rows, "yaml")])
        assert cubes.cube("harvest") == sample("orchard_cube.xml")
        assert cubes.fact("harvest_daily") == sample("orchard_fact.xml")


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("<x_virtual_fact_table name='v' source_fact_name='f'/>", 1, "does not support virtual facts"),
        ("<x_segmentation name='s' cube_name='c'/>", 1, "does not support segmentations"),
        (OWN_TABLES, 3, "does not support a table for each update period of a storage"),
    ],
)
def test_what_is_not_supported_is_told_with_its_name(text, line, said):
    with pytest.raises(InvalidModel, match=said) as caught:
        xml(text)
    assert caught.value.fields["line"] == line
    assert caught.value.hint


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        (["row_id", "acre"], "a dim attribute acre, which the hierarchy place names"),
        (["row_id", "row_id"], "each attribute named row_id only once"),
        ([], "at least one"),
    ],
)
def test_hierarchies_consist_of_what_there_is(attributes, expected):
    cube = sample("orchard_cube.xml").to_dict()
    cube["hierarchies"] = [{"name": "place", "attributes": attributes}]
    with pytest.raises(InvalidModel) as caught:
        parse_documents(json.dumps(cube), "json")
    assert caught.value.fields["expected"] == expected
