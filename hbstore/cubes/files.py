"""Documents of the model in files: YAML, JSON and Lens's XML.

>>> documents = parse_documents('[{"kind": "storage", "name": "s1"}, {"kind": "storage", "name": "s2"}]', "json")
>>> print(write_documents(documents), end="")
---
kind: storage
name: s1
---
kind: storage
name: s2
>>> parse_documents(write_documents(documents), "yaml") == documents
True
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from pydantic import ValidationError

from hbstore.cubes.concepts import Cube, DerivedCube, Dimension, Storage
from hbstore.cubes.document import Named, invalid_model
from hbstore.cubes.lens_xml import read_model, write_lens
from hbstore.cubes.logical_tables import DimTable, Fact
from hbstore.cubes.texts import MAX_TEXT, dump_json, dump_yaml, line_of, load_json, load_yaml, read_text, saying_line
from hbstore.cubes.xml_tree import parse_xml
from hbstore.errors import HbstoreError, InvalidModel, did_you_mean
from hbstore.texts.arguments import expect, expect_choice, expect_many

Format: TypeAlias = Literal["yaml", "json", "xml"]

CLASSES: Final[Mapping[str, type[Named]]] = {
    one.kind: one for one in (Storage, Cube, DerivedCube, Dimension, Fact, DimTable)
}
"""The kinds of documents, in an order in which each refers to those before it."""

KINDS: Final = tuple(CLASSES)
ENDINGS: Final[Mapping[str, Format]] = {".yaml": "yaml", ".yml": "yaml", ".json": "json", ".xml": "xml"}


def read_documents(path: str | Path) -> list[Named]:
    r"""The documents of a file, whose ending says what it is: .yaml, .yml, .json or .xml.

    Raises:
        InvalidModel: it cannot be read, or holds something that is no document; the error names file and place.

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "model.yaml")
    >>> _ = file.write_text("kind: storage\nname: lake")
    >>> read_documents(file)
    [<Storage lake>]
    """
    return parse_documents(*read_text(path, ENDINGS, InvalidModel), file=str(path))


def parse_documents(text: str, format: Format, *, file: str = "<text>") -> list[Named]:
    """The documents of a text, in its order.

    Args:
        text: one or several documents: YAML's are divided by ``---``, JSON's stand in a list, XML's in ``x_model``.
        format: which of the three.
        file: what errors call it.

    Raises:
        InvalidModel: it does not parse, or holds something that is no document; the error names the place.

    >>> parse_documents("{kind: storage, name: lake}", "yaml")
    [<Storage lake>]
    """
    check_text(text, format)
    if format == "xml":
        described = list(read_model(parse_xml(text, file), file))
    else:
        described = []
        for number, data in enumerate(load(text, format, file), 1):
            with saying_line(text, format, number):
                described.append(_kind_and_data(data, file, number))
    documents = []
    for number, (kind, data) in enumerate(described, 1):
        with saying_line(text, format, number):
            documents.append(make(kind, data, file=file, document=number))
    return documents


def note_place(error: HbstoreError, files: Iterable[str | Path]) -> None:
    """Say in an error about a description in which of some files it stands, and on which line. O(texts)."""
    name = str(error.fields.get("name", "")).rpartition(".")[2]
    kind = error.fields.get("kind")
    for file in files:
        text, format_ = read_text(file, ENDINGS, InvalidModel)
        for number, document in enumerate(parse_documents(text, format_), 1):
            if document.name == name and kind in (None, document.kind):
                line = line_of(text, format_, number, str(error.fields.get("at", "")))
                place = {"file": str(file)} if line is None else {"file": str(file), "line": line}
                error.fields = {**place, **error.fields}
                return


def write_documents(documents: Iterable[Named], format: Format = "yaml") -> str:
    """Documents as a text that `parse_documents` reads as the same.

    Raises:
        InvalidModel: XML has no place for something that a document says.

    >>> write_documents(parse_documents("{kind: storage, name: lake}", "yaml")).splitlines()
    ['---', 'kind: storage', 'name: lake']
    """
    expect_choice("format", format, *get_args(Format))
    ones = expect_many("documents", documents, Named, hint="Give a list of documents")
    if format == "xml":
        return _xml_of(ones)
    return {"yaml": dump_yaml, "json": dump_json}[format](one.to_dict() for one in ones)


def _xml_of(documents: list[Named]) -> str:
    for document in documents:
        try:
            same = parse_documents(write_lens([document]), "xml") == [document]
        except InvalidModel as error:
            raise _not_in_xml(document, error) from None
        if not same:
            raise _not_in_xml(document, None)
    return write_lens(documents)


def _not_in_xml(document: Named, error: InvalidModel | None) -> InvalidModel:
    return InvalidModel(
        "Lens's XML cannot hold the description as it is",
        kind=document.kind,
        name=document.name,
        reason=None if error is None else error.text,
        hint="Write it as YAML or JSON",
    )


def in_order(documents: Iterable[Named]) -> list[Named]:
    """Documents in an order in which each refers to those before it.

    >>> in_order([DerivedCube(name="fares", parent="rides"), Cube(name="rides")])
    [<Cube rides>, <DerivedCube fares>]
    """
    return sorted(documents, key=lambda one: KINDS.index(one.kind))


def checked_kind(kind: str) -> str:
    """The kind itself.

    Raises:
        InvalidModel: it is none of `KINDS`.
    """
    if not isinstance(kind, str) or kind not in KINDS:
        raise _unknown_kind(kind)
    return kind


def _unknown_kind(kind: object, **where: Any) -> InvalidModel:
    return InvalidModel(
        "the kind of the description is unknown",
        **where,
        found="nothing" if kind is None else kind if isinstance(kind, str) else repr(kind),
        expected=", ".join(KINDS),
        hint=did_you_mean(str(kind), KINDS, "Use one of the expected kinds"),
    )


def make(kind: str, data: Mapping[str, Any], **where: object) -> Named:
    """The document of a kind and data.

    Raises:
        InvalidModel: the data make none; ``where`` is part of the error.
    """
    try:
        return CLASSES[kind].model_validate(data)
    except ValidationError as error:
        raise invalid_model(error, CLASSES[kind], **where, kind=kind) from None


def check_text(text: str, format: Format) -> None:
    """See that what is to be parsed is a text, and its format the name of one.

    Raises:
        InvalidInput: it is not.
    """
    expect("text", text, str, hint="Give the text of documents; read_documents reads a file")
    expect("format", format, str, hint=f"Give one of {', '.join(get_args(Format))}")


def load(text: str, format: Format, file: str) -> list[Any]:
    """The plain data of a YAML or JSON text.

    Raises:
        InvalidModel: it does not parse, or is too long.
    """
    if format not in get_args(Format):
        raise InvalidModel(
            "the format is unknown",
            file=file,
            found=format,
            expected=", ".join(get_args(Format)),
            hint="Use one of the expected formats",
        )
    if len(text) > MAX_TEXT:
        raise InvalidModel(
            "the text is too long", file=file, characters=len(text), limit=MAX_TEXT, hint="Split it into several files"
        )
    return load_yaml(text, file) if format == "yaml" else load_json(text, file)


def _kind_and_data(document: Any, file: str, number: int) -> tuple[str, dict[str, Any]]:
    if not isinstance(document, dict):
        raise InvalidModel(
            "the document is not a mapping",
            file=file,
            document=number,
            at="the whole document",
            found=type(document).__name__,
            hint="Write keys with values, and the key kind among them",
        )
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in CLASSES:
        raise _unknown_kind(kind, file=file, document=number, at="kind")
    return kind, {key: value for key, value in document.items() if key != "kind"}
