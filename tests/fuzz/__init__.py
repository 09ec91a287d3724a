"""Random tables and filters without end, compared with the naive evaluation: `python -m tests.fuzz`."""
