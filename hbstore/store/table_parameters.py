"""What a table may be given as parameters that hbstore itself reads."""

from __future__ import annotations

from hbstore.model.objects import Table
from hbstore.model.retention import check_retention
from hbstore.store.timeline_classes import check_classes
from hbstore.texts.arguments import expect_dict


def check_parameters(table: Table, before: Table | None = None) -> None:
    """See that a table's parameters can be read: those about its timelines, and how long it keeps its partitions.

    Args:
        table: as it is to be.
        before: as it is; what an earlier version let it have may stay.

    Raises:
        UnknownTimelineClass: it names a class that there is not.
        UnknownUpdatePeriod, TimelineMismatch: it declares timelines that cannot be.
        InvalidInput: how long partitions are kept cannot be read, or a parameter is no text.
    """
    expect_dict("parameters", table.parameters, str, hint='Give a dict of texts, such as {"owner": "ann"}')
    check_classes(table, before)
    check_retention(table, before)
