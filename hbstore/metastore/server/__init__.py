"""The server: connections, processes, metrics, the log of calls."""
