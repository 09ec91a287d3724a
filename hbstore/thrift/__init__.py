"""Thrift's binary protocol: messages and where each ends, and the methods and structs of an IDL."""
