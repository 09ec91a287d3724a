"""Which classes a table names for its timelines, and what there is to do where one of them is not there.

A table may not be given a class that there is not. One may be there all the same: from before, or made where another
package is installed. Its partitions are read and changed as ever; only calls about its timelines fail.
"""

from __future__ import annotations

from contextlib import suppress

from hbstore.errors import TimelineError, UnknownTimelineClass
from hbstore.model.objects import Table
from hbstore.store.time_columns import TimeColumns, TimelineName, declared_by, timeline_name
from hbstore.timelines.classes import DEFAULT_CLASS, is_known, timeline_class
from hbstore.timelines.factory import STORAGE_CLASS, property_prefix
from hbstore.timelines.timeline import PartitionTimeline
from hbstore.times.update_period import UpdatePeriod


def check_classes(table: Table, before: Table | None = None) -> None:
    """See that the classes that a table names for its timelines are there.

    Args:
        table: as it is to be.
        before: as it is; what it names may stay.

    Raises:
        UnknownTimelineClass: one is not.
        UnknownUpdatePeriod, TimelineMismatch: its parameters declare what cannot be.
    """
    old: dict[TimelineName, str | None] = {}
    if before is not None:
        with suppress(TimelineError):
            old = _named(before)
    for timeline, name in _named(table).items():
        if name is None or (timeline in old and old[timeline] == name):
            continue
        try:
            timeline_class(name)
        except UnknownTimelineClass as error:
            error.fields = {"table": table, "timeline": timeline, **error.fields}
            raise


def timeline_class_in(
    columns: TimeColumns, period: UpdatePeriod, column: str, name: str | None
) -> type[PartitionTimeline]:
    """The class of a table's timeline.

    Raises:
        UnknownTimelineClass: there is none of that name; the hint says how to choose another.
    """
    try:
        return timeline_class(name)
    except UnknownTimelineClass as error:
        error.fields = {"table": columns.table, "timeline": timeline_name(period, column), **error.fields}
        error.hint = (
            f"Install the package of the class, or choose another class: `hbstore timeline convert {columns.table}"
            f" --update-period {period.name} --column {column} --class {DEFAULT_CLASS.__name__}`"
        )
        raise


def class_parameter(period: UpdatePeriod, column: str) -> str:
    """The parameter of a table that names the class of a timeline."""
    return f"{property_prefix(period, column)}{STORAGE_CLASS}"


def unknown_classes(columns: TimeColumns) -> dict[str, str]:
    """The parameters of a table that name classes that there are not, and these."""
    parameters = columns.table.parameters
    keys = [class_parameter(period, column) for _, period, column in columns.names()]
    return {key: parameters[key] for key in keys if not is_known(parameters.get(key))}


def _named(table: Table) -> dict[TimelineName, str | None]:
    declared = declared_by(table)
    if declared is None:
        return {}
    return {
        timeline_name(period, column): table.parameters.get(class_parameter(period, column))
        for period in declared.periods
        for column in declared.columns
    }
