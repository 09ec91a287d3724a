"""What people do about publications that are stuck: finish those of a table, or give one up."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from hbstore.console.rendering import page
from hbstore.publishing.open_publications import abandon_publication, finish_publications
from hbstore.warehouse.service import Service
from hbstore.web.catalog.changing import writable

_SEE_OTHER = 303


def publication_pages(catalog: Service) -> list[Route]:
    """The answers to the buttons of the page about the server. A server that is read-only refuses them."""
    check = writable(catalog)

    def finish(request: Request) -> Response:
        check()
        finish_publications(catalog.store, request.path_params["table"])
        return RedirectResponse("/status#stuck", status_code=_SEE_OTHER)

    def abandon(request: Request) -> Response:
        check()
        table, publication = request.path_params["table"], request.path_params["id"]
        left = abandon_publication(catalog.store, table, publication)
        return page(request, "given_up.html", title="Given up", table=table, publication=publication, left=left)

    return [
        Route("/publications/{table}/finish", finish, methods=["POST"]),
        Route("/publications/{table}/{id}/abandon", abandon, methods=["POST"]),
    ]
