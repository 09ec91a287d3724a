"""The endpoint of `hbstore serve`: all handlers put together."""

from __future__ import annotations

from hbstore.metastore import service_calls
from hbstore.metastore.calls import Endpoint, Handlers, Observer, Service, endpoint

MODULES = {
    "service_calls": service_calls.handlers,
}
"""The modules that answer methods."""


def metastore(service: Service, observe: Observer) -> Endpoint:
    """The endpoint over a store and a warehouse."""
    modules: dict[str, Handlers] = MODULES
    return endpoint(service, modules, observe)
