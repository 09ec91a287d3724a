"""What services over Thrift's binary protocol share: messages from sockets, and the methods of an IDL."""
