"""Copying a whole Hive Metastore into a store, and a store into a metastore, both of which go on running."""

from __future__ import annotations

from hbstore.transfer.checksum import Checksum
from hbstore.transfer.exporting import export_metastore
from hbstore.transfer.importing import import_metastore
from hbstore.transfer.result import TableTransfer, Transfer
from hbstore.transfer.work import Outcome

__all__ = ["Checksum", "Outcome", "TableTransfer", "Transfer", "export_metastore", "import_metastore"]
