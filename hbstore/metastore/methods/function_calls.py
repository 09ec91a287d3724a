"""Functions of SQL: the endpoint keeps, lists and returns them; the client that calls them brings their classes."""

from __future__ import annotations

from typing import Any

from hbstore.errors import FunctionNotFound
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.naming import database_name
from hbstore.metastore.protocol import THRIFT
from hbstore.model.service_objects import Function
from hbstore.warehouse.name_patterns import NamePattern

handlers = Handlers()


@handlers.answers("create_function", writes=True)
def create_function(call: Call) -> None:
    """Add a function to a database that is there."""
    call.store.hive.functions.create(call.arguments.func)


@handlers.answers("alter_function", writes=True)
def alter_function(call: Call) -> None:
    """Replace a function; another name or database moves it."""
    arguments = call.arguments
    call.store.hive.functions.alter(database_name(arguments.dbName), arguments.funcName, arguments.newFunc)


@handlers.answers("drop_function", writes=True)
def drop_function(call: Call) -> None:
    """Remove a function."""
    call.store.hive.functions.drop(database_name(call.arguments.dbName), call.arguments.funcName)


@handlers.answers("get_function")
def get_function(call: Call) -> Function:
    """Read a function.

    Raises:
        NoSuchObjectException: there is none, in Hive's words: Spark takes any other text for a failure.
    """
    database, name = database_name(call.arguments.dbName), call.arguments.funcName
    try:
        return call.store.hive.functions.get(database, name)
    except FunctionNotFound as error:
        raise THRIFT.NoSuchObjectException(f"Function {database}.{name} does not exist") from error


@handlers.answers("get_functions")
def get_functions(call: Call) -> list[str]:
    """The names of a database's functions that match a pattern of Hive's."""
    matches = NamePattern.of_hive(call.arguments.pattern).matches
    found = call.store.hive.functions.names(database_name(call.arguments.dbName))
    return [name for name in found if matches(name)]


@handlers.answers("get_functions_req")
def get_functions_req(call: Call) -> Any:
    """A database's functions that match a pattern of Hive's: their names, or with ``returnNames`` false all of them."""
    request = call.arguments.request
    matches, database = NamePattern.of_hive(request.pattern).matches, database_name(request.dbName)
    if request.returnNames is not False:
        names = [name for name in call.store.hive.functions.names(database) if matches(name)]
        return THRIFT.GetFunctionsResponse(function_names=names)
    found = [one for one in call.store.hive.functions.all() if one.database == database.lower() and matches(one.name)]
    return THRIFT.GetFunctionsResponse(functions=found)


@handlers.answers("get_all_functions")
def get_all_functions(call: Call) -> Any:
    """All functions of all databases."""
    return THRIFT.GetAllFunctionsResponse(functions=call.store.hive.functions.all())
