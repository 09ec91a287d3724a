"""Partitions as CSV, for spreadsheets: their values, and what their parameters say of rows, files and bytes.

ds,hour,rows,files,size,created,location
2013-01-01,5,100,,5000,2013-01-02T06:00:00Z,s3://shop/sales/ds=2013-01-01/hour=5
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from io import StringIO
from typing import Final

from hbstore.model.structs import partition_values
from hbstore.model.totals import Totals
from hbstore.web.catalog.partition_listing import PartitionPage
from hbstore.web.catalog.quick_fields import quick_fields

COLUMNS: Final = ("rows", "files", "size", "created", "location")
"""Behind the partition columns. A number that a partition does not say is empty."""


def csv_lines(pages: Iterable[PartitionPage]) -> Iterator[bytes]:
    """Partitions as lines of CSV (RFC 4180, UTF-8), below a line with the names of the columns."""
    is_first = True
    for page in pages:
        text = StringIO()
        writer = csv.writer(text)
        if is_first:
            writer.writerow([*page.table.partition_column_names, *COLUMNS])
            is_first = False
        writer.writerows(_rows(page.payloads))
        yield text.getvalue().encode()


def _rows(payloads: Sequence[bytes]) -> Iterator[list[object]]:
    for payload, (location, _, create_time, _) in zip(payloads, quick_fields(payloads), strict=True):
        says = Totals.of([payload])
        yield [
            *partition_values(payload),
            "" if says.without_rows else says.rows,
            "" if says.without_files else says.files,
            "" if says.without_size else says.size,
            f"{datetime.fromtimestamp(create_time, UTC).replace(tzinfo=None).isoformat()}Z" if create_time else "",
            location or "",
        ]
