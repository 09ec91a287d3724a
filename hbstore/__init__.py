"""hbstore: a partition store on ordered rows with a filter planner."""

__version__ = "0.1.0"
