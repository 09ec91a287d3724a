"""Documents as Lens's XML: what each element says, and how it is read and written.

The outermost tag says what it is: ``x_storage``, ``x_base_cube``, ``x_derived_cube``, ``x_dimension``,
``x_fact_table``, ``x_dimension_table``. Tags inside have no ``x_``. Older spellings are read too: ``x_cube``,
``x_fact``, lists whose items are called like the list, ``_type`` for ``type``. What is not known is refused, never
passed over, but for what Lens itself fills in.

What Lens has no place for, it gets attributes of its own: the description of a fact, the format of files, the library
of a serde.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any, Final

from hbstore.cubes.document import Named
from hbstore.cubes.fields import Edge
from hbstore.cubes.lens_elements import (
    Data,
    Part,
    Shape,
    append,
    attribute,
    each_once,
    elements,
    grouped,
    ignored,
    present,
    properties,
    read_parts,
    read_shape,
    texts,
    within,
    write_parts,
    write_shape,
)
from hbstore.cubes.values import bounds_of
from hbstore.cubes.xml_tree import UNSUPPORTED, Element, ElementReader, write_xml


def read_model(root: Element, file: str) -> Iterator[tuple[str, Data]]:
    """The kinds and the data of all documents: of one by itself, or of those within ``x_model``.

    Raises:
        InvalidModel: an outermost tag is of no document, or something in one is not known.
    """
    if root.tag.removeprefix("x_") != "model":
        yield _read_document(root, file)
        return
    if root.attributes:
        raise ElementReader(root, file).error(f"attribute {min(root.attributes)}")
    for child in root.children:
        yield _read_document(child, file)


def write_lens(documents: Iterable[Named]) -> str:
    """The XML of documents: of one by itself, of several within ``x_model``, which hbstore alone reads.

    Some cannot be written so that they are read as the same, as where a property has one of Lens's names.
    """
    tags = {kind: f"x_{tag}" for tag, kind in reversed([*_ROOTS.items()])}
    roots = [write_shape(_SHAPES[document.kind], document.to_dict(), tags[document.kind]) for document in documents]
    whole = roots[0] if len(roots) == 1 else Element("x_model", {}, 0, roots)
    whole.attributes = {"xmlns": "uri:lens:cube:0.1", **whole.attributes}
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{write_xml(whole)}'


def _read_document(root: Element, file: str) -> tuple[str, Data]:
    reader = ElementReader(root, file)
    tag = root.tag.removeprefix("x_")
    if tag in UNSUPPORTED:
        raise reader.unsupported(root)
    if tag not in _ROOTS:
        raise reader.wrong_root("a document", ", ".join(f"x_{name}" for name in _ROOTS))
    kind = "derived_cube" if _ROOTS[tag] == "cube" and "parent" in root.attributes else _ROOTS[tag]
    return kind, read_shape(_SHAPES[kind], reader)


_ROOTS: Final[Mapping[str, str]] = {
    "storage": "storage",
    "base_cube": "cube",
    "derived_cube": "derived_cube",
    "cube": "cube",
    "dimension": "dimension",
    **dict.fromkeys(("fact_table", "fact", "cube_fact"), "fact"),
    **dict.fromkeys(("dimension_table", "dim_table", "dimtable"), "dimtable"),
}
"""The kinds of documents by their tags; the first tag of each is written."""


_PROPERTIES: Final = properties("properties", "properties")
_NAME: Final = attribute("name")
_DESCRIPTION: Final = attribute("description")
_DESCRIBED: Final = (_NAME, _DESCRIPTION, attribute("display", "display_string"))
_TYPE: Final = attribute("type", "type", "_type")
_TIMES: Final = (attribute("start_time"), attribute("end_time"))
_TAGS: Final = properties("tags", "tags", "property", "tag")

_MEASURE: Final = (
    *_DESCRIBED,
    _TYPE,
    *_TIMES,
    attribute("default_aggregate", "default_aggr"),
    attribute("format", "format_string"),
    attribute("unit"),
    attribute("min", take=ElementReader.number),
    attribute("max", take=ElementReader.number),
    _TAGS,
)
_REFERENCE: Final = (attribute("table", "table", "dest_table"), attribute("field", "column", "dest_column"))
_CHAIN: Final = elements(
    "chain",
    (attribute("chain", "chain_name"), attribute("field", "ref_col"), ignored("dest_table")),
    "chain_ref_column",
)
_REFERS, _REF_SPEC = (
    (elements("references", _REFERENCE, "table_reference", "table_references", list_tag=list_tag), _CHAIN)
    for list_tag in ("references", "table_references")
)


def _read_refers(reader: ElementReader) -> Data:
    """What an attribute refers to: directly, as Lens writes it since 2.5, or in a ``ref_spec``."""
    parts = [read_parts(_REFERS, reader), *(read_shape(_REF_SPEC, spec) for spec in reader.items(None, "ref_spec"))]
    refers = {name: [value for part in parts for value in part.get(name, ())] for name in ("references", "chain")}
    return {name: values for name, values in refers.items() if values}


_DIM_ATTRIBUTE: Final = (
    *_DESCRIBED,
    _TYPE,
    *_TIMES,
    attribute("distinct_values", "num_distinct_values", take=ElementReader.whole),
    attribute("join_key", take=ElementReader.truth),
    _TAGS,
    Part(_read_refers, partial(write_parts, _REFERS)),
    texts("values", "values"),
)


def _read_attributes(reader: ElementReader) -> Data:
    """Attributes, and the hierarchies that stand among them and hold others."""
    hierarchies: list[Data] = []

    def flat(readers: Iterable[ElementReader]) -> Iterator[Data]:
        for item in readers:
            parts = item.items("hierarchy", "dim_attribute")
            if not parts:
                yield read_shape(_DIM_ATTRIBUTE, item)
                continue
            names = [part.element.attributes.get("name", "") for part in parts]
            hierarchies.append(read_shape((*_DESCRIBED, _TAGS), item) | {"attributes": names})
            yield from flat(parts)

    listed = [
        *reader.items("dim_attributes", "dim_attribute"),
        *reader.items("attributes", "dim_attribute", "attribute"),
    ]
    return present("dim_attributes", each_once(reader, flat(listed))) | present("hierarchies", hierarchies)


def _write_attributes(data: Mapping[str, Any], element: Element) -> None:
    attributes = {attribute["name"]: attribute for attribute in data.get("dim_attributes", ())}
    hierarchies = {hierarchy["name"]: hierarchy for hierarchy in data.get("hierarchies", ())}
    inner = {part for hierarchy in hierarchies.values() for part in hierarchy["attributes"]}

    def written(name: str) -> Element:
        if name not in hierarchies:
            return write_shape(_DIM_ATTRIBUTE, attributes[name], "dim_attribute")
        hierarchy = write_shape((*_DESCRIBED, _TAGS), hierarchies[name], "dim_attribute")
        append(hierarchy, map(written, hierarchies[name]["attributes"]), "hierarchy")
        return hierarchy

    append(element, map(written, [*attributes, *(name for name in hierarchies if name not in inner)]), "dim_attributes")


_END: Final = (*_REFERENCE, attribute("to_many", "maps_to_many", take=ElementReader.truth))


def _read_paths(reader: ElementReader) -> Data:
    paths = []
    for path in reader.items("paths", "path"):
        paths.append([_read_edge(edge) for edge in path.items("edges", "edge")])
        path.end()
    return present("paths", paths)


def _read_edge(reader: ElementReader) -> Data:
    edge: Data = {}
    for end, prefix in (("from", ""), ("to", "to_")):
        for one in reader.items(None, end):
            read = read_shape(_END, one)
            many = read.pop("to_many", None)
            edge |= {f"{prefix}{name}": value for name, value in read.items()}
            edge |= present("to_many", many) if prefix else {}
    reader.end()
    return edge


def _write_paths(data: Mapping[str, Any], element: Element) -> None:
    paths = []
    for path in data["paths"]:
        edges = []
        for edge in map(Edge.parse, path):
            to = {"table": edge.to_table, "field": edge.to_field, "to_many": edge.to_many or None}
            ends = [write_shape(_END, {"table": edge.table, "field": edge.field}, "from"), write_shape(_END, to, "to")]
            edges.append(Element("edge", {}, 0, ends))
        paths.append(Element("path", {}, 0, [Element("edges", {}, 0, edges)]))
    append(element, paths, "paths")


_EXPRESSION: Final = (
    *_DESCRIBED,
    _TYPE,
    _TAGS,
    elements("specs", (attribute("expression", "expr"), *_TIMES), "expr_spec"),
)
_JOIN_CHAIN: Final = (*_DESCRIBED, _TAGS, ignored("dest_table"), Part(_read_paths, _write_paths))
_CONCEPT: Final = (
    Part(_read_attributes, _write_attributes),
    elements("expressions", _EXPRESSION, "expression", list_tag="expressions", distinct=each_once),
    elements("join_chains", _JOIN_CHAIN, "join_chain", list_tag="join_chains", distinct=each_once),
)


def _read_cube_properties(reader: ElementReader) -> Data:
    """The properties of a cube; some of them say its time dimensions and their partition columns."""
    own = _PROPERTIES.read(reader).get("properties", {})
    listing = f"cube.{reader.element.attributes.get('name', '')}.timed.dimensions.list".lower()
    key = next((key for key in own if key.lower() == listing), "")
    dimensions = [name.strip() for name in own.pop(key, "").split(",") if name.strip()]
    times = {name: own.pop(f"cube.timedim.partition.{name}", name) for name in dict.fromkeys(dimensions)}
    return present("time_dimensions", times) | present("properties", own)


def _write_cube_properties(data: Mapping[str, Any], element: Element) -> None:
    own, times = dict(data.get("properties", {})), data.get("time_dimensions", {})
    if times:
        own[f"cube.{data['name']}.timed.dimensions.list"] = ",".join(times)
        own |= {f"cube.timedim.partition.{dimension}": column for dimension, column in times.items()}
    _PROPERTIES.write({"properties": own}, element)


# Tables of facts and dimensions


def _read_fact_properties(reader: ElementReader) -> Data:
    """The properties of a fact; some of them say its start and its end: an absolute time, a relative one, or both."""
    own = _PROPERTIES.read(reader).get("properties", {})
    times: Data = {}
    for end, kind in product(("start", "end"), ("absolute", "relative")):
        name = f"{end}_time"
        if (text := own.pop(f"cube.fact.{kind}.{end}.time", None)) is not None:
            # A relative time may be a difference alone: -90 days.
            time = f"now{text.strip()}" if kind == "relative" and text.strip()[:1] in "+-" else text
            times[name] = f"{times[name]} and {time}" if name in times else time
    return times | present("properties", own)


def _write_fact_properties(data: Mapping[str, Any], element: Element) -> None:
    own = dict(data.get("properties", {}))
    for end in ("start", "end"):
        for text in bounds_of(data.get(f"{end}_time") or ""):
            kind = "relative" if text.strip().lower().startswith("now") else "absolute"
            own |= {f"cube.fact.{kind}.{end}.time": text} if text else {}
    _PROPERTIES.write({"properties": own}, element)


_DELIMITERS: Final[Mapping[str, str]] = {
    "field_delimiter": "field.delim",
    "escape_char": "escape.delim",
    "collection_delimiter": "colelction.delim",  # Hive's own spelling
    "line_delimiter": "line.delim",
    "map_key_delimiter": "mapkey.delim",
}
"""Attributes that are parameters of Hive's serde."""

_PARAMETERS: Final = properties("parameters", "serde_parameters")


def _read_parameters(reader: ElementReader) -> Data:
    delimiters = {name: reader.attribute(written) for written, name in _DELIMITERS.items()}
    own = {name: text for name, text in delimiters.items() if text is not None}
    return present("parameters", own | _PARAMETERS.read(reader).get("parameters", {}))


def _read_sorting(reader: ElementReader) -> Data:
    orders, names = reader.texts("sort_col_order"), reader.texts("sort_cols")
    columns = [{"name": name, "descending": orders[at : at + 1] == ["0"]} for at, name in enumerate(names)]
    return present("sort_columns", columns)


def _write_sorting(data: Mapping[str, Any], element: Element) -> None:
    columns = data.get("sort_columns", ())
    append(element, (Element("sort_cols", {}, 0, [], column["name"]) for column in columns))
    orders = ("0" if column.get("descending") else "1" for column in columns)
    append(element, (Element("sort_col_order", {}, 0, [], order) for order in orders))


def _read_time_columns(reader: ElementReader) -> Data:
    listed = reader.texts("time_part_cols")
    return present("time_partition_columns", [name.strip() for text in listed for name in text.split(",")])


_COLUMN: Final = (
    _NAME,
    _TYPE,
    attribute("comment", take=lambda reader, name: reader.attribute(name) or None),
    attribute("extra", take=ElementReader.truth),
    *_TIMES,
)
_FILES: Final = (
    attribute("location", "table_location"),
    attribute("buckets", "num_buckets", take=ElementReader.whole),
    attribute("storage_handler", "storage_handler_name"),
    attribute("external", take=ElementReader.truth),
    *map(attribute, ("format", "input_format", "output_format")),
    attribute("compressed", take=ElementReader.truth),
    properties("table_properties", "table_parameters"),
    grouped(
        "serde",
        (
            attribute("name", "serde_class_name"),
            attribute("library", "serde_library"),
            Part(_read_parameters, _PARAMETERS.write),
        ),
    ),
    texts("bucket_columns", "bucket_cols"),
    Part(_read_sorting, _write_sorting),
)
_TABLE_DESC: Final = (
    elements("partition_columns", _COLUMN, "column", "columns", list_tag="part_cols"),
    Part(_read_time_columns, texts("time_partition_columns", "time_part_cols").write),
    grouped("description", _FILES),
)
_STORAGE_TABLE: Final = (
    texts("update_periods", "update_period", list_tag="update_periods"),
    Part(
        lambda reader: present("storage", next(iter(reader.texts("storage_name")), None)),
        lambda data, element: append(element, [Element("storage_name", {}, 0, [], data["storage"])]),
    ),
    within("table_desc", _TABLE_DESC),
)
_ROWS: Final = (
    attribute("weight", take=ElementReader.number),
    elements("columns", _COLUMN, "column", list_tag="columns"),
)
_STORAGE_TABLES: Final = elements("storage_tables", _STORAGE_TABLE, "storage_table", list_tag="storage_tables")

_SHAPES: Final[Mapping[str, Shape]] = {
    "storage": (
        _NAME,
        _DESCRIPTION,
        attribute("class_name", "classname", "class_name"),
        attribute("endpoint"),
        _PROPERTIES,
    ),
    "cube": (
        *_DESCRIBED,
        elements("measures", _MEASURE, "measure", list_tag="measures", distinct=each_once),
        *_CONCEPT,
        Part(_read_cube_properties, _write_cube_properties),
    ),
    "derived_cube": (
        *_DESCRIBED,
        attribute("parent"),
        texts("measures", "measure_name", list_tag="measure_names"),
        texts("dim_attributes", "attr_name", "dim_attr_name", list_tag="dim_attr_names"),
        _PROPERTIES,
    ),
    "dimension": (*_DESCRIBED, *_CONCEPT, _PROPERTIES),
    "fact": (
        attribute("name", "name", "table_name"),
        _DESCRIPTION,
        attribute("cube", "cube_name"),
        *_ROWS,
        Part(_read_fact_properties, _write_fact_properties),
        _STORAGE_TABLES,
    ),
    "dimtable": (
        attribute("name", "table_name", "name"),
        _DESCRIPTION,
        attribute("dimension", "dimension_name"),
        *_ROWS,
        _PROPERTIES,
        _STORAGE_TABLES,
    ),
}
"""The parts of each kind of document."""
