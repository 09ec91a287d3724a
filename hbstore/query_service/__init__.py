"""The query service: statements that Spark runs for users, with results that are fetched as often as they like."""
