"""The two HBase tables of a store: their families, made when they are missing."""

from __future__ import annotations

import time
from typing import Final

from hbstore.errors import NotAStore, StoreUnavailable
from hbstore.rows.hbase.failures import reason
from hbstore.rows.hbase.idl import AlreadyExists, HBaseIOError
from hbstore.rows.hbase.link import Link
from hbstore.rows.hbase.pool import Pool, Repeat

CATALOG_FAMILIES: Final = ("d", "i", "s", "t")
"""Definitions, logs, statistics, timelines."""
PARTITION_FAMILIES: Final = ("k", "p")
"""The sortable cells of the partition columns, and the payload."""

_PATIENCE: Final = 60.0
"""Seconds for HBase to make a table, whatever the timeout: regions are opened for it, and a store does it once."""
_OPTIONS: Final = {"max_versions": 1, "bloom_filter_type": "ROW", "block_cache_enabled": True}


def ensure_tables(pool: Pool, *, create: bool) -> None:
    """Make the tables that are missing, unless they must be there, and look at those that are there.

    Raises:
        StoreUnavailable: one is not there, and not to be made.
        NotAStore: a table of that name is something else.
    """
    address = pool.address
    families_by_table = {address.catalog: CATALOG_FAMILIES, address.partitions: PARTITION_FAMILIES}
    existing = set(pool.run(lambda link: link.tables(), Repeat.READ))
    absent = [table.decode() for table in families_by_table if table not in existing]
    if absent and not create:
        raise StoreUnavailable(
            "the store does not exist",
            url=address.url,
            missing_tables=",".join(absent),
            hint="Create it with `hbstore init`, or name another store with --store or HBSTORE_URL",
        )
    for table, families in families_by_table.items():
        if table not in existing:  # repeated freely, as a READ is: an empty table more or less is nobody's data
            pool.run(lambda link, table=table, families=families: _create(link, table, families), Repeat.READ)  # type: ignore[misc]
        existing_families = pool.run(lambda link, table=table: link.table(table).families(), Repeat.READ)  # type: ignore[misc]
        missing = [family for family in families if family.encode() not in existing_families]
        if missing:
            raise NotAStore(
                "an HBase table of this name does not belong to hbstore",
                table=table.decode(),
                missing_families=",".join(missing),
                hint="Use another prefix in the store URL",
            )


def _create(link: Link, table: bytes, families: tuple[str, ...]) -> None:
    """Another process may be making it at the same time."""
    link.until(time.monotonic() + _PATIENCE)
    try:
        link.create_table(table, {family: dict(_OPTIONS) for family in families})
    except AlreadyExists:
        pass
    except HBaseIOError as error:
        if "TableExistsException" not in reason(error):
            raise
