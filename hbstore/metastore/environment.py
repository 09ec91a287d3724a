"""What clients say beside a call's arguments: the environment context."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hbstore.metastore.calls import Call

_IF_PURGE: Final = "ifPurge"


def environment(call: Call) -> Mapping[str, str]:
    """The properties of a call's environment context; none, where the method or the client has no such thing."""
    return properties_of(getattr(call.arguments, "environment_context", None))


def properties_of(context: Any) -> Mapping[str, str]:
    """The properties of an environment context that may be missing."""
    return {} if context is None else context.properties or {}


def asks_to_purge(properties: Mapping[str, str]) -> bool:
    """Whether a client wants deleted files to pass the trash, whatever the table says.

    >>> asks_to_purge({"ifPurge": "TRUE"}), asks_to_purge({})
    (True, False)
    """
    return properties.get(_IF_PURGE, "").lower() == "true"
