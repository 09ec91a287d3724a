"""The table and its partitions on a server: by add_partitions_req in batches of 1,000, or the rest of it by SQL."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.data import BATCH
from benchmarks.metastore.calls import SERVICE, message
from benchmarks.metastore.client import Client
from benchmarks.metastore.filling import fill_sql
from benchmarks.metastore.sales import DATABASE, TABLE, Spec, database, partition, table
from benchmarks.metastore.servers import Server


def load(server: Server, client: Client, wanted: list[Spec], added: int) -> float:
    """Make the table and fill it, and return how many partitions the server adds a second.

    Args:
        server: where.
        client: a connection to it.
        wanted: the table's partitions.
        added: how many are added by calls where SQL can do the rest; else all of them are.
    """
    client.ask(message("create_database", database=database(server.warehouse)))
    client.ask(message("create_table", tbl=table(server.warehouse)))
    by_calls = wanted[:added] if server.postgres else wanted
    seconds = sum(client.ask(call).last for call in _adding(by_calls, server.warehouse))
    rest = wanted[len(by_calls) :]
    if rest:
        # The Hive Metastore writes file:/path, whatever the call has.
        server.postgres.sql(fill_sql(rest, f"{server.warehouse}/{DATABASE}.db/{TABLE}"))
    return len(by_calls) / seconds


def _adding(wanted: list[Spec], warehouse: str) -> Iterator[bytes]:
    for at in range(0, len(wanted), BATCH):
        parts = [partition(one, warehouse) for one in wanted[at : at + BATCH]]
        request = SERVICE.AddPartitionsRequest(
            dbName=DATABASE, tblName=TABLE, parts=parts, ifNotExists=False, needResult=False
        )
        yield message("add_partitions_req", request=request)
