"""Documents of the model as bodies of requests and replies: JSON, YAML, and Lens's XML."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Final

from fastapi import Query, Request, Response

from hbstore.cubes import Named, parse_documents, write_documents
from hbstore.cubes.files import Format
from hbstore.errors import InvalidInput

MEDIA_TYPES: Final[dict[str, str]] = {"json": "application/json", "yaml": "application/yaml", "xml": "application/xml"}
"""Of each form; the first is that of a request which says nothing."""

_SPELLINGS: Final[dict[str, Format]] = {
    **dict.fromkeys(("", "application/json", "text/json"), "json"),
    **dict.fromkeys(("application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"), "yaml"),
    **dict.fromkeys(("application/xml", "text/xml"), "xml"),
}


class ModelForm(StrEnum):
    """How documents are written."""

    JSON = "json"
    YAML = "yaml"
    XML = "xml"


ModelFormQuery = Annotated[ModelForm | None, Query(description="json, yaml or xml (Lens's); or say it by Accept")]


def body_of(what: str, example: object) -> dict[str, Any]:
    """What /docs says of a body in these forms."""
    content: dict[str, Any] = {kind: {"schema": {"description": what}} for kind in MEDIA_TYPES.values()}
    content[MEDIA_TYPES["json"]]["example"] = example
    return {"requestBody": {"required": True, "content": content}}


async def text_of(request: Request) -> tuple[str, Format]:
    """The text of a request's body, and its form, which the Content-Type says.

    Raises:
        InvalidInput: it is of another type, or no UTF-8.
    """
    said = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if said not in _SPELLINGS:
        raise InvalidInput(
            "the body is of an unknown type",
            content_type=said,
            expected=", ".join(MEDIA_TYPES.values()),
            hint="Name one of the expected types in Content-Type",
        )
    try:
        return (await request.body()).decode("utf-8-sig"), _SPELLINGS[said]
    except UnicodeDecodeError as error:
        raise InvalidInput("the body is not UTF-8", reason=str(error), hint="Send the text in UTF-8") from None


def documents_in(body: tuple[str, Format]) -> list[Named]:
    """The documents in a body.

    Raises:
        InvalidModel: it does not parse, or holds something that is no document; the error names the place.
    """
    return parse_documents(*body, file="body")


def written(documents: Sequence[Named], form: str) -> bytes:
    """Documents in a form; `documents_in` reads them as the same."""
    return write_documents(documents, ModelForm(form).value).encode()


def documents_reply(documents: Sequence[Named], form: str) -> Response:
    """The reply with documents; JSON's is a list, however many they are."""
    content = written(documents, form)
    if form == "json" and len(documents) == 1:
        content = b"[" + content.strip() + b"]\n"
    return Response(content, media_type=MEDIA_TYPES[form], headers={"Vary": "Accept"})
