"""Filters: text or Python expressions to an ExpressionTree, whose nodes and literals are here."""

from hbstore.filters.tree import (
    And,
    Between,
    Boolean,
    Comparison,
    Date,
    In,
    Integer,
    IsNull,
    Like,
    Not,
    Number,
    Operator,
    Or,
    StructIn,
    Text,
    TimeRangeIn,
    Timestamp,
)
from hbstore.like import LikePattern, Wildcard

__all__ = [
    "And",
    "Between",
    "Boolean",
    "Comparison",
    "Date",
    "In",
    "Integer",
    "IsNull",
    "Like",
    "LikePattern",
    "Not",
    "Number",
    "Operator",
    "Or",
    "StructIn",
    "Text",
    "TimeRangeIn",
    "Timestamp",
    "Wildcard",
]
