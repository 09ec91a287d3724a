"""The methods that alter and rename tables; `hbstore.warehouse.tables` does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.environment import environment, properties_of
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.objects import Table
from hbstore.warehouse.tables import ExpectedParameter, change_table

handlers = Handlers()
_EXPECTED_KEY: Final = "expected_parameter_key"
_EXPECTED_VALUE: Final = "expected_parameter_value"
_CASCADE: Final = "CASCADE"


@handlers.answers("alter_table", "alter_table_with_environment_context", "alter_table_with_cascade", writes=True)
def alter_table(call: Call) -> None:
    """Replace all of a table but its partition columns; another name, or database, renames it.

    Raises:
        InvalidOperationException: there is no such table, there is one of the new name, the partition columns differ,
            or a column's type cannot be, or cannot become what it is to be on a server that is strict about that.
        MetaException: a parameter is not what the client expects it to be, the folder cannot be moved, or the table
            would cease to be transactional, or cannot be.
    """
    arguments = call.arguments
    cascade = bool(getattr(arguments, "cascade", None))
    _alter(call, arguments.dbname, arguments.tbl_name, arguments.new_tbl, environment(call), cascade=cascade)


@handlers.answers("alter_table_req", writes=True)
def alter_table_req(call: Call) -> Any:
    """As alter_table; the request has fields for what the environment context of Hive 2.3 says about a parameter.

    Raises:
        InvalidOperationException, MetaException: as of alter_table; the last also without a table.
    """
    request = call.arguments.req
    if request.table is None:
        raise THRIFT.MetaException("the request has no table")
    expected = {_EXPECTED_KEY: request.expectedParameterKey, _EXPECTED_VALUE: request.expectedParameterValue}
    properties = {
        **properties_of(request.environmentContext),
        **{name: text for name, text in expected.items() if text is not None},
    }
    _alter(call, request.dbName, request.tableName, request.table, properties)
    return THRIFT.AlterTableResponse()


def _alter(
    call: Call,
    database: str | None,
    name: str | None,
    new: Table,
    properties: Mapping[str, str],
    *,
    cascade: bool = False,
) -> None:
    target = database_name(database)
    call.note(table=f"{target}.{name}")
    change_table(
        call.store,
        call.warehouse,
        target,
        name or "",
        new,
        properties=properties,
        cascade=cascade or properties.get(_CASCADE) == "true",
        expected=_expected(properties),
        strict_types=call.service.strict_types,
    )


def _expected(properties: Mapping[str, str]) -> ExpectedParameter | None:
    """The parameter that must still be what the client read; None if it does not say."""
    key, value = properties.get(_EXPECTED_KEY), properties.get(_EXPECTED_VALUE)
    return None if key is None or value is None else ExpectedParameter(key, value)
