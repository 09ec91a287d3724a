"""Arrow batches made of stored bytes that are damaged."""

from __future__ import annotations

from contextlib import suppress

import pytest

from hbstore import Column, CorruptRow, Partition, Table
from hbstore.model.objects import Order, StorageDescriptor
from hbstore.model.structs import encode_partition
from hbstore.spark.source.rows import ArrowRows

TABLE = Table("shop", "sales", partition_columns=[Column("ds", "string")])
STORAGE = StorageDescriptor([Column("id", "int"), Column("name", "string")], sort_columns=[Order("id", 1)])
PAYLOAD = encode_partition(
    TABLE, Partition(["2013-01-01"], location="s3://shop/sales", parameters={"numRows": "5"}, storage=STORAGE)
)
ROWS = ArrowRows(TABLE)


@pytest.mark.parametrize("byte", [0, 1, 2, 8, 11, 12, 13, 15, 255])
def test_a_changed_byte_is_read_or_named(byte):
    for at in range(len(PAYLOAD)):
        with suppress(CorruptRow):
            assert ROWS.batch([PAYLOAD, PAYLOAD[:at] + bytes([byte]) + PAYLOAD[at + 1 :]]).num_rows == 2


def test_bytes_that_run_out_are_named():
    for end in range(len(PAYLOAD)):
        with pytest.raises(CorruptRow):
            ROWS.batch([PAYLOAD, PAYLOAD[:end]])
