"""Rows in HBase, through its Thrift gateway."""
