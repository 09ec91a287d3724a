"""Statements that show and change a table's properties, which the metastore calls its parameters."""

from __future__ import annotations

from dataclasses import replace

from hbstore.ddl.results import Result
from hbstore.ddl.statements import SetProperties, ShowProperties, UnsetProperties
from hbstore.errors import InvalidInput
from hbstore.model.objects import Table
from hbstore.store.partition_store import PartitionStore
from hbstore.store.table_step import TableStep
from hbstore.warehouse.change_times import DDL_TIME, with_ddl_time


def change_properties(store: PartitionStore, table: Table, statement: SetProperties | UnsetProperties) -> Result:
    """Give a table properties, in the place of those that it has of the same names, or take some away.

    Raises:
        TimelineError: they declare timelines that cannot be.
        InvalidInput: it lacks one that is to be taken away, unless IF EXISTS, or one is set twice.

    After all of these nothing was changed.
    """

    def change(step: TableStep) -> None:
        now = step.table
        if isinstance(statement, SetProperties):
            _check_distinct([name for name, _ in statement.properties])
            parameters = {**now.parameters, **dict(statement.properties)}
        else:
            _check_there(now, statement)
            parameters = {name: text for name, text in now.parameters.items() if name not in statement.names}
        if parameters.get(DDL_TIME) == now.parameters.get(DDL_TIME):
            parameters = with_ddl_time({name: value for name, value in parameters.items() if name != DDL_TIME})
        step.alter(replace(now, parameters=parameters))

    store.change(str(table), change)
    return Result(statement)


def show_properties(table: Table, statement: ShowProperties) -> Result:
    """Names and values in order; of a name that the table lacks the text that Spark has in place of its value."""
    shown = sorted(table.parameters.items())
    if statement.name is not None:
        lacking = f"Table {table} does not have property: {statement.name}"
        shown = [(statement.name, table.parameters.get(statement.name, lacking))]
    return Result(statement, ("key", "value"), tuple(shown))


def _check_distinct(names: list[str]) -> None:
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInput("a property is set twice", name=twice[0], hint="Nothing was changed; set it once")


def _check_there(table: Table, statement: UnsetProperties) -> None:
    missing = [name for name in statement.names if name not in table.parameters]
    if missing and not statement.if_exists:
        raise InvalidInput(
            "the table does not have the property",
            table=table,
            name=missing[0],
            hint="Nothing was changed; IF EXISTS skips missing properties",
        )
