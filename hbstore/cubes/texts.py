"""YAML and JSON as plain data: without what could surprise, such as keys that stand twice.

YAML's aliases are refused (a few lines of them can stand for gigabytes), and what looks like a date stays text. The
line on which something stands is looked for when there is an error to tell.
"""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Final, TypeVar

import yaml
from yaml.composer import Composer

from hbstore.errors import HbstoreError, InvalidModel
from hbstore.texts.arguments import expect

F = TypeVar("F")

MAX_TEXT: Final = 16 * 1024 * 1024
"""Characters of a file."""

_TIMESTAMP: Final = "tag:yaml.org,2002:timestamp"


if yaml.__with_libyaml__:  # as in all its wheels: ten times as fast as the parser in Python

    class _Parsing(Composer, yaml.CSafeLoader):
        """Loads YAML by libyaml's parser. Python composes the nodes: deep nesting kills a process that does it in C."""

        def __init__(self, stream: str) -> None:
            yaml.CSafeLoader.__init__(self, stream)
            Composer.__init__(self)
else:
    _Parsing = yaml.SafeLoader  # type: ignore[assignment, misc]


class Loader(_Parsing):
    """Loads YAML's own types, but for times."""

    yaml_implicit_resolvers = {  # noqa: RUF012  PyYAML's own way
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """A node, which is no alias."""
        if self.check_event(yaml.AliasEvent):
            alias: Any = self.peek_event()
            reason = "an alias, which hbstore does not read"
            raise yaml.constructor.ConstructorError(None, None, reason, alias.start_mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
        """A mapping in which each key stands once."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in seen or key.tag == "tag:yaml.org,2002:merge":
                raise yaml.constructor.ConstructorError(
                    None, None, "a key that occurs twice, or is not a text", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


class _Dumper(yaml.SafeDumper):
    """Writes texts so that they are read as the same; PyYAML takes some line ends for spaces."""

    def represent_str(self, data: str) -> yaml.ScalarNode:
        style = None if data.isprintable() else '"'
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _Dumper.represent_str)


def read_text(path: str | PathLike[str], forms: Mapping[str, F], error: type[HbstoreError]) -> tuple[str, F]:
    """A file's text, of at most one character more than `MAX_TEXT`, and its form.

    Args:
        path: of the file.
        forms: by the endings that the file may have.
        error: what is raised.

    Raises:
        HbstoreError: there is no such file, or it is no text, or of another ending.
        InvalidInput: the path is none.
    """
    place = Path(expect("path", path, str, PathLike, hint="Give the path of a file"))
    form = forms.get(place.suffix.lower())
    if form is None:
        raise error(
            "the format of the file is unknown",
            file=str(path),
            expected=", ".join(forms),
            hint="Give the file one of the expected endings",
        )
    try:
        with place.open(encoding="utf-8-sig") as file:
            return file.read(MAX_TEXT + 1), form
    except (OSError, UnicodeDecodeError) as cause:
        hint = "Check that the file exists, that you may read it, and that it is UTF-8"
        raise error("the file cannot be read", file=str(path), reason=str(cause), hint=hint) from None


def load_yaml(text: str, file: str) -> list[Any]:
    """The documents of a YAML text.

    Raises:
        InvalidModel: it is no YAML, or has aliases or a key twice; the error says where.
    """
    try:
        return [one for one in yaml.load_all(text, Loader) if one is not None]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise InvalidModel(
            "the text is not YAML that hbstore can read",
            file=file,
            line=min(mark.line, text.count("\n")) + 1 if mark else None,  # libyaml: the end is a line of its own
            column=mark.column + 1 if mark else None,
            reason=error.problem,
            hint="Correct the text there. Write no aliases, and each key once",
        ) from None
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidModel(
            "the text is not YAML", file=file, reason=str(error).partition("\n")[0], hint="Correct the mistake there"
        ) from None
    except RecursionError:
        raise _too_deep(file) from None


def load_json(text: str, file: str) -> list[Any]:
    """The documents of a JSON text: one object, or a list of them.

    Raises:
        InvalidModel: it is no JSON, or a key stands twice; the error says where.
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidModel("a key occurs twice", file=file, key=twice, hint="Write each key once")
        return mapping

    try:
        documents = json.loads(text, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        raise InvalidModel(
            "the text is not JSON",
            file=file,
            line=error.lineno,
            column=error.colno,
            reason=error.msg,
            hint="Correct the text there",
        ) from None
    except RecursionError:
        raise _too_deep(file) from None
    return documents if isinstance(documents, list) else [documents]


def dump_yaml(documents: Iterable[Any]) -> str:
    """Documents as a YAML text."""
    return yaml.dump_all(documents, Dumper=_Dumper, sort_keys=False, allow_unicode=True, explicit_start=True, width=100)


def dump_json(documents: Iterable[Any]) -> str:
    """Documents as a JSON text: one object, or a list of them."""
    listed = list(documents)
    return json.dumps(listed[0] if len(listed) == 1 else listed, indent=2, ensure_ascii=False) + "\n"


def _too_deep(file: str) -> InvalidModel:
    return InvalidModel("the text is nested too deeply", file=file, hint="Nest lists and mappings less deeply")


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
        documents = list(_nodes(text if format == "yaml" else text.replace("\t", " ")))
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


def _nodes(text: str) -> Iterator[yaml.Node]:
    for node in yaml.compose_all(text, Loader):
        if isinstance(node, yaml.SequenceNode):
            yield from node.value
        elif node.tag != "tag:yaml.org,2002:null":
            yield node
