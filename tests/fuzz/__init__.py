"""Random tables and filters without end, compared with the naive evaluation; mutated calls: `python -m tests.fuzz`."""
