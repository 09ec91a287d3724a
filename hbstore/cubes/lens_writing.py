"""Documents as Lens's XML, which `lens_xml` reads as the same.

What Lens has no place for, it gets attributes of its own: the description of a fact, the format of files, the library
of a serde. What cannot be written so that it is read as the same is refused, such as a name of Lens's for a property.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from hbstore.cubes.document import Named
from hbstore.cubes.values import bounds_of
from hbstore.cubes.xml_tree import Element, write_xml

_NAMESPACE: Final = "uri:lens:cube:0.1"
_ROOTS: Final[Mapping[str, str]] = {
    "storage": "x_storage",
    "cube": "x_base_cube",
    "derived_cube": "x_derived_cube",
    "dimension": "x_dimension",
    "fact": "x_fact_table",
    "dimtable": "x_dimension_table",
}
_Data = Mapping[str, Any]


def write_lens(documents: Iterable[Named]) -> str:
    """The XML of documents: of one by itself, of several within ``x_model``, which hbstore alone reads."""
    roots = [_root(one) for one in documents]
    whole = roots[0] if len(roots) == 1 else Element("x_model", {}, 0, roots)
    whole.attributes = {"xmlns": _NAMESPACE, **whole.attributes}
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{write_xml(whole)}'


def _root(document: Named) -> Element:
    data = document.to_dict()
    root = _element(_ROOTS[document.kind], **_described(data))
    name = "table_name" if document.kind == "dimtable" else "name"
    root.attributes[name] = document.name
    parts: Iterator[Element]
    if document.kind == "storage":
        root.attributes |= _texts(classname=data.get("class_name"), endpoint=data.get("endpoint"))
        parts = _properties("properties", data.get("properties", {}))
    elif document.kind == "derived_cube":
        root.attributes["parent"] = data["parent"]
        parts = _derived_cube(data)
    elif document.kind in ("fact", "dimtable"):
        owner = {"fact": ("cube_name", "cube"), "dimtable": ("dimension_name", "dimension")}[document.kind]
        root.attributes |= _texts(**{owner[0]: data[owner[1]], "weight": data.get("weight")})
        parts = _table(data)
    else:
        parts = _concept(document.name, data)
    root.children = list(parts)
    return root


def _derived_cube(data: _Data) -> Iterator[Element]:
    yield from _list("measure_names", (_text("measure_name", name) for name in data.get("measures", ())))
    yield from _list("dim_attr_names", (_text("attr_name", name) for name in data.get("dim_attributes", ())))
    yield from _properties("properties", data.get("properties", {}))


def _concept(name: str, data: _Data) -> Iterator[Element]:
    """What is in a cube or a dimension."""
    yield from _list("measures", map(_measure, data.get("measures", ())))
    attributes = {attribute["name"]: attribute for attribute in data.get("dim_attributes", ())}
    hierarchies = {hierarchy["name"]: hierarchy for hierarchy in data.get("hierarchies", ())}
    within = {part for hierarchy in hierarchies.values() for part in hierarchy["attributes"]}

    def part(name: str) -> Element:
        if name not in hierarchies:
            return _dim_attribute(attributes[name])
        hierarchy = hierarchies[name]
        return _element(
            "dim_attribute",
            [*_tags(hierarchy), *_list("hierarchy", map(part, hierarchy["attributes"]))],
            **_described(hierarchy),
        )

    outer = [hierarchy_name for hierarchy_name in hierarchies if hierarchy_name not in within]
    yield from _list("dim_attributes", map(part, [*attributes, *outer]))
    yield from _list("expressions", map(_expression, data.get("expressions", ())))
    yield from _list("join_chains", map(_join_chain, data.get("join_chains", ())))
    own = dict(data.get("properties", {}))
    times = data.get("time_dimensions", {})
    if times:
        own[f"cube.{name}.timed.dimensions.list"] = ",".join(times)
        own |= {f"cube.timedim.partition.{dimension}": column for dimension, column in times.items()}
    yield from _properties("properties", own)


def _measure(data: _Data) -> Element:
    return _element(
        "measure",
        _tags(data),
        **_field(data),
        default_aggr=data.get("default_aggregate"),
        format_string=data.get("format"),
        **{name: data.get(name) for name in ("unit", "min", "max")},
    )


def _dim_attribute(data: _Data) -> Element:
    chain = [
        _element("chain_ref_column", chain_name=one["chain"], ref_col=one["field"]) for one in data.get("chain", ())
    ]
    references = [
        _element("table_reference", table=one["table"], column=one["field"]) for one in data.get("references", ())
    ]
    parts = [
        *_tags(data),
        *_list("references", references),
        *chain,
        *(_text("values", value) for value in data.get("values", ())),
    ]
    return _element(
        "dim_attribute",
        parts,
        **_field(data),
        num_distinct_values=data.get("distinct_values"),
        join_key=data.get("join_key"),
    )


def _expression(data: _Data) -> Element:
    specs = [_element("expr_spec", expr=one["expression"], **_times(one)) for one in data["specs"]]
    return _element("expression", [*_tags(data), *specs], **_field(data))


def _join_chain(data: _Data) -> Element:
    from hbstore.cubes.fields import Edge

    paths = []
    for path in data["paths"]:
        edges = []
        for edge in map(Edge.parse, path):
            to = _element("to", table=edge.to_table, column=edge.to_field, maps_to_many=edge.to_many or None)
            edges.append(_element("edge", [_element("from", table=edge.table, column=edge.field), to]))
        paths.append(_element("path", [_element("edges", edges)]))
    return _element("join_chain", [*_tags(data), _element("paths", paths)], **_described(data))


def _table(data: _Data) -> Iterator[Element]:
    """What is in a fact or a dimension table."""
    yield from _list("columns", (_column(one) for one in data["columns"]))
    own = dict(data.get("properties", {}))
    for end in ("start", "end"):
        for text in bounds_of(data.get(f"{end}_time") or ""):
            kind = "relative" if text.strip().lower().startswith("now") else "absolute"
            own |= {f"cube.fact.{kind}.{end}.time": text} if text else {}
    yield from _properties("properties", own)
    yield from _list("storage_tables", map(_storage_table, data.get("storage_tables", ())))


def _column(data: _Data) -> Element:
    shown = {name: data.get(name) for name in ("name", "type", "comment", "extra")}
    return _element("column", **shown, **_times(data))


def _storage_table(data: _Data) -> Element:
    described = data.get("description", {})
    serde = described.get("serde", {})
    parts = [
        *_list("part_cols", (_column(column) for column in data.get("partition_columns", ()))),
        *(_text("time_part_cols", name) for name in data.get("time_partition_columns", ())),
        *_properties("table_parameters", described.get("table_properties", {})),
        *_properties("serde_parameters", serde.get("parameters", {})),
        *(_text("bucket_cols", name) for name in described.get("bucket_columns", ())),
        *(_text("sort_cols", column["name"]) for column in described.get("sort_columns", ())),
        *(
            _text("sort_col_order", "0" if column.get("descending") else "1")
            for column in described.get("sort_columns", ())
        ),
    ]
    table = _element(
        "table_desc",
        parts,
        table_location=described.get("location"),
        num_buckets=described.get("buckets"),
        storage_handler_name=described.get("storage_handler"),
        serde_class_name=serde.get("name"),
        serde_library=serde.get("library"),
        **{name: described.get(name) for name in ("external", "format", "input_format", "output_format", "compressed")},
    )
    periods = _list("update_periods", (_text("update_period", period) for period in data.get("update_periods", ())))
    return _element("storage_table", [*periods, _text("storage_name", data["storage"]), table])


def _described(data: _Data) -> dict[str, Any]:
    return {
        "name": data.get("name"),
        "description": data.get("description"),
        "display_string": data.get("display"),
    }


def _field(data: _Data) -> dict[str, Any]:
    return {**_described(data), "type": data["type"], **_times(data)}


def _times(data: _Data) -> dict[str, Any]:
    return {name: data.get(name) for name in ("start_time", "end_time")}


def _tags(data: _Data) -> Iterator[Element]:
    return _properties("tags", data.get("tags", {}))


def _properties(tag: str, values: Mapping[str, str]) -> Iterator[Element]:
    return _list(tag, (_element("property", name=name, value=value) for name, value in values.items()))


def _list(tag: str, items: Iterable[Element]) -> Iterator[Element]:
    """A list of elements; none where it would be empty."""
    found = list(items)
    if found:
        yield Element(tag, {}, 0, found)


def _text(tag: str, text: str) -> Element:
    return Element(tag, {}, 0, [], text)


def _element(tag: str, children: Iterable[Element] = (), /, **attributes: Any) -> Element:
    return Element(tag, _texts(**attributes), 0, list(children))


def _texts(**attributes: Any) -> dict[str, str]:
    """Attributes as XML has them; without those that are not there."""
    return {
        name: str(value).lower() if isinstance(value, bool) else str(value)
        for name, value in attributes.items()
        if value is not None
    }
