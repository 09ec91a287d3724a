"""Catalogs, which Hive 3 put around databases: there is one, ``hive``, and it stays.

Calls that name a catalog beside a database, or before it (``@hive#shop``), mean this one, whatever name they write.
"""

from __future__ import annotations

from typing import Any, Final

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.protocol import THRIFT
from hbstore.thrift.wire import STRING, field_head

handlers = Handlers()
CATALOG: Final = "hive"
IN_CATALOG: Final = field_head(STRING, 9) + STRING.write(CATALOG)
"""The field of a partition that names the catalog: of a later version than 2.3, whose clients pass over it."""

_ONE: Final = "hbstore has one catalog, hive: create databases in it, or serve another store at another port"


@handlers.answers("get_catalogs")
def get_catalogs(_: Call) -> Any:
    """The name of the one."""
    return THRIFT.GetCatalogsResponse(names=[CATALOG])


@handlers.answers("get_catalog")
def get_catalog(call: Call) -> Any:
    """The one, whose folder is the warehouse; it is described as by Hive's own schema, which knows no time of it.

    Raises:
        NoSuchObjectException: another one is asked for.
    """
    _check_name(call.arguments.catName.name)
    catalog = THRIFT.Catalog(
        name=CATALOG, description="Default catalog for Hive", locationUri=call.warehouse.root, createTime=0
    )
    return THRIFT.GetCatalogResponse(catalog=catalog)


@handlers.answers("create_catalog", writes=True)
def create_catalog(call: Call) -> None:
    """Refused.

    Raises:
        AlreadyExistsException: it is to have the name of the one that there is.
        MetaException: it is another one.
    """
    catalog = call.arguments.catalog.catalog
    if catalog is not None and (catalog.name or "").lower() == CATALOG:
        raise THRIFT.AlreadyExistsException(f"Catalog {CATALOG} already exists")
    raise THRIFT.MetaException(_ONE)


@handlers.answers("alter_catalog", writes=True)
def alter_catalog(call: Call) -> None:
    """Refused.

    Raises:
        NoSuchObjectException: there is no such catalog.
        InvalidOperationException: it is the one, which stays as it is.
    """
    _check_name(call.arguments.rqst.name)
    raise THRIFT.InvalidOperationException(f"{_ONE}; its folder is the server's --warehouse")


@handlers.answers("drop_catalog", writes=True)
def drop_catalog(call: Call) -> None:
    """Refused.

    Raises:
        NoSuchObjectException: there is no such catalog.
        MetaException: it is the one.
    """
    _check_name(call.arguments.catName.name)
    raise THRIFT.MetaException(f"Can not drop {CATALOG} catalog")


def _check_name(name: str | None) -> None:
    if (name or "").lower() != CATALOG:
        raise THRIFT.NoSuchObjectException(f"No catalog {name}")
