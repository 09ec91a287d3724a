r"""Options of cube queries in files: Java's properties, TOML, JSON, YAML, and the XML in which Lens keeps them.

>>> options_in("join_type = inner", "properties", "some.properties")
{'join_type': 'inner'}
>>> options_in('[facts]\nrides = "daily"\n', "toml", "some.toml")
{'facts.rides': 'daily'}
>>> xml = "<configuration><property><name>partial</name><value>true</value></property></configuration>"
>>> options_in(xml, "xml", "lens-site.xml")
{'partial': 'true'}
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from os import PathLike
from typing import Any, Final

from hbstore.cubes.texts import load_json, load_yaml, read_text
from hbstore.cubes.xml_tree import parse_xml
from hbstore.errors import InvalidInput
from hbstore.texts.properties_file import read_properties

_ENDINGS: Final = {
    ".properties": "properties",
    ".conf": "properties",
    ".toml": "toml",
    ".json": "json",
    ".yaml": "yaml",
    ".yml": "yaml",
    ".xml": "xml",
}


def read_options(path: str | PathLike[str]) -> dict[str, str]:
    """The options in a file, whose ending says how it is written; not yet looked at.

    Raises:
        InvalidInput: it cannot be read, or holds other things than names and values.
        InvalidModel: its JSON, YAML or XML does not parse.
    """
    text, form = read_text(path, _ENDINGS, InvalidInput)
    return options_in(text, form, str(path))


def options_in(text: str, form: str, file: str) -> dict[str, str]:
    """The options in a text; a name in a section has the section's name and a dot before it."""
    if form == "properties":
        return read_properties(text, file)
    options: dict[str, str] = {}
    for document in _PARSERS[form](text, file):
        if not isinstance(document, Mapping):
            raise _not_options(file, "the whole file")
        for name, value in _flat(document, "", file):
            if name in options:
                raise InvalidInput("the file names an option twice", file=file, option=name, hint="Name it once")
            options[name] = value
    return options


def _flat(some: Mapping[str, Any], before: str, file: str) -> Iterator[tuple[str, str]]:
    for name, value in some.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.", file)
        elif isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield f"{before}{name}", ",".join(value)
        elif isinstance(value, str | bool | int | float):
            yield f"{before}{name}", value if isinstance(value, str) else json.dumps(value)
        else:
            raise _not_options(file, f"{before}{name}")


def _load_toml(text: str, file: str) -> list[Any]:
    try:
        return [tomllib.loads(text)]
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput("the file is not TOML", file=file, reason=str(error), hint="Correct it there") from None


def _load_xml(text: str, file: str) -> Iterator[dict[str, str]]:
    """The properties of Hadoop's XML, each by itself."""
    root = parse_xml(text, file)
    for one in root.children:
        parts = {part.tag: part.text.strip() for part in one.children}
        if root.tag != "configuration" or one.tag != "property" or not {"name", "value"} <= parts.keys():
            raise _not_options(file, f"line {one.line}")
        yield {parts["name"]: parts["value"]}


_PARSERS: Final[Mapping[str, Callable[[str, str], Iterable[Any]]]] = {
    "json": load_json,
    "toml": _load_toml,
    "xml": _load_xml,
    "yaml": load_yaml,
}


def _not_options(file: str, at: str) -> InvalidInput:
    return InvalidInput(
        "the file holds something that is not the name and the value of an option",
        file=file,
        at=at,
        hint='Write {"join_type": "inner"}, or in XML <configuration><property><name>… as Hadoop does',
    )
