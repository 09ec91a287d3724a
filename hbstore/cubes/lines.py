"""The line of a file on which a description, or something in it, stands: looked for when there is an error to tell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from hbstore.cubes.texts import Loader
from hbstore.errors import InvalidModel


def line_of(text: str, format: str, number: int, at: str = "") -> int | None:
    r"""The line, from 1, of something in a text of YAML or JSON; None where that is not known. O(text).

    Args:
        text: documents: YAML's are divided by ``---``, or stand in lists as JSON's do.
        format: which of the two.
        number: which document, from 1.
        at: a place within it, such as ``measures.0.type``; of what is not there, the line of what would hold it.

    >>> text = "kind: storage\nname: lake\n---\nkind: cube\nmeasures:\n- type: int\n"
    >>> line_of(text, "yaml", 2), line_of(text, "yaml", 2, "measures.0.type")
    (4, 6)
    """
    if format not in ("yaml", "json"):
        return None
    try:
        documents = list(_documents(text if format == "yaml" else text.replace("\t", " ")))
    except (yaml.YAMLError, RecursionError):
        return None
    if number > len(documents):
        return None
    node = documents[number - 1]
    line = node.start_mark.line
    for part in at.split("."):
        if isinstance(node, yaml.MappingNode):
            inner = next(((key, value) for key, value in node.value if key.value == part), None)
            if inner is None:
                break
            line, node = inner[0].start_mark.line, inner[1]
        elif isinstance(node, yaml.SequenceNode) and part.isdecimal() and int(part) < len(node.value):
            node = node.value[int(part)]
            line = node.start_mark.line
        else:
            break
    return int(line) + 1


@contextmanager
def saying_line(text: str, format: str, number: int) -> Iterator[None]:
    """Errors of a document in a text with their line behind the file."""
    try:
        yield
    except InvalidModel as error:
        line = line_of(text, format, number, str(error.fields.get("at", "")))
        if line is not None:
            error.fields = {"file": error.fields.get("file"), "line": line, **error.fields}
        raise


def _documents(text: str) -> Iterator[yaml.Node]:
    for node in yaml.compose_all(text, Loader):
        if isinstance(node, yaml.SequenceNode):
            yield from node.value
        elif node.tag != "tag:yaml.org,2002:null":
            yield node
