"""Query parameters that a route does not have are refused: a misspelt filter selects nothing, not everything."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import Request

from hbstore.errors import InvalidInput, did_you_mean


async def refuse_unknown_parameters(request: Request) -> None:
    """See that a request has only query parameters that its route reads.

    Raises:
        InvalidInput: it has another one.
    """
    route = request.scope["route"]
    is_redirect = route.status_code == HTTPStatus.TEMPORARY_REDIRECT  # whose target looks at them
    if is_redirect or not request.query_params:
        return
    names = list(_names(route.dependant))
    for name in request.query_params:
        if name not in names:
            hint = f"This path takes {', '.join(names) or 'no parameters'}"
            raise InvalidInput(
                "the request has an unknown parameter", parameter=name, hint=did_you_mean(name, names, hint)
            )


def _names(dependant: Any) -> Iterator[str]:
    """The query parameters that a function of FastAPI's and those that it depends on take."""
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _names(inner)
