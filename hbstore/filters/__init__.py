"""Filters: text or Python expressions to an ExpressionTree."""
