r"""Properties in files: Java's .properties, or a JSON object of texts.

>>> read_properties("# Sales\na.b = c\\\n    d\nempty\n\\u00fc:1", "some.properties")
{'a.b': 'cd', 'empty': '', 'ü': '1'}
>>> print(write_properties({"a b": " c=d", "ü": "1\n2"}), end="")
a\ b=\ c=d
\u00fc=1\n2
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from hbstore.errors import InvalidInput

_BLANK: Final = " \t\f"
_KEY: Final = re.compile(r"((?:[^\\=: \t\f]|\\.)*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_CONTROLS: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ONCE: Final = "Name it once"
_LETTERS: Final = {control: letter for letter, control in _CONTROLS.items()}


class PropertiesFormat(StrEnum):
    """How a file holds properties."""

    PROPERTIES = "properties"
    JSON = "json"


def read_properties(text: str, file: str) -> dict[str, str]:
    """The properties of a text as java.util.Properties reads it. O(characters).

    Raises:
        InvalidInput: a property occurs twice, or an escape is none; the error names file and line.
    """
    properties: dict[str, str] = {}
    for number, line in _logical_lines(text):
        matched = _KEY.match(line)
        assert matched is not None  # it may be empty
        try:
            key, value = _unescaped(matched[1]), _unescaped(line[matched.end() :])
        except UnicodeError:
            raise InvalidInput(
                "a property has an invalid escape sequence",
                file=file,
                line=number,
                hint=r"Write \\u and four hex digits",
            ) from None
        if key in properties:
            raise InvalidInput("a property occurs twice", file=file, line=number, property=key, hint=_ONCE)
        properties[key] = value
    return properties


def read_json_properties(text: str, file: str) -> dict[str, str]:
    """The properties of a JSON object.

    Raises:
        InvalidInput: it is no JSON, no object, or holds what is no text, or a name twice.

    >>> read_json_properties('{"first": "2015-01-29"}', "some.json")
    {'first': '2015-01-29'}
    """

    def checked(pairs: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in pairs]
        for name, value in pairs:
            if not isinstance(value, str):
                raise InvalidInput(
                    "the value of a property is not a text",
                    file=file,
                    property=name,
                    hint="Put the value into quotation marks",
                )
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInput("a property occurs twice", file=file, property=twice, hint=_ONCE)
        return dict(pairs)

    try:
        properties = json.loads(text, object_pairs_hook=checked)
    except (ValueError, RecursionError) as error:
        hint = 'Write {"NAME": "VALUE"}, or use --format properties'
        raise InvalidInput("the file is not JSON", file=file, reason=str(error), hint=hint) from None
    if not isinstance(properties, dict):
        raise InvalidInput("the file is not a JSON object", file=file, hint='Write {"NAME": "VALUE"}')
    return properties


def write_properties(properties: Mapping[str, str]) -> str:
    """Properties as java.util.Properties reads them, a line for each, in ASCII."""
    return "".join(
        f"{_escaped(name, '=:#! ')}={_escaped(value[:1], ' ')}{_escaped(value[1:], '')}\n"
        for name, value in properties.items()
    )


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with those that they go on in, without comments and blank lines; the number of the first of each."""
    whole, began = "", 0
    for number, line in enumerate(re.split("\r\n|[\n\r]", text), 1):
        piece = line.lstrip(_BLANK)
        if not began:
            if not piece or piece[0] in "#!":
                continue
            began = number
        backslashes = len(piece) - len(piece.rstrip("\\"))
        if backslashes % 2:
            whole += piece[:-1]
            continue
        yield began, whole + piece
        whole, began = "", 0
    if began:
        yield began, whole


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        letter = found[1]
        if letter[0] != "u":
            return _CONTROLS.get(letter, letter)
        if len(letter) == 1:
            raise UnicodeError
        return chr(int(letter[1:], 16))

    # Java's escapes are of UTF-16, where some characters are pairs.
    return _ESCAPED.sub(character, text).encode("utf-16", "surrogatepass").decode("utf-16")


def _escaped(text: str, special: str) -> str:
    def character(char: str) -> str:
        if char in _LETTERS:
            return f"\\{_LETTERS[char]}"
        if char == "\\" or char in special:
            return f"\\{char}"
        if " " <= char <= "~":
            return char
        units = char.encode("utf-16-be", "surrogatepass").hex()
        return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))

    return "".join(map(character, text))
