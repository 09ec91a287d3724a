"""Listing partitions by an expression: a filter's text, or Hive's own."""

from __future__ import annotations

from typing import Final

from hbstore.errors import ExpressionUnreadable
from hbstore.metastore.calls import Call, Handlers, NotAnswered
from hbstore.metastore.methods.expressions import selection_of
from hbstore.metastore.methods.filters import EXPRESSION_DIALECT
from hbstore.metastore.methods.listing import note_target, spool_partitions
from hbstore.metastore.methods.partition_specs import one_spec
from hbstore.metastore.naming import database_name
from hbstore.metastore.replies import PartitionList, PartitionSpool
from hbstore.metastore.short_calls import leave_selector
from hbstore.model.layouts import PARTITION
from hbstore.model.objects import Table
from hbstore.thrift.wire import BOOL, ListOf, field_head

handlers = Handlers()

_LIST: Final = field_head(ListOf(PARTITION), 1)
"""The head of a field that is a list: of partitions, and of specs as well."""
_HAS_UNKNOWN: Final = field_head(BOOL, 2)
_STOP: Final = b"\0"


@handlers.answers("get_partitions_by_expr")
def get_partitions_by_expr(call: Call) -> PartitionList:
    """The partitions that an expression selects; more than these, and marked so, where a part of it is not read.

    Raises:
        MetaException: the expression is text, but no filter of this table, or names a column that is none of its.
        NotAnswered: it is Hive's own, and not read: Hive then prunes partitions itself.
    """
    _, spool, unknown = _selected(call)
    return PartitionList(spool, _LIST, _ends(unknown=unknown))


@handlers.answers("get_partitions_spec_by_expr")
def get_partitions_spec_by_expr(call: Call) -> PartitionList:
    """As `get_partitions_by_expr`, in one spec, as Hive 4 asks for them."""
    table, spool, unknown = _selected(call)
    return one_spec(table, spool, before=_LIST, behind=_ends(unknown=unknown))


def _ends(*, unknown: bool) -> bytes:
    return _HAS_UNKNOWN + BOOL.write(unknown) + _STOP


def _selected(call: Call) -> tuple[Table, PartitionSpool, bool]:
    """The table, what is selected of it, and whether that is more than the expression says.

    A limit is not applied to more than was asked for, as it could cut off what the client selects of it.
    """
    request = call.arguments.req
    leave_selector()
    note_target(call, request.dbName, request.tblName, None)
    table = call.store.get_table(database_name(request.dbName), request.tblName or "")
    try:
        selection = selection_of(table, request.expr, request.defaultPartitionName)
    except ExpressionUnreadable as error:
        raise NotAnswered(str(error)) from error
    if selection.unread:
        call.note(unread=[str(error) for error in selection.unread])
    table_read, spool = spool_partitions(
        call,
        request.dbName,
        request.tblName,
        selection.where,
        max_parts=None if selection.unread else request.maxParts,
        like_dialect=EXPRESSION_DIALECT,
    )
    return table_read, spool, bool(selection.unread)
