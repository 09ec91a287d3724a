"""Parts of Lens's elements, each of which is read from XML and written to it, so that one table says both.

A shape is the parts of an element in the order in which they are written. What is read is the data of a document, and
what is written is read as the same.

>>> from hbstore.cubes.xml_tree import parse_xml, write_xml
>>> shape = (attribute("name"), attribute("type", "type", "_type"), texts("values", "values"))
>>> element = parse_xml("<dim_attribute name='size' _type='string'><values>S</values></dim_attribute>", "a.xml")
>>> read_shape(shape, ElementReader(element, "a.xml"))
{'name': 'size', 'type': 'string', 'values': ['S']}
>>> print(write_xml(write_shape(shape, {"name": "size", "values": ["S"]}, "dim_attribute")), end="")
<dim_attribute name="size">
  <values>S</values>
</dim_attribute>
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hbstore.cubes.xml_tree import Element, ElementReader

Data: TypeAlias = dict[str, Any]

_LOG: Final = logging.getLogger("hbstore.cubes")
_READ_BY_PEOPLE: Final = ("description", "display", "tags")


@dataclass(frozen=True, slots=True)
class Part:
    """What an element says of a field, or of some.

    Attributes:
        read: the fields that an element says; those that it does not are left out.
        write: puts what the fields of some data say into an element.
    """

    read: Callable[[ElementReader], Data]
    write: Callable[[Mapping[str, Any], Element], None]


Shape: TypeAlias = Sequence[Part]


def read_shape(shape: Shape, reader: ElementReader) -> Data:
    """The data of an element.

    Raises:
        InvalidModel: it holds something that is none of the parts.
    """
    data = read_parts(shape, reader)
    reader.end()
    return data


def read_parts(shape: Shape, reader: ElementReader) -> Data:
    """The data of those parts of an element alone."""
    return {name: value for part in shape for name, value in part.read(reader).items()}


def write_shape(shape: Shape, data: Mapping[str, Any], tag: str) -> Element:
    """The element of some data."""
    element = Element(tag, {}, 0)
    write_parts(shape, data, element)
    return element


def write_parts(shape: Shape, data: Mapping[str, Any], element: Element) -> None:
    """Put what some data say into an element."""
    for part in shape:
        part.write(data, element)


def present(field: str, value: object) -> Data:
    """A field, unless it has no value."""
    return {} if value is None or value in ([], {}) else {field: value}


def append(element: Element, items: Iterable[Element], list_tag: str | None = None) -> None:
    """Put items into an element, or into a list in it; there is no list where it would be empty."""
    children = list(items)
    if children:
        element.children += children if list_tag is None else [Element(list_tag, {}, 0, children)]


def attribute(field: str, *names: str, take: Callable[..., object] = ElementReader.attribute) -> Part:
    """An attribute by any of its names, or by the field's; the first is written. `take` reads it."""
    names = names or (field,)

    def write(data: Mapping[str, Any], element: Element) -> None:
        value = data.get(field)
        if value is not None:
            element.attributes[names[0]] = str(value).lower() if isinstance(value, bool) else str(value)

    return Part(lambda reader: present(field, take(reader, *names)), write)


def ignored(name: str, *tags: str) -> Part:
    """An attribute, or a list of elements of some tags, that Lens fills in, and that says what others say."""

    def read(reader: ElementReader) -> Data:
        _ = reader.items(name, *tags) if tags else reader.attribute(name)
        return {}

    return Part(read, lambda _data, _element: None)


def texts(field: str, *tags: str, list_tag: str | None = None) -> Part:
    """Elements of any of some tags, perhaps in a list, whose texts are the values of a field; the first is written."""

    def write(data: Mapping[str, Any], element: Element) -> None:
        append(element, (Element(tags[0], {}, 0, [], text) for text in data.get(field, ())), list_tag)

    return Part(lambda reader: present(field, reader.texts(*tags, list_tag=list_tag)), write)


def elements(
    field: str,
    shape: Shape,
    *tags: str,
    list_tag: str | None = None,
    distinct: Callable[[ElementReader, Iterable[Data]], list[Data]] = lambda _, items: list(items),
) -> Part:
    """Elements of a shape, which are the values of a field; `distinct` leaves out what may stand there twice."""

    def read(reader: ElementReader) -> Data:
        return present(field, distinct(reader, (read_shape(shape, one) for one in reader.items(list_tag, *tags))))

    def write(data: Mapping[str, Any], element: Element) -> None:
        append(element, (write_shape(shape, value, tags[0]) for value in data.get(field, ())), list_tag)

    return Part(read, write)


def properties(field: str, list_tag: str, *tags: str, names: tuple[str, str] = ("name", "value")) -> Part:
    """A list of names and values, which are a mapping. No name may stand there twice."""
    tags = tags or ("property",)

    def read(reader: ElementReader) -> Data:
        values: Data = {}
        for item in reader.items(list_tag, *tags):
            name, value = map(item.attribute, names)
            item.end()
            if name is None or value is None:
                raise item.error(f"a {tags[0]} without a {names[0]} or a {names[1]}")
            if name in values:
                raise item.error(f"{tags[0]} {name} twice")
            values[name] = value
        return present(field, values)

    def write(data: Mapping[str, Any], element: Element) -> None:
        pairs = data.get(field, {}).items()
        append(element, (Element(tags[0], dict(zip(names, pair, strict=True)), 0) for pair in pairs), list_tag)

    return Part(read, write)


def within(tag: str, shape: Shape) -> Part:
    """An element that says fields of what is around it; of several, the last that says one counts."""

    def read(reader: ElementReader) -> Data:
        return {name: value for one in reader.items(None, tag) for name, value in read_shape(shape, one).items()}

    return Part(read, lambda data, element: append(element, [write_shape(shape, data, tag)]))


def grouped(field: str, shape: Shape) -> Part:
    """Parts of an element that say fields within a field."""
    return Part(
        lambda reader: present(field, read_parts(shape, reader)),
        lambda data, element: write_parts(shape, data.get(field, {}), element),
    )


def each_once(reader: ElementReader, declared: Iterable[Data]) -> list[Data]:
    """What is declared, without equal repeats. Of those that are described differently, a warning says which counts.

    Lens repeats an attribute in each hierarchy that it is a part of, and takes two declarations that differ in nothing
    but what people read of them: the first counts. Two meanings under one name stay two, so that the document is
    refused.
    """
    first: dict[str, Data] = {}
    others: list[Data] = []
    for declaration in declared:
        known = first.setdefault(str(declaration.get("name")).lower(), declaration)
        if _meaning(known) != _meaning(declaration):
            others.append(declaration)
        elif known != declaration:
            text = "%s, line %d: %s is declared more than once, and described differently; the first declaration counts"
            _LOG.warning(text, reader.file, reader.element.line, declaration.get("name"))
    return [*first.values(), *others]


def _meaning(declared: Data) -> Data:
    """What a declaration says to queries; names and types have no case."""
    meaning = {name: value for name, value in declared.items() if name not in _READ_BY_PEOPLE}
    return meaning | {name: str(meaning[name]).lower() for name in ("name", "type") if name in meaning}
