"""The service itself: who calls, how it is set, whether it lives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.methods.expressions import EVALUATORS
from hbstore.metastore.protocol import THRIFT
from hbstore.release import VERSION
from hbstore.store.hive.lock_table import TIMEOUT

handlers = Handlers()
_STARTED: Final = int(time.time())
_ALIVE, _WARNING = 2, 5
"""fb303's status of a server where all is well, and where something is wrong."""

_SETTINGS: Final[Mapping[str, str]] = {
    "metastore.batch.retrieve.max": "300",
    "hive.metastore.batch.retrieve.max": "300",
    "hive.metastore.try.direct.sql": "true",
    "hive.metastore.client.capability.check": "false",
    "hive.metastore.callerIsAuthorized": "true",
    "hive.exec.default.partition.name": "__HIVE_DEFAULT_PARTITION__",
    # Clients send heartbeats several times in it, and Trino needs its unit.
    "hive.txn.timeout": f"{TIMEOUT:.0f}s",
    "metastore.txn.timeout": f"{TIMEOUT:.0f}s",
}
"""What clients may ask for by get_config_value and getMetaConf, beside the warehouse's folder."""

_STRICT_TYPES: Final = "hive.metastore.disallow.incompatible.col.type.changes"
_WAREHOUSE: Final = ("hive.metastore.warehouse.dir", "metastore.warehouse.dir")
_SETTABLE: Final = frozenset(
    {
        "hive.metastore.try.direct.sql",
        "hive.metastore.try.direct.sql.ddl",
        "hive.metastore.client.socket.timeout",
        "hive.metastore.partition.name.whitelist.pattern",
        "hive.metastore.callerIsAuthorized",
        *EVALUATORS,
    }
)
"""What a client of HMS may set for its own connection; here it is remembered, and only EVALUATORS change something."""


@handlers.answers("set_ugi")
def set_ugi(call: Call) -> list[str]:
    """Remember who the client says it is; the groups come back, as unsecured metastores answer."""
    call.session.user = call.arguments.user_name
    return list(call.arguments.group_names or ())


@handlers.answers("get_config_value")
def get_config_value(call: Call) -> str:
    """A setting of the server, or what the client takes where there is none.

    Raises:
        ConfigValSecurityException: the name is not one of Hive's, so it might be a secret.
    """
    name, default = call.arguments.name, call.arguments.defaultValue
    if name is None:
        return default or ""
    if not name.startswith(("hive.", "mapred.", "hdfs.", "metastore.")):
        raise THRIFT.ConfigValSecurityException(
            f"{name} cannot be read: clients may read only settings of hive, mapred and hdfs"
        )
    if name in _WAREHOUSE:
        return call.warehouse.root
    if name == _STRICT_TYPES:
        return "true" if call.service.strict_types else "false"
    return _SETTINGS.get(name, default or "")


@handlers.answers("getMetaConf")
def get_meta_conf(call: Call) -> str:
    """A setting of the connection. Raises as `setMetaConf`."""
    key = _settable(call)
    return call.session.settings.get(key) or _SETTINGS.get(key, "")


@handlers.answers("setMetaConf")
def set_meta_conf(call: Call) -> None:
    """Set something for this connection.

    Raises:
        MetaException: it is none that a client may set.
    """
    call.session.settings[_settable(call)] = call.arguments.value or ""


def _settable(call: Call) -> str:
    key: str = call.arguments.key
    if key not in _SETTABLE:
        raise THRIFT.MetaException(f"Invalid configuration key {key}")
    return key


@handlers.answers("flushCache", "shutdown")
def nothing(_: Call) -> None:
    """Caches are validated by themselves, and a client's goodbye ends its own connection only."""


@handlers.answers("get_runtime_stats")
def get_runtime_stats(_: Call) -> list[Any]:
    """None: HiveServer2 keeps what it learns of its queries to itself, and asks for others' when it starts."""
    return []


@handlers.answers("scheduled_query_poll")
def scheduled_query_poll(_: Call) -> Any:
    """No query is due: HiveServer2 asks again and again."""
    return THRIFT.ScheduledQueryPollResponse()


@handlers.answers("getName")
def get_name(_: Call) -> str:
    """What this is."""
    return "hbstore"


@handlers.answers("getVersion")
def get_version(_: Call) -> str:
    """The version of hbstore."""
    return VERSION


@handlers.answers("getStatus")
def get_status(call: Call) -> int:
    """Alive, or a warning; `getStatusDetails` says what is wrong."""
    return _WARNING if call.service.health().problems else _ALIVE


@handlers.answers("getStatusDetails")
def get_status_details(call: Call) -> str:
    """What is wrong, or that all is well."""
    problems = call.service.health().problems
    return "; ".join(f"{name}: {text}" for name, text in problems.items()) or "OK"


@handlers.answers("aliveSince")
def alive_since(_: Call) -> int:
    """When the server started, in seconds since 1970."""
    return _STARTED
