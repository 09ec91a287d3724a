"""Reading an XML element so that nothing in it is passed over.

>>> from hbstore.cubes.xml_tree import parse_xml
>>> reader = ElementReader(parse_xml("<storage name='s1' colour='red'/>", "s1.xml"), "s1.xml")
>>> reader.attribute("name")
's1'
>>> reader.end()
Traceback (most recent call last):
    ...
hbstore.errors.InvalidModel: the XML has an unknown element or attribute: file=s1.xml, line=1, at=storage, \
found=attribute colour. Remove it, or correct its name
"""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from hbstore.cubes.xml_tree import Element
from hbstore.errors import InvalidModel

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
        found = [self._attributes.pop(name) for name in names if name in self._attributes]
        return found[0] if found else None

    def number(self, *names: str) -> float | str | None:
        """An attribute as a number; a text that is none is left to the document to refuse."""
        text = self.attribute(*names)
        with suppress(ValueError):
            return None if text is None else float(text)
        return text

    def whole(self, *names: str) -> int | str | None:
        """An attribute as a whole number, in the same way."""
        text = self.attribute(*names)
        with suppress(ValueError):
            return None if text is None else int(text)
        return text

    def truth(self, *names: str) -> bool | str | None:
        """An attribute as true or false, in the same way."""
        text = self.attribute(*names)
        return {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower(), text) if text else None

    def children(self, *tags: str) -> list[ElementReader]:
        """The elements in it of any of some tags."""
        found = [child for child in self._children if child.tag in tags]
        self._children = [child for child in self._children if child.tag not in tags]
        return [ElementReader(child, self.file, self.at) for child in found]

    def items(self, list_tag: str, *tags: str) -> list[ElementReader]:
        """The elements of the list of a tag."""
        found: list[ElementReader] = []
        for one in self.children(list_tag):
            found += one.children(list_tag, *tags)
            one.end()
        return found

    def texts(self, *tags: str) -> list[str]:
        """The texts of the elements of some tags."""
        found = self.children(*tags)
        for one in found:
            one.end()
        return [one.element.text.strip() for one in found]

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
