"""get_partitions_by_expr: pruning by an expression, where it is one that hbstore can read."""

from __future__ import annotations

from typing import Final

from hbstore.layouts import PARTITION
from hbstore.metastore.calls import Call, Handlers
from hbstore.metastore.filters import EXPRESSION_DIALECT, expression_text
from hbstore.metastore.listing import spool_partitions
from hbstore.metastore.replies import PartitionList
from hbstore.wire import BOOL, ListOf, field_head

handlers = Handlers()

_PARTITIONS: Final = field_head(ListOf(PARTITION), 1)
_HAS_UNKNOWN: Final = field_head(BOOL, 2)
_STOP: Final = b"\0"


@handlers.answers("get_partitions_by_expr")
def get_partitions_by_expr(call: Call) -> PartitionList:
    """The partitions that an expression selects, or all of them, marked as unknown; `filters` says when.

    Raises:
        MetaException: the expression is text, but no filter of this table.
    """
    request = call.arguments.req
    text = expression_text(request.expr)
    unknown = text is None
    _, spool = spool_partitions(
        call,
        request.dbName,
        request.tblName,
        text,
        max_parts=None if unknown else request.maxParts,
        like_dialect=EXPRESSION_DIALECT,
    )
    return PartitionList(spool, _PARTITIONS, _HAS_UNKNOWN + BOOL.write(unknown) + _STOP)
