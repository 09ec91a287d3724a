"""Plans: an ExpressionTree on a table to a few merged range scans, their execution and explanation."""
