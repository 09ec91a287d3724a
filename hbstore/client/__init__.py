"""hbstore from another machine: queries (docs/query-service.md) and the catalog (docs/rest.md) over HTTP.

with hbstore.client.connect("http://127.0.0.1:8080") as server:
    rows = server.query("SELECT 1 AS one").wait().rows()
    names = server.table("shop.sales").names("hour = 5")
"""

from hbstore.client.connection import Connection, connect
from hbstore.client.remote_catalog import RemoteCatalog
from hbstore.client.remote_query import RemoteQuery
from hbstore.client.remote_table import RemoteExplain, RemoteTable

__all__ = ["Connection", "RemoteCatalog", "RemoteExplain", "RemoteQuery", "RemoteTable", "connect"]
