"""Lens's XML as the data that documents are made of.

The outermost tag says what it is: ``x_storage``, ``x_base_cube``, ``x_derived_cube``, ``x_dimension``,
``x_fact_table``, ``x_dimension_table``. Tags inside have no ``x_``. Older spellings are read too: ``x_cube``,
``x_fact``, lists whose items are called like the list, ``_type`` for ``type``. What is not known is refused, never
passed over, but for what Lens itself fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from hbstore.cubes.lens_repeats import each_once
from hbstore.cubes.xml_reader import UNSUPPORTED, ElementReader
from hbstore.cubes.xml_tree import Element
from hbstore.errors import InvalidModel

Data: TypeAlias = dict[str, Any]

_DELIMITERS: Final[Mapping[str, str]] = {
    "field_delimiter": "field.delim",
    "escape_char": "escape.delim",
    "collection_delimiter": "colelction.delim",  # Hive's own spelling
    "line_delimiter": "line.delim",
    "map_key_delimiter": "mapkey.delim",
}
"""Attributes that are parameters of Hive's serde."""

_FACT_TIMES: Final[Mapping[str, str]] = {
    "cube.fact.absolute.start.time": "start_time",
    "cube.fact.relative.start.time": "start_time",
    "cube.fact.absolute.end.time": "end_time",
    "cube.fact.relative.end.time": "end_time",
}


def read_model(root: Element, file: str) -> Iterator[tuple[str, Data]]:
    """The kinds and the data of all documents: of one by itself, or of those within ``x_model``.

    Raises:
        InvalidModel: as `read_lens`.
    """
    if root.tag.removeprefix("x_") != "model":
        yield read_lens(root, file)
        return
    if root.attributes:
        raise ElementReader(root, file).error(f"attribute {min(root.attributes)}")
    for one in root.children:
        yield read_lens(one, file)


def read_lens(root: Element, file: str) -> tuple[str, Data]:
    """The kind of a document and its data.

    Raises:
        InvalidModel: the outermost tag is of no document, or something in it is not known.
    """
    reader = ElementReader(root, file)
    tag = root.tag.removeprefix("x_")
    read = _ROOTS.get(tag)
    if tag in UNSUPPORTED:
        raise reader.unsupported(root)
    if read is None:
        raise InvalidModel(
            "the outermost tag of the XML is not a document",
            file=file,
            line=root.line,
            found=root.tag,
            expected=", ".join(f"x_{name}" for name in _ROOTS),
            hint="Use one of the expected tags",
        )
    kind, data = read(reader)
    reader.end()
    return kind, data


def present_fields(**fields: Any) -> Data:
    """The fields that are there."""
    return {name: value for name, value in fields.items() if value is not None and value not in ([], {})}


def properties(reader: ElementReader, tag: str = "properties", *items: str) -> Data:
    """Names and values of the properties under a tag."""
    texts: Data = {}
    for one in reader.items(tag, *(items or ("property",))):
        name, value = one.attribute("name"), one.attribute("value")
        one.end()
        if name is None or value is None or name in texts:
            raise one.error("a property without a name or a value" if name not in texts else f"property {name} twice")
        texts[name] = value
    return texts


def _storage(reader: ElementReader) -> tuple[str, Data]:
    return "storage", present_fields(
        name=reader.attribute("name"),
        class_name=reader.attribute("classname", "class_name"),
        endpoint=reader.attribute("endpoint"),
        description=reader.attribute("description"),
        properties=properties(reader),
    )


def _cube(reader: ElementReader) -> tuple[str, Data]:
    if "parent" in reader.element.attributes:
        return _derived_cube(reader)
    name = reader.attribute("name")
    own = properties(reader)
    return "cube", present_fields(
        name=name,
        **_described(reader),
        time_dimensions=_time_dimensions(name or "", own),
        measures=each_once(reader, map(_measure, reader.items("measures", "measure"))),
        **_fields(reader),
        properties=own,
    )


def _derived_cube(reader: ElementReader) -> tuple[str, Data]:
    return "derived_cube", present_fields(
        name=reader.attribute("name"),
        parent=reader.attribute("parent"),
        **_described(reader),
        measures=_names(reader, "measure_names", "measure_name"),
        dim_attributes=_names(reader, "dim_attr_names", "attr_name", "dim_attr_name"),
        properties=properties(reader),
    )


def _dimension(reader: ElementReader) -> tuple[str, Data]:
    return "dimension", present_fields(
        name=reader.attribute("name"), **_described(reader), **_fields(reader), properties=properties(reader)
    )


def _fact(reader: ElementReader) -> tuple[str, Data]:
    own = properties(reader)
    return "fact", present_fields(
        name=reader.attribute("name", "table_name"),
        cube=reader.attribute("cube_name"),
        description=reader.attribute("description"),
        **_times_of_fact(own),
        **_table(reader),
        properties=own,
    )


def _dimtable(reader: ElementReader) -> tuple[str, Data]:
    return "dimtable", present_fields(
        name=reader.attribute("table_name", "name"),
        dimension=reader.attribute("dimension_name"),
        description=reader.attribute("description"),
        **_table(reader),
        properties=properties(reader),
    )


_ROOTS: Final[Mapping[str, Callable[[ElementReader], tuple[str, Data]]]] = {
    "storage": _storage,
    "base_cube": _cube,
    "derived_cube": _derived_cube,
    "cube": _cube,
    "dimension": _dimension,
    "fact_table": _fact,
    "fact": _fact,
    "cube_fact": _fact,
    "dimension_table": _dimtable,
    "dim_table": _dimtable,
    "dimtable": _dimtable,
}


def _described(reader: ElementReader) -> Data:
    return present_fields(description=reader.attribute("description"), display=reader.attribute("display_string"))


def _names(reader: ElementReader, list_tag: str, *tags: str) -> list[str]:
    found = reader.items(list_tag, *tags)
    for one in found:
        one.end()
    return [one.element.text.strip() for one in found]


def _time_dimensions(name: str, own: Data) -> Data:
    """Time dimensions and their partition columns, taken out of a cube's properties."""
    key = next((key for key in own if key.lower() == f"cube.{name}.timed.dimensions.list".lower()), "")
    found = {one.strip(): one.strip() for one in own.pop(key, "").split(",") if one.strip()}
    for dimension in found:
        found[dimension] = own.pop(f"cube.timedim.partition.{dimension}", dimension)
    return found


def _times_of_fact(own: Data) -> Data:
    """The start and the end of a fact, taken out of its properties: an absolute time, a relative one, or both."""
    times: Data = {}
    for key, name in _FACT_TIMES.items():
        if (text := own.pop(key, None)) is not None:
            # A relative time may be a difference alone: -90 days.
            time = f"now{text.strip()}" if ".relative." in key and text.strip()[:1] in "+-" else text
            times[name] = f"{times[name]} and {time}" if name in times else time
    return times


def _fields(reader: ElementReader) -> Data:
    attributes = [
        *reader.items("dim_attributes", "dim_attribute"),
        *reader.items("attributes", "dim_attribute", "attribute"),
    ]
    hierarchies: list[Data] = []
    return present_fields(
        dim_attributes=each_once(reader, map(_dim_attribute, _flat(attributes, hierarchies))),
        hierarchies=hierarchies,
        expressions=each_once(reader, map(_expression, reader.items("expressions", "expression"))),
        join_chains=each_once(reader, map(_join_chain, reader.items("join_chains", "join_chain"))),
    )


def _flat(attributes: Iterable[ElementReader], hierarchies: list[Data]) -> Iterator[ElementReader]:
    """The attributes that are none of others; hierarchies, which are, are put into a list."""
    for attribute in attributes:
        parts = attribute.items("hierarchy", "dim_attribute")
        if not parts:
            yield attribute
            continue
        names = [part.element.attributes.get("name", "") for part in parts]
        found = present_fields(
            name=attribute.attribute("name"), **_described(attribute), tags=_tags(attribute), attributes=names
        )
        hierarchies.append(_ended(attribute, found))
        yield from _flat(parts, hierarchies)


def _tags(reader: ElementReader) -> Data:
    return properties(reader, "tags", "property", "tag")


def _field(reader: ElementReader) -> Data:
    own = present_fields(name=reader.attribute("name"), type=reader.attribute("type", "_type"), tags=_tags(reader))
    return own | _described(reader)


def _times(reader: ElementReader) -> Data:
    return present_fields(start_time=reader.attribute("start_time"), end_time=reader.attribute("end_time"))


def _ended(reader: ElementReader, data: Data) -> Data:
    reader.end()
    return data


def _measure(reader: ElementReader) -> Data:
    return _ended(
        reader,
        present_fields(
            **_field(reader),
            **_times(reader),
            default_aggregate=reader.attribute("default_aggr"),
            format=reader.attribute("format_string"),
            unit=reader.attribute("unit"),
            min=reader.number("min"),
            max=reader.number("max"),
        ),
    )


def _dim_attribute(reader: ElementReader) -> Data:
    data = present_fields(
        **_field(reader),
        **_times(reader),
        distinct_values=reader.whole("num_distinct_values"),
        join_key=reader.truth("join_key"),
        values=reader.texts("values"),
    )
    references = [
        _reference(reference) for reference in reader.items("references", "table_references", "table_reference")
    ]
    chain = _chain_fields(reader)
    for spec in reader.children("ref_spec"):
        references += [_reference(reference) for reference in spec.items("table_references", "table_reference")]
        chain += _chain_fields(spec)
        spec.end()
    return _ended(reader, data | present_fields(references=references, chain=chain))


def _chain_fields(reader: ElementReader) -> list[Data]:
    found = []
    for one in reader.children("chain_ref_column"):
        one.attribute("dest_table")  # which Lens fills in
        found.append(_ended(one, present_fields(chain=one.attribute("chain_name"), field=one.attribute("ref_col"))))
    return found


def _reference(reader: ElementReader) -> Data:
    table, column = reader.attribute("table", "dest_table"), reader.attribute("column", "dest_column")
    return _ended(reader, present_fields(table=table, field=column))


def _expression(reader: ElementReader) -> Data:
    specs = [
        _ended(one, present_fields(expression=one.attribute("expr"), **_times(one)))
        for one in reader.children("expr_spec")
    ]
    return _ended(reader, present_fields(**_field(reader), specs=specs))


def _join_chain(reader: ElementReader) -> Data:
    reader.attribute("dest_table")  # which Lens fills in
    paths = []
    for path in reader.items("paths", "path"):
        paths.append([_edge(one) for one in path.items("edges", "edge")])
        path.end()
    return _ended(
        reader, present_fields(name=reader.attribute("name"), **_described(reader), tags=_tags(reader), paths=paths)
    )


def _edge(reader: ElementReader) -> Data:
    edge: Data = {}
    for end, prefix in (("from", ""), ("to", "to_")):
        for one in reader.children(end):
            many = one.truth("maps_to_many")
            if prefix and many is not None:
                edge["to_many"] = many
            edge |= {f"{prefix}{name}": value for name, value in _reference(one).items()}
    return _ended(reader, edge)


def _table(reader: ElementReader) -> Data:
    return present_fields(
        weight=reader.number("weight"),
        columns=_columns(reader.items("columns", "column")),
        storage_tables=[_storage_table(one) for one in reader.items("storage_tables", "storage_table")],
    )


def _columns(columns: Iterable[ElementReader]) -> list[Data]:
    return [
        _ended(
            column,
            present_fields(
                name=column.attribute("name"),
                type=column.attribute("type", "_type"),
                comment=column.attribute("comment") or None,
                extra=column.truth("extra"),
                **_times(column),
            ),
        )
        for column in columns
    ]


def _storage_table(reader: ElementReader) -> Data:
    data = present_fields(
        storage=next(iter(reader.texts("storage_name")), None),
        update_periods=_names(reader, "update_periods", "update_period"),
    )
    for described in reader.children("table_desc"):
        data |= _table_description(described)
        described.end()
    return _ended(reader, data)


def _table_description(reader: ElementReader) -> Data:
    serde_parameters = present_fields(**{parameter: reader.attribute(name) for name, parameter in _DELIMITERS.items()})
    orders = reader.texts("sort_col_order")
    sorted_by = [
        {"name": name, "descending": orders[at : at + 1] == ["0"]} for at, name in enumerate(reader.texts("sort_cols"))
    ]
    serde = present_fields(
        name=reader.attribute("serde_class_name"),
        library=reader.attribute("serde_library"),
        parameters=serde_parameters | properties(reader, "serde_parameters"),
    )
    description = present_fields(
        location=reader.attribute("table_location"),
        external=reader.truth("external"),
        format=reader.attribute("format"),
        input_format=reader.attribute("input_format"),
        output_format=reader.attribute("output_format"),
        compressed=reader.truth("compressed"),
        serde=serde,
        storage_handler=reader.attribute("storage_handler_name"),
        buckets=reader.whole("num_buckets"),
        bucket_columns=reader.texts("bucket_cols"),
        sort_columns=sorted_by,
        table_properties=properties(reader, "table_parameters"),
    )
    time_columns = [name.strip() for text in reader.texts("time_part_cols") for name in text.split(",")]
    return present_fields(
        partition_columns=_columns(reader.items("part_cols", "column", "columns")),
        time_partition_columns=time_columns,
        description=description,
    )
