"""The model of a database as a resource: storages, cubes, derived cubes, dimensions, facts, dimension tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool

from hbstore.cubes import KINDS, Cubes, Named, Step
from hbstore.cubes.files import Format
from hbstore.errors import InvalidInput, ModelNotFound
from hbstore.warehouse.service import Service
from hbstore.web.asked_form import asked_form
from hbstore.web.catalog.catalog_routes import DATABASE
from hbstore.web.catalog.changing import writable
from hbstore.web.cubes.model_forms import (
    MEDIA_TYPES,
    ModelFormQuery,
    body_of,
    documents_in,
    documents_reply,
    text_of,
    written,
)
from hbstore.web.versions import check_absent, check_there, content_reply, matching, tag_of

MODEL: Final = f"{DATABASE}/model"
_ENTITY: Final = MODEL + "/{kind}/{name}"
_EXAMPLE: Final = {"kind": "storage", "name": "lake", "endpoint": "s3://lake"}
_CREATED: Final = 201

Kinds = StrEnum("Kinds", {f"{kind}s".upper(): f"{kind}s" for kind in KINDS})  # type: ignore[misc]
"""The kinds of entities as addresses name them: ``facts``."""


class StepDocument(BaseModel):
    """What was done about a description, or would be: create, alter, or keep one that is as it is to be."""

    kind: str
    name: str
    action: Literal["create", "alter", "keep"]


class StepsDocument(BaseModel):
    """What was done in this order; with ``check`` what would be."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"check": True, "steps": [{"kind": "storage", "name": "lake", "action": "create"}]}]
        }
    )

    check: bool = Field(description="whether nothing was changed")
    steps: list[StepDocument]

    @classmethod
    def of(cls, steps: Sequence[Step], *, check: bool) -> StepsDocument:
        """The document of some steps."""
        found = [StepDocument(kind=one.document.kind, name=one.document.name, action=one.action.value) for one in steps]
        return cls(check=check, steps=found)


class DroppedEntity(BaseModel):
    """What was dropped, with its tables and their partitions; files are not touched."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"kind": "fact", "name": "rides_daily"}]})

    kind: str
    name: str


def model_routes(service: Service) -> APIRouter:
    """The routes that read the model."""
    router, store = APIRouter(tags=["cubes"]), service.store

    @router.get(MODEL, response_class=Response, responses=_replies([_EXAMPLE]))
    def model(
        request: Request,
        database: str,
        *,
        kind: Annotated[Kinds | None, Query(description="only of this kind")] = None,
        format: ModelFormQuery = None,
    ) -> Response:
        """All descriptions in an order in which they can be created; POST takes them back."""
        store.get_database(database)
        cubes = Cubes(store, database)
        kinds = KINDS if kind is None else (_singular(kind),)
        found = [one for each in kinds for one in cubes.list(each)]
        return documents_reply(found, asked_form(request, format, MEDIA_TYPES))

    @router.get(_ENTITY, response_class=Response, responses=_replies(_EXAMPLE))
    def entity(
        request: Request,
        database: str,
        kind: Kinds,
        name: str,
        *,
        users: Annotated[bool, Query(description="say in JSON also what uses it, and its storage tables")] = False,
        format: ModelFormQuery = None,
    ) -> Response:
        """One description. What uses it has no part in its ETag, so that there is none with ``users``."""
        cubes = Cubes(store, database)
        if users:
            return DescribedResponse(cubes.describe(_singular(kind), name))
        return _entity_reply(request, cubes.get(_singular(kind), name), asked_form(request, format, MEDIA_TYPES))

    return router


def model_change_routes(service: Service) -> APIRouter:
    """The routes that change the model."""
    router, store = APIRouter(tags=["cubes"], dependencies=[Depends(writable(service))]), service.store

    @router.post(MODEL, openapi_extra=body_of("descriptions, as `hbstore model create` reads them", [_EXAMPLE]))
    async def put_all(
        request: Request,
        database: str,
        *,
        only: Annotated[Literal["create", "alter"] | None, Query(description="refuse to do anything else")] = None,
        if_not_exists: Annotated[bool, Query(description="with only=create, keep those that are there")] = False,
        check: Annotated[bool, Query(description="say what would be done, and do nothing")] = False,
    ) -> StepsDocument:
        """Create the descriptions that are not there, alter the others. All are checked before the first is put."""
        body = await text_of(request)

        def putting() -> StepsDocument:
            store.get_database(database)
            steps = Cubes(store, database).put(documents_in(body), only=only, if_not_exists=if_not_exists, check=check)
            return StepsDocument.of(steps, check=check)

        return await run_in_threadpool(putting)

    @router.put(_ENTITY, response_class=Response, openapi_extra=body_of("one description", _EXAMPLE))
    async def put(
        request: Request, database: str, kind: Kinds, name: str, *, format: ModelFormQuery = None
    ) -> Response:
        """Create or alter one description. If-Match is compared in the change; ``If-None-Match: *`` only creates."""
        body = await text_of(request)
        form = asked_form(request, format, MEDIA_TYPES)

        def putting() -> Response:
            store.get_database(database)
            return _put(request, Cubes(store, database), _named(body, _singular(kind), name), form)

        return await run_in_threadpool(putting)

    @router.delete(_ENTITY)
    def drop(
        request: Request,
        database: str,
        kind: Kinds,
        name: str,
        *,
        cascade: Annotated[bool, Query(description="drop what uses it, too; of a storage, all tables on it")] = False,
    ) -> DroppedEntity:
        """Drop a description and its storage tables. If-Match is compared in the change."""
        cubes = Cubes(store, database)
        document = cubes.get(_singular(kind), name)
        with matching(request, *_tags(document)) as matched:
            cubes.drop(document.kind, document.name, cascade=cascade, replaces=document if matched else None)
        return DroppedEntity(kind=document.kind, name=document.name)

    return router


class DescribedResponse(Response):
    """The reply with a description and what uses it."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The document as JSON."""
        return json.dumps(content, ensure_ascii=False).encode()


def _put(request: Request, cubes: Cubes, document: Named, form: str) -> Response:
    try:
        old = cubes.get(document.kind, document.name)
    except ModelNotFound:
        check_there(request)
        cubes.put([document], only="create")
        return _entity_reply(request, document, form, status=_CREATED)
    check_absent(request)
    with matching(request, *_tags(old)) as matched:
        cubes.alter(document, replaces=old if matched else None)
    return _entity_reply(request, document, form)


def _named(body: tuple[str, Format], kind: str, name: str) -> Named:
    """The one description in a body, which has to be the one of the address.

    Raises:
        InvalidInput: there are none or several, or it is another.
    """
    documents = documents_in(body)
    if [(one.kind, one.name) for one in documents] != [(kind, name.lower())]:
        raise InvalidInput(
            "the body holds something else than the description of the address",
            found=", ".join(map(str, documents[:3])) or "nothing",
            expected=f"{kind} {name}",
            hint="Send that description alone, or several to the address of the model by POST",
        )
    return documents[0]


def _entity_reply(request: Request, document: Named, form: str, *, status: int = 200) -> Response:
    """The reply with one description, whose ETag is that of its form."""
    tag = _tags(document)[list(MEDIA_TYPES).index(form)]
    reply = content_reply(request, written([document], form), MEDIA_TYPES[form], tag, status=status)
    reply.headers["Vary"] = "Accept"
    return reply


def _tags(document: Named) -> list[str]:
    """The ETags of a description, in each form: any of them names it."""
    return [tag_of(written([document], "json"), form) for form in MEDIA_TYPES]


def _singular(kind: Kinds) -> str:
    return kind.value.removesuffix("s")


def _replies(example: object) -> dict[int | str, dict[str, Any]]:
    content: dict[str, Any] = {kind: {"schema": {}} for kind in MEDIA_TYPES.values()}
    content[MEDIA_TYPES["json"]]["example"] = example
    return {200: {"content": content}}
