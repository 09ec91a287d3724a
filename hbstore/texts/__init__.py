"""Texts that people and engines write: types, patterns, properties, numbers with their nouns, arguments."""
