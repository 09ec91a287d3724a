"""Publishing: files and partitions that a job has written are seen as one, or not at all."""

from hbstore.publishing.publisher import Publisher
from hbstore.store.manifest import Exchange, Manifest, PartitionWrite, Removal
from hbstore.store.publications_cell import Move, Publication
from hbstore.store.stream_batches import Stream, StreamBatch, StreamRecord

__all__ = [
    "Exchange",
    "Manifest",
    "Move",
    "PartitionWrite",
    "Publication",
    "Publisher",
    "Removal",
    "Stream",
    "StreamBatch",
    "StreamRecord",
]
