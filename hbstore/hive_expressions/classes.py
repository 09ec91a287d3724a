"""The classes that an expression's bytes may name: a closed table, as a class's fields say where its object ends.

A field is read by its kind. Java sorts the fields of an object by their names, inherited ones included. Hive 2.3, 3.1,
4.0 and 4.1 have the same fields in all of these classes but where `KRYO5` says otherwise. What stands in no table is
refused by its name: no class is looked for anywhere else, loaded or called.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hbstore.hive_expressions.used import LATER_TEXT, USED, Fields

PLAN: Final = "org.apache.hadoop.hive.ql.plan."
GENERIC: Final = "org.apache.hadoop.hive.ql.udf.generic."
TYPES: Final = "org.apache.hadoop.hive.serde2.typeinfo."
VALUES: Final = "org.apache.hadoop.hive.common.type."
ROOT: Final = PLAN + "ExprNodeGenericFuncDesc"

_RESULT: Final[Fields] = (("result", "object"),)


def _comparison(compare_type: str) -> Fields:
    return (
        ("compareOI", "object"),
        ("compareType", compare_type),
        ("opDisplayName", "text"),
        ("opName", "text"),
        ("result", "object"),
    )


def _between(inspectors: str) -> Fields:
    return (("argumentOIs", inspectors), ("egt", "object"), ("elt", "object"), ("result", "object"))


_NAMED: Final[Fields] = (("length", "integer"), ("typeName", "text"))
_WITHOUT_FIELDS: Final = (
    "Case",
    "Coalesce",
    "Concat",
    "Date",
    "Greatest",
    "If",
    "Least",
    "Lower",
    "NamedStruct",
    "Nullif",
    "Split",
    "Struct",
    "ToBinary",
    "ToDate",
    "ToString",
    "Upper",
    "When",
)

COMPARISONS: Final[Mapping[str, str]] = {
    GENERIC + "GenericUDFOPEqual": "=",
    GENERIC + "GenericUDFOPNotEqual": "<>",
    GENERIC + "GenericUDFOPLessThan": "<",
    GENERIC + "GenericUDFOPEqualOrLessThan": "<=",
    GENERIC + "GenericUDFOPGreaterThan": ">",
    GENERIC + "GenericUDFOPEqualOrGreaterThan": ">=",
    GENERIC + "GenericUDFOPEqualNS": "<=>",
    GENERIC + "GenericUDFOPNotEqualNS": "is distinct from",
}
TESTS: Final[Mapping[str, str]] = {
    GENERIC + "GenericUDFOPTrue": "is true",
    GENERIC + "GenericUDFOPNotTrue": "is not true",
    GENERIC + "GenericUDFOPFalse": "is false",
    GENERIC + "GenericUDFOPNotFalse": "is not false",
}
FUNCTIONS: Final[Mapping[str, str]] = {
    **COMPARISONS,
    **TESTS,
    GENERIC + "GenericUDFOPAnd": "and",
    GENERIC + "GenericUDFOPOr": "or",
    GENERIC + "GenericUDFOPNot": "not",
    GENERIC + "GenericUDFOPNull": "is null",
    GENERIC + "GenericUDFOPNotNull": "is not null",
    GENERIC + "GenericUDFIn": "in",
    GENERIC + "GenericUDFBetween": "between",
    GENERIC + "GenericUDFStruct": "struct",
    GENERIC + "GenericUDFRegExp": "rlike",
    **{
        f"{GENERIC}GenericUDF{kind}": "cast"
        for kind in ("ToDate", "Timestamp", "ToDecimal", "ToChar", "ToVarchar", "ToString")
    },
}
"""What the classes of functions mean. Those that are missing here have a name only."""

BRIDGED: Final[Mapping[str, str]] = {
    "UDFLike": "like",
    **dict.fromkeys(
        (
            "UDFToBoolean",
            "UDFToByte",
            "UDFToShort",
            "UDFToInteger",
            "UDFToLong",
            "UDFToFloat",
            "UDFToDouble",
            "UDFToString",
        ),
        "cast",
    ),
}
"""What functions in the old style mean, by their classes in org.apache.hadoop.hive.ql.udf."""

KRYO3: Final[Mapping[str, Fields]] = {
    ROOT: (("children", "object"), ("genericUDF", "object"), ("isSortedExpr", "boolean"), ("typeInfo", "object")),
    PLAN + "ExprNodeColumnDesc": (
        ("column", "text"),
        ("isPartitionColOrVirtualCol", "boolean"),
        ("isSkewedCol", "boolean"),
        ("tabAlias", "text"),
        ("typeInfo", "object"),
    ),
    PLAN + "ExprNodeConstantDesc": (("typeInfo", "object"), ("value", "object")),
    **dict.fromkeys(COMPARISONS, _comparison("absent")),
    **dict.fromkeys(TESTS, (("conditionConverter", "object"), *_RESULT)),
    **{f"{GENERIC}GenericUDFOP{kind}": _RESULT for kind in ("And", "Or", "Not", "Null", "NotNull")},
    GENERIC + "GenericUDFIn": (("bw", "object"), ("isInSetConstant", "boolean")),
    GENERIC + "GenericUDFBetween": _between("absent"),
    GENERIC + "GenericUDFRegExp": (("output", "object"),),
    GENERIC + "GenericUDFTimestamp": (("intToTimestampInSeconds", "boolean"),),
    **{f"{GENERIC}GenericUDF{kind}": (("typeInfo", "object"),) for kind in ("ToDecimal", "ToChar", "ToVarchar")},
    **{f"{GENERIC}GenericUDF{kind}": () for kind in _WITHOUT_FIELDS},
    GENERIC + "GenericUDFBridge": (("isOperator", "boolean"), ("udfClassName", "text"), ("udfName", "text")),
    "org.apache.hadoop.io.BooleanWritable": (("value", "boolean"),),
    TYPES + "PrimitiveTypeInfo": (("typeName", "text"),),
    TYPES + "CharTypeInfo": _NAMED,
    TYPES + "VarcharTypeInfo": _NAMED,
    TYPES + "DecimalTypeInfo": (("precision", "integer"), ("scale", "integer"), ("typeName", "text")),
    TYPES + "StructTypeInfo": (("allStructFieldNames", "texts"), ("allStructFieldTypeInfos", "object")),
    VALUES + "HiveDecimal": (
        ("fast0", "long"),
        ("fast1", "long"),
        ("fast2", "long"),
        ("fastIntegerDigitCount", "integer"),
        ("fastScale", "integer"),
        ("fastSerializationScale", "integer"),
        ("fastSignum", "integer"),
    ),
    VALUES + "HiveChar": (("value", "text"),),
    VALUES + "HiveVarchar": (("value", "text"),),
    VALUES + "HiveIntervalYearMonth": (("totalMonths", "integer"),),
    VALUES + "HiveIntervalDayTime": (("nanos", "integer"), ("totalSeconds", "long")),
    VALUES + "Date": (("localDate", "local date"),),
    VALUES + "Timestamp": (("localDateTime", "local time"),),
}
"""Fields in the bytes of Hive 2.3 and 3.1."""

KRYO5: Final[Mapping[str, Fields]] = {
    **KRYO3,
    **USED,
    **dict.fromkeys(COMPARISONS, _comparison("enumeration")),
    GENERIC + "GenericUDFBetween": _between("object"),
    GENERIC + "GenericUDFRegExp": (("output", "object"), ("useGoogleRegexEngine", "boolean")),
}
"""Fields in those of Hive 4.0 and 4.1."""

KRYO5_LATER_TEXT: Final[Mapping[str, Fields]] = {**KRYO5, **LATER_TEXT}
"""The same with the texts of a later Hadoop."""

LISTS: Final = frozenset({"java.util.ArrayList", "java.util.LinkedList"})
SINGLE: Final = "java.util.Collections$SingletonList"
EMPTY: Final = "java.util.Collections$EmptyList"
ELEMENTS: Final = frozenset({"java.io.Serializable", "java.lang.Object", "java.lang.Comparable", PLAN + "ExprNodeDesc"})
"""What the array of an Arrays.asList may be declared to hold, besides classes that have a number."""

REGISTERED: Final[Mapping[int, str]] = {
    0: "integer",
    1: "text",
    2: "single",
    3: "boolean",
    4: "tiny",
    6: "short",
    7: "long",
    8: "double",
}
"""The kinds of classes that have a number instead of a name, in all versions."""

REGISTERED3: Final[Mapping[int, str]] = {**REGISTERED, 10: "sql date", 11: "sql timestamp", 13: "array", 14: "array"}
"""Those of Kryo 3. Arrays.asList is 13 in Hive 2.3 and 14 in 3.1; what else has these numbers is not in expressions."""

REGISTERED5: Final[Mapping[int, str]] = {**REGISTERED, 9: "sql date", 10: "sql timestamp", 13: "array"}
