"""Publishing: files and partitions that a job has written are seen as one, or not at all."""

from hbstore.publishing.manifest import Manifest, PartitionWrite
from hbstore.publishing.publisher import Publisher

__all__ = ["Manifest", "PartitionWrite", "Publisher"]
