"""Pages of partitions: those that a filter selects, page by page, and one with its key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.filter_form import FilterForm, problem_of, problem_status
from hbstore.console.plans.key_fields import key_fields
from hbstore.console.rendering import page, table_address
from hbstore.errors import FilterError, FilterTypeError, TimelineError
from hbstore.filters.tree import And, Comparison, ExpressionTree, IsNull, Operator, Text
from hbstore.keys.partition_names import partition_name
from hbstore.keys.row_key import NULL_PARTITION, fits
from hbstore.model.objects import Partition, Table
from hbstore.model.structs import partition_from_payload
from hbstore.model.totals import Totals
from hbstore.store.puts import partition_key
from hbstore.warehouse.service import Service
from hbstore.web.catalog.partition_listing import PartitionListing
from hbstore.web.catalog.partition_routes import named_partition

_PAGE: Final = 100
"""Partitions of a page."""
_BACK: Final = 40
"""Pages that one can go back, before the first."""
_MARK: Final = "."
"""Between the tokens of pages before; no token has it."""


class NameConvertor(StringConvertor):
    """Names of partitions in addresses: they have a ``=``, so that other addresses are not taken for them."""

    regex = ".*=.*"


register_url_convertor("partition", NameConvertor())


@dataclass(frozen=True, slots=True)
class ListedPartition:
    """A partition in a list.

    Attributes:
        name: its name.
        partition: it.
        totals: what it says of its rows, files and bytes.
    """

    name: str
    partition: Partition
    totals: Totals

    @staticmethod
    def of(table: Table, payload: bytes) -> ListedPartition:
        """A stored partition of a table."""
        partition = partition_from_payload(payload)
        name = partition_name(table.partition_column_names, partition.values)
        return ListedPartition(name, partition, Totals.of([payload]))


def partition_pages(service: Service) -> list[Route]:
    """The pages of partitions."""
    store = service.store

    def partitions(request: Request) -> Response:
        table = store.get_table(request.path_params["database"], request.path_params["table"])
        form = FilterForm.of(request)
        shown: dict[str, Any] = {"title": "Partitions", "table": table, "form": form}
        listing = PartitionListing(service, table.database, table.name, form.filter, form.like_dialect)
        try:
            current = listing.page(form.page, _PAGE)
        except (FilterError, TimelineError) as error:
            status = problem_status(request, error)
            return page(request, "partitions.html", status=status, problem=problem_of(error, form.filter), **shown)
        listed = [ListedPartition.of(table, payload) for payload in current.payloads]
        return page(
            request,
            "partitions.html",
            problem=None,
            listed=listed,
            turns=_turns(table, form, request.query_params.get("back", ""), current.next),
            **shown,
        )

    def partition(request: Request) -> Response:
        names = request.path_params
        stored, tag = named_partition(service, names["database"], names["table"], names["name"])
        row = store.table_row(names["database"], names["table"])
        assert stored.payload is not None  # as it was read
        listed = ListedPartition.of(row.table, stored.payload)
        key = partition_key(row, stored)
        return page(
            request,
            "partition.html",
            title=listed.name,
            table=row.table,
            one=listed,
            key=key,
            fields=key_fields(key, row.definition.schema),
            filter=_filter(row.table, stored),
            tag=tag,
        )

    tables = "/databases/{database}/tables/{table}"
    return [
        Route(f"{tables}/partitions", partitions),
        Route(f"{tables}/partitions/{{name:partition}}", partition),
    ]


def _turns(table: Table, form: FilterForm, back: str, following: str | None) -> dict[str, str | None]:
    """Where the pages before and behind are; None where there is none."""
    before = [token for token in back.split(_MARK) if token][-_BACK:]

    def turned(token: str | None, tokens: list[str]) -> str:
        return table_address(table, "partitions", **form.query, page=token, back=_MARK.join(tokens) or None)

    return {
        "first": turned(None, []) if form.page else None,
        "previous": turned(before[-1] if before else None, before[:-1]) if form.page else None,
        "next": turned(following, [*before, form.page] if form.page else before) if following else None,
    }


def _filter(table: Table, partition: Partition) -> str | None:
    """The filter that selects one partition, and other spellings of its values; None where none can be written."""
    if not all(map(fits, table.key_types, partition.values)):
        return None
    parts: list[ExpressionTree] = [
        IsNull(name) if value == NULL_PARTITION else Comparison(name, Operator.EQ, Text(value))
        for name, value in zip(table.partition_column_names, partition.values, strict=True)
    ]
    try:
        return str(parts[0] if len(parts) == 1 else And(tuple(parts)))
    except FilterTypeError:  # a value with both kinds of quotes
        return None
