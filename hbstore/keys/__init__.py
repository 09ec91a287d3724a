"""Bytes of values, in the order of the values, and the keys and names that consist of them."""
