"""Queries over HTTP: submitted, followed, fetched."""
