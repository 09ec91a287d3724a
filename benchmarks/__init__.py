"""Benchmarks: hbstore beside the raw backend, in the same run. `python -m benchmarks --help`."""
