"""Repair: a table's partitions are made to agree with the folders that there are."""

from hbstore.repair.comparison import Mode, Repair, compared
from hbstore.repair.listing import Walked
from hbstore.repair.shape import Folder, Foreign, Shape
from hbstore.repair.staging import Staging
from hbstore.repair.sync import sync_partitions

__all__ = [
    "Folder",
    "Foreign",
    "Mode",
    "Repair",
    "Shape",
    "Staging",
    "Walked",
    "compared",
    "sync_partitions",
]
