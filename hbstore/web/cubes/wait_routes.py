"""Waiting over HTTP: a request that is answered when nothing of a range of a fact is missing, or a stream of events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from enum import StrEnum
from typing import Annotated, Any, Final

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse

from hbstore.cubes import Cover
from hbstore.errors import HbstoreError
from hbstore.web.asked_form import asked_form
from hbstore.web.cubes.fact_documents import WaitDocument
from hbstore.web.cubes.fact_routes import FACT, FromQuery, TimeDimensionQuery, ToQuery, asked_range
from hbstore.web.cubes.waits import Waits, WaitSource, Wanted
from hbstore.web.problems import problem

LONGEST: Final = 3_600.0
"""Seconds that a request may wait."""

_USUAL: Final = 30.0
_STREAM_ALIVE: Final = 15.0
"""Seconds between two signs of life of a stream, which tell a proxy not to cut it."""

_GONE: Final = 499
_FORMS: Final = {"json": "application/json", "events": "text/event-stream"}


class WaitForm(StrEnum):
    """How an answer comes: at once when there is one, or as a stream of events."""

    JSON = "json"
    EVENTS = "events"


def wait_routes(waits: Waits) -> APIRouter:
    """The route of waits."""
    router = APIRouter(tags=["facts"])

    @router.get(f"{FACT}/wait", response_model=WaitDocument, responses=_examples())
    async def wait(
        request: Request,
        database: str,
        fact: str,
        *,
        start: FromQuery,
        end: ToQuery,
        time_dimension: TimeDimensionQuery = None,
        seconds: Annotated[float, Query(ge=0, le=LONGEST, description="how long to wait at most")] = _USUAL,
        format: Annotated[WaitForm | None, Query(description="json or events; or say it by Accept")] = None,
    ) -> Response:
        """Answer when nothing of a range is missing, or after so many seconds with what is.

        As a stream, there is an event ``waiting`` first, then ``complete``, ``over`` when the time is, or ``error``
        with a problem document, as where the fact is dropped meanwhile.
        """
        source = WaitSource(database.lower(), fact.lower(), time_dimension and time_dimension.lower())
        range_ = Wanted(source, *asked_range(start, end, waits.clock))
        if asked_form(request, format, _FORMS) == "events":
            first = await waits.cover(range_, 0)  # whose error is the reply, not the end of a stream
            events = _events(request, waits, range_, first, seconds)
            return StreamingResponse(events, media_type=_FORMS["events"], headers={"Vary": "Accept"})
        waiting = asyncio.ensure_future(waits.cover(range_, seconds))
        gone = asyncio.ensure_future(_gone(request))
        try:
            await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
            if not waiting.done():
                return Response(status_code=_GONE)  # which nobody reads
            return Response(_document(source, waiting.result()), media_type=_FORMS["json"], headers={"Vary": "Accept"})
        finally:
            waiting.cancel()
            gone.cancel()

    return router


async def _gone(request: Request) -> None:
    """Returns when the client is."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _events(request: Request, waits: Waits, range_: Wanted, first: Cover, seconds: float) -> AsyncIterator[bytes]:
    """Server-sent events of a wait."""
    if first.missing:
        yield _event("waiting", _document(range_.source, first))
    waiting = asyncio.ensure_future(waits.cover(range_, seconds))
    try:
        while not (await asyncio.wait((waiting,), timeout=_STREAM_ALIVE))[0]:
            yield b": nothing changed\n\n"
        cover = waiting.result()
        yield _event("over" if cover.missing else "complete", _document(range_.source, cover))
    except HbstoreError as error:
        yield _event("error", bytes(problem(request.scope, error).body))
    finally:
        waiting.cancel()


def _document(source: WaitSource, cover: Cover) -> bytes:
    return WaitDocument.of(source.fact, cover).model_dump_json(by_alias=True).encode()


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data + b"\n\n"


def _examples() -> dict[int | str, dict[str, Any]]:
    example: Any = WaitDocument.model_config.get("json_schema_extra")
    text = _event("waiting", json.dumps(example["examples"][0]).encode()).decode()
    return {200: {"content": {_FORMS["events"]: {"schema": {"type": "string"}, "example": text}}}}
