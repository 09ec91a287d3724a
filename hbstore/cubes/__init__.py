"""Cubes: which partitions of a fact's storage tables hold a range of time."""

from hbstore.cubes.cover import cover
from hbstore.cubes.covered import Cover, CoverPartition, CoverPartitions, CoverRun
from hbstore.errors import Uncoverable

__all__ = ["Cover", "CoverPartition", "CoverPartitions", "CoverRun", "Uncoverable", "cover"]
