"""hbstore from another machine: queries over HTTP (docs/query-service.md).

with hbstore.client.connect("http://127.0.0.1:8080") as server:
    rows = server.query("SELECT 1 AS one").wait().rows()
"""

from hbstore.client.connection import Connection, connect
from hbstore.client.remote_query import RemoteQuery

__all__ = ["Connection", "RemoteQuery", "connect"]
