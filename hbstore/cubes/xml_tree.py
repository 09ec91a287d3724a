"""XML as a tree of plain elements, each with its line; without document types, entities and their expansion.

>>> root = parse_xml("<x_storage name='s1'><properties/></x_storage>", "s1.xml")
>>> root.tag, root.attributes, [child.tag for child in root.children]
('x_storage', {'name': 's1'}, ['properties'])
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from hbstore.errors import InvalidModel

MAX_DEPTH: Final = 50
"""Elements within each other."""


@dataclass(slots=True)
class Element:
    """An element: its tag without a namespace's prefix, its attributes without those of namespaces, what is in it."""

    tag: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""


def parse_xml(text: str, file: str) -> Element:
    """The tree of a text. O(characters).

    Raises:
        InvalidModel: it is no well-formed XML, is nested too deeply, or has a document type.
    """
    parser = ParserCreate()
    top = Element("", {}, 0)
    path = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(path) > MAX_DEPTH:
            raise InvalidModel(
                "the XML is nested too deeply",
                file=file,
                line=parser.CurrentLineNumber,
                hint="Nest elements less deeply",
            )
        kept = {name: value for name, value in attributes.items() if ":" not in name and name != "xmlns"}
        element = Element(tag.rpartition(":")[2], kept, parser.CurrentLineNumber)
        path[-1].children.append(element)
        path.append(element)

    def end(_: str) -> None:
        path.pop()

    def characters(found: str) -> None:
        path[-1].text += found

    def doctype(*_: object) -> None:
        raise InvalidModel(
            "the XML has a document type",
            file=file,
            line=parser.CurrentLineNumber,
            hint="Remove the <!DOCTYPE …>: hbstore does not expand entities",
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = doctype
    parser.buffer_text = True
    try:
        parser.Parse(text.encode(), True)
    except ExpatError as error:
        why = str(error).partition(":")[0]
        raise InvalidModel(
            "the text is not XML", file=file, line=error.lineno, expected=why, hint="Correct the text at that line"
        ) from None
    except UnicodeEncodeError:
        raise InvalidModel("the text cannot be written as UTF-8", file=file, hint="Remove the lone surrogate") from None
    return top.children[0]


def write_xml(element: Element, indent: str = "") -> str:
    r"""An element as a text that `parse_xml` reads as the same.

    >>> write_xml(Element("a", {"b": "1 < 2\n"}, 0, [Element("c", {}, 0, [], "x & y")]))
    '<a b="1 &lt; 2&#10;">\n  <c>x &amp; y</c>\n</a>\n'
    """
    attributes = "".join(f' {name}="{_escaped(value)}"' for name, value in element.attributes.items())
    head = f"{indent}<{element.tag}{attributes}"
    if element.children:
        within = "".join(write_xml(child, f"{indent}  ") for child in element.children)
        return f"{head}>\n{within}{indent}</{element.tag}>\n"
    return f"{head}>{_escaped(element.text)}</{element.tag}>\n" if element.text else f"{head}/>\n"


def _escaped(text: str) -> str:
    """A text within XML; line ends and tabs by their numbers, as attributes would lose them."""
    return escape(text).translate({ord(one): f"&#{ord(one)};" for one in "\n\r\t"})
