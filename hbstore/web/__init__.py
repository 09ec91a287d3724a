"""hbstore over HTTP: REST for queries, with a description of it at /docs."""
