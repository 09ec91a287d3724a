"""Pages of partitions: those that a filter selects, page by page, and one with its key."""

from __future__ import annotations

from itertools import chain
from typing import Any, Final

from starlette.convertors import StringConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hbstore.console.filter_form import FilterForm, problem_of, problem_status
from hbstore.console.partition_order import SORTED, ListedPartition, PartitionOrder, short_location
from hbstore.console.plans.key_fields import key_fields
from hbstore.console.rendering import page, table_address
from hbstore.errors import FilterError, FilterTypeError, TimelineError
from hbstore.filters.tree import And, Comparison, ExpressionTree, IsNull, Operator, Text
from hbstore.keys.row_key import NULL_PARTITION, fits
from hbstore.model.objects import Partition, Table
from hbstore.store.partition_store import PartitionStore
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


def partition_pages(service: Service) -> list[Route]:
    """The pages of partitions."""
    store = service.store

    def partitions(request: Request) -> Response:
        table = store.get_table(request.path_params["database"], request.path_params["table"])
        form, order = FilterForm.of(request), PartitionOrder.of(request)
        shown: dict[str, Any] = {"title": "Partitions", "table": table, "form": form, "order": order}
        listing = PartitionListing(service, table.database, table.name, form.filter, form.like_dialect)
        try:
            matching = _matching(store, table, form)
            if matching > SORTED:
                shown["order"] = order = PartitionOrder()
            if order.column is not None:
                rows, turns = _sorted_page(listing, table, form, order)
            else:
                current = listing.page(form.page, _PAGE)
                rows = [ListedPartition.of(table, payload) for payload in current.payloads]
                turns = _turns(table, form, request.query_params.get("back", ""), current.next)
        except (FilterError, TimelineError) as error:
            status = problem_status(request, error)
            return page(request, "partitions.html", status=status, problem=problem_of(error, form.filter), **shown)
        return page(
            request,
            "partitions.html",
            problem=None,
            listed=rows,
            turns=turns,
            matching=matching,
            most=SORTED,
            short_location=short_location,
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


def _matching(store: PartitionStore, table: Table, form: FilterForm) -> int:
    """How many partitions a filter selects. O(1) without one; else they are counted, and not decoded."""
    if form.filter is None:
        return store.totals(table.database, table.name).partitions
    return store.count_partitions(table.database, table.name, form.filter, form.like_dialect)


def _sorted_page(
    listing: PartitionListing, table: Table, form: FilterForm, order: PartitionOrder
) -> tuple[list[ListedPartition], dict[str, str | None]]:
    """A page of partitions in an order, and where the pages before and behind are. O(`SORTED`)."""
    payloads = chain.from_iterable(part.payloads for part in listing.pages(None, SORTED))
    everything = order.sorted(list(payloads))

    def at(first: int) -> str | None:
        if not 0 <= first < len(everything):
            return None
        return table_address(table, "partitions", **form.query, sort=order.text, at=first or None)

    behind, before = order.first + _PAGE, max(order.first - _PAGE, 0)
    turns = {
        "first": at(0) if order.first else None,
        "previous": at(before) if order.first else None,
        "next": at(behind),
    }
    return [ListedPartition.of(table, payload) for payload in everything[order.first : behind]], turns


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
