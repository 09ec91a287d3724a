"""Lens's XML as the data that documents are made of.

The outermost tag says what it is: ``x_storage``, ``x_base_cube``, ``x_derived_cube``, ``x_dimension``,
``x_fact_table``, ``x_dimension_table``. Tags inside have no ``x_``. Older spellings are read too: ``x_cube``,
``x_fact``, lists whose items are called like the list, ``_type`` for ``type``. What is not known is refused, never
passed over, but for what Lens itself fills in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

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


def given(**fields: Any) -> Data:
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
    return "storage", given(
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
    return "cube", given(
        name=name,
        **_described(reader),
        time_dimensions=_time_dimensions(name or "", own),
        measures=[_measure(one) for one in reader.items("measures", "measure")],
        **_fields(reader),
        properties=own,
    )


def _derived_cube(reader: ElementReader) -> tuple[str, Data]:
    return "derived_cube", given(
        name=reader.attribute("name"),
        parent=reader.attribute("parent"),
        **_described(reader),
        measures=_names(reader, "measure_names", "measure_name"),
        dim_attributes=_names(reader, "dim_attr_names", "attr_name", "dim_attr_name"),
        properties=properties(reader),
    )


def _dimension(reader: ElementReader) -> tuple[str, Data]:
    return "dimension", given(
        name=reader.attribute("name"), **_described(reader), **_fields(reader), properties=properties(reader)
    )


def _fact(reader: ElementReader) -> tuple[str, Data]:
    own = properties(reader)
    return "fact", given(
        name=reader.attribute("name", "table_name"),
        cube=reader.attribute("cube_name"),
        description=reader.attribute("description"),
        **_times_of_fact(reader, own),
        **_table(reader),
        properties=own,
    )


def _dimtable(reader: ElementReader) -> tuple[str, Data]:
    return "dimtable", given(
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
    return given(description=reader.attribute("description"), display=reader.attribute("display_string"))


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


def _times_of_fact(reader: ElementReader, own: Data) -> Data:
    """The start and the end of a fact, taken out of its properties."""
    times: Data = {}
    for key, name in _FACT_TIMES.items():
        if (text := own.pop(key, None)) is not None:
            if name in times:
                raise reader.error(f"an absolute and a relative {name}")
            # A relative time may be a difference alone: -90 days.
            times[name] = f"now{text.strip()}" if ".relative." in key and text.strip()[:1] in "+-" else text
    return times


def _fields(reader: ElementReader) -> Data:
    attributes = [
        *reader.items("dim_attributes", "dim_attribute"),
        *reader.items("attributes", "dim_attribute", "attribute"),
    ]
    hierarchies: list[Data] = []
    dim_attributes: list[Data] = []
    for one in map(_dim_attribute, _flat(attributes, hierarchies)):
        if one not in dim_attributes:  # Lens repeats an attribute in each hierarchy that it is a part of
            dim_attributes.append(one)
    return given(
        dim_attributes=dim_attributes,
        hierarchies=hierarchies,
        expressions=[_expression(one) for one in reader.items("expressions", "expression")],
        join_chains=[_join_chain(one) for one in reader.items("join_chains", "join_chain")],
    )


def _flat(attributes: Iterable[ElementReader], hierarchies: list[Data]) -> Iterator[ElementReader]:
    """The attributes that are none of others; hierarchies, which are, are put into a list."""
    for one in attributes:
        parts = one.items("hierarchy", "dim_attribute")
        if not parts:
            yield one
            continue
        names = [part.element.attributes.get("name", "") for part in parts]
        found = given(name=one.attribute("name"), **_described(one), tags=_tags(one), attributes=names)
        hierarchies.append(_ended(one, found))
        yield from _flat(parts, hierarchies)


def _tags(reader: ElementReader) -> Data:
    return properties(reader, "tags", "property", "tag")


def _field(reader: ElementReader) -> Data:
    own = given(name=reader.attribute("name"), type=reader.attribute("type", "_type"), tags=_tags(reader))
    return own | _described(reader)


def _times(reader: ElementReader) -> Data:
    return given(start_time=reader.attribute("start_time"), end_time=reader.attribute("end_time"))


def _ended(reader: ElementReader, data: Data) -> Data:
    reader.end()
    return data


def _measure(reader: ElementReader) -> Data:
    return _ended(
        reader,
        given(
            **_field(reader),
            **_times(reader),
            default_aggregate=reader.attribute("default_aggr"),
            format=reader.attribute("format_string"),
            unit=reader.attribute("unit"),
            min=_number(reader.attribute("min")),
            max=_number(reader.attribute("max")),
        ),
    )


def _dim_attribute(reader: ElementReader) -> Data:
    found = given(
        **_field(reader),
        **_times(reader),
        distinct_values=_whole(reader.attribute("num_distinct_values")),
        join_key=_truth(reader.attribute("join_key")),
        values=reader.texts("values"),
    )
    references = [_reference(one) for one in reader.items("references", "table_references", "table_reference")]
    chain = _chain_fields(reader)
    for spec in reader.children("ref_spec"):
        references += [_reference(one) for one in spec.items("table_references", "table_reference")]
        chain += _chain_fields(spec)
        spec.end()
    return _ended(reader, found | given(references=references, chain=chain))


def _chain_fields(reader: ElementReader) -> list[Data]:
    found = []
    for one in reader.children("chain_ref_column"):
        one.attribute("dest_table")  # which Lens fills in
        found.append(_ended(one, given(chain=one.attribute("chain_name"), field=one.attribute("ref_col"))))
    return found


def _reference(reader: ElementReader) -> Data:
    table, column = reader.attribute("table", "dest_table"), reader.attribute("column", "dest_column")
    return _ended(reader, given(table=table, field=column))


def _expression(reader: ElementReader) -> Data:
    specs = [
        _ended(one, given(expression=one.attribute("expr"), **_times(one))) for one in reader.children("expr_spec")
    ]
    return _ended(reader, given(**_field(reader), specs=specs))


def _join_chain(reader: ElementReader) -> Data:
    reader.attribute("dest_table")  # which Lens fills in
    paths = []
    for path in reader.items("paths", "path"):
        paths.append([_edge(one) for one in path.items("edges", "edge")])
        path.end()
    return _ended(reader, given(name=reader.attribute("name"), **_described(reader), tags=_tags(reader), paths=paths))


def _edge(reader: ElementReader) -> Data:
    edge: Data = {}
    for end, prefix in (("from", ""), ("to", "to_")):
        for one in reader.children(end):
            many = _truth(one.attribute("maps_to_many"))
            if prefix and many is not None:
                edge["to_many"] = many
            edge |= {f"{prefix}{name}": value for name, value in _reference(one).items()}
    return _ended(reader, edge)


def _table(reader: ElementReader) -> Data:
    return given(
        weight=_number(reader.attribute("weight")),
        columns=_columns(reader.items("columns", "column")),
        storage_tables=[_storage_table(one) for one in reader.items("storage_tables", "storage_table")],
    )


def _columns(columns: Iterable[ElementReader]) -> list[Data]:
    return [
        _ended(
            one,
            given(
                name=one.attribute("name"),
                type=one.attribute("type", "_type"),
                comment=one.attribute("comment") or None,
                extra=_truth(one.attribute("extra")),
                **_times(one),
            ),
        )
        for one in columns
    ]


def _storage_table(reader: ElementReader) -> Data:
    found = given(
        storage=next(iter(reader.texts("storage_name")), None),
        update_periods=_names(reader, "update_periods", "update_period"),
    )
    for described in reader.children("table_desc"):
        found |= _table_description(described)
        described.end()
    return _ended(reader, found)


def _table_description(reader: ElementReader) -> Data:
    serde_parameters = given(**{parameter: reader.attribute(name) for name, parameter in _DELIMITERS.items()})
    orders = reader.texts("sort_col_order")
    sorted_by = [
        {"name": name, "descending": orders[at : at + 1] == ["0"]} for at, name in enumerate(reader.texts("sort_cols"))
    ]
    serde = given(
        name=reader.attribute("serde_class_name"),
        library=reader.attribute("serde_library"),
        parameters=serde_parameters | properties(reader, "serde_parameters"),
    )
    description = given(
        location=reader.attribute("table_location"),
        external=_truth(reader.attribute("external")),
        format=reader.attribute("format"),
        input_format=reader.attribute("input_format"),
        output_format=reader.attribute("output_format"),
        compressed=_truth(reader.attribute("compressed")),
        serde=serde,
        storage_handler=reader.attribute("storage_handler_name"),
        buckets=_whole(reader.attribute("num_buckets")),
        bucket_columns=reader.texts("bucket_cols"),
        sort_columns=sorted_by,
        table_properties=properties(reader, "table_parameters"),
    )
    time_columns = [name.strip() for text in reader.texts("time_part_cols") for name in text.split(",")]
    return given(
        partition_columns=_columns(reader.items("part_cols", "column", "columns")),
        time_partition_columns=time_columns,
        description=description,
    )


def _number(text: str | None) -> float | str | None:
    """A number; what is none is left to the document to refuse."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return text


def _whole(text: str | None) -> int | str | None:
    try:
        return None if text is None else int(text)
    except ValueError:
        return text


def _truth(text: str | None) -> bool | str | None:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text) if text else None
