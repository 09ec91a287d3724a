"""XML as a tree of plain elements, each with its line; without document types, entities and their expansion.

An element is read so that nothing in it is passed over:

>>> root = parse_xml("<x_storage name='s1' colour='red'><properties/></x_storage>", "s1.xml")
>>> root.tag, root.attributes, [child.tag for child in root.children]
('x_storage', {'name': 's1', 'colour': 'red'}, ['properties'])
>>> reader = ElementReader(root, "s1.xml")
>>> reader.attribute("name")
's1'
>>> reader.end()
Traceback (most recent call last):
    ...
hbstore.errors.InvalidModel: the XML has an unknown element or attribute: file=s1.xml, line=1, at=x_storage, \
found=attribute colour. Remove it, or correct its name
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from typing import Final
from xml.parsers.expat import ExpatError, ParserCreate

from hbstore.errors import InvalidModel

MAX_DEPTH: Final = 50
"""Elements within each other."""

UNSUPPORTED: Final = {
    "virtual_fact_table": ("virtual facts", "Describe the underlying fact, and filter in the query"),
    "virtual_fact": ("virtual facts", "Describe the underlying fact, and filter in the query"),
    "segmentation": ("segmentations", "Query each of its cubes"),
    "update_period_table_descriptor": (
        "a table for each update period of a storage",
        "Make a storage for each such table, with the update_period of that table alone",
    ),
    "skewed_info": ("skewed tables", "Remove it: only Hive's own writers use it"),
}
"""Elements of Lens that are refused, by their tags without ``x_``: what they are, and what to do instead."""


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

    def characters(text: str) -> None:
        path[-1].text += text

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


class ElementReader:
    """Reads one element; what nobody asked for in it is refused at the end.

    Args:
        element: the element.
        file: where it is from.
        at: the tags around it.
    """

    def __init__(self, element: Element, file: str, at: str = "") -> None:
        self.element = element
        self.file = file
        self.at = f"{at}/{element.tag}"
        self._attributes = dict(element.attributes)
        self._children = list(element.children)

    def attribute(self, *names: str) -> str | None:
        """An attribute by any of its names; None if there is none of them."""
        values = [self._attributes.pop(name) for name in names if name in self._attributes]
        return values[0] if values else None

    def number(self, *names: str, kind: type[float] = float) -> float | str | None:
        """An attribute as a number; a text that is none is left to the document to refuse."""
        text = self.attribute(*names)
        with suppress(ValueError):
            return None if text is None else kind(text)
        return text

    def whole(self, *names: str) -> float | str | None:
        """An attribute as a whole number, in the same way."""
        return self.number(*names, kind=int)

    def truth(self, *names: str) -> bool | str | None:
        """An attribute as true or false, in the same way."""
        text = self.attribute(*names)
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text) if text else None

    def items(self, list_tag: str | None, *tags: str) -> list[ElementReader]:
        """The elements in it of any of some tags, or those in its lists of a tag, where they may be called like it."""
        if list_tag is not None:
            lists = self.items(None, list_tag)
            items = [item for reader in lists for item in reader.items(None, list_tag, *tags)]
            for reader in lists:
                reader.end()
            return items
        taken = [child for child in self._children if child.tag in tags]
        self._children = [child for child in self._children if child.tag not in tags]
        return [ElementReader(child, self.file, self.at) for child in taken]

    def texts(self, *tags: str, list_tag: str | None = None) -> list[str]:
        """The texts of such elements, without white space around them."""
        items = self.items(list_tag, *tags)
        for item in items:
            item.end()
        return [item.element.text.strip() for item in items]

    def end(self) -> None:
        """See that nothing is left.

        Raises:
            InvalidModel: there is an attribute or an element that is not known here.
        """
        if self._attributes:
            raise self.error(f"attribute {min(self._attributes)}")
        if self._children:
            if self._children[0].tag in UNSUPPORTED:
                raise self.unsupported(self._children[0])
            raise self.error(f"element {self._children[0].tag}", self._children[0])

    def unsupported(self, element: Element) -> InvalidModel:
        """The error for something that is known, and that the model does not have."""
        what, hint = UNSUPPORTED[element.tag.removeprefix("x_")]
        return InvalidModel(
            f"hbstore does not support {what}",
            file=self.file,
            line=element.line,
            at=self.at.removeprefix("/"),
            found=f"element {element.tag}",
            hint=hint,
        )

    def wrong_root(self, what: str, expected: str) -> InvalidModel:
        """The error for an outermost element that is none of those that are read here."""
        return InvalidModel(
            f"the outermost tag of the XML is not {what}",
            file=self.file,
            line=self.element.line,
            found=self.element.tag,
            expected=expected,
            hint="Use one of the expected tags",
        )

    def error(self, what: str, element: Element | None = None) -> InvalidModel:
        """The error for something that is not known here."""
        return InvalidModel(
            "the XML has an unknown element or attribute",
            file=self.file,
            line=(element or self.element).line,
            at=self.at.removeprefix("/"),
            found=what,
            hint="Remove it, or correct its name",
        )
