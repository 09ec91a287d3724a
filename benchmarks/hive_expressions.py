"""Reading Hive's expressions: bytes to a tree, beside the text of the same filter."""

from __future__ import annotations

from benchmarks.timing import Report
from hbstore.filters.parser import parse_filter
from hbstore.hive_expressions.meaning import meaning_of
from hbstore.hive_expressions.reading import read_expression
from hbstore.keys.types import parse_type
from tests.hive_expressions.writing import call, column, constant, written

_COLUMNS = {"hour": parse_type("int")}


def run() -> Report:
    """The figures of expressions."""
    report = Report("Hive's expressions: bytes to a tree", headings=("bytes", "text"))
    pairs = [("hour", number) for number in range(1_000)]
    comparisons = [call("=", column(name, "int"), constant(number)) for name, number in pairs]
    _compare(report, "one comparison", call("=", column("hour", "int"), constant(5)), "hour = 5", "-", 500)
    ored = " or ".join(f"{name} = {number}" for name, number in pairs)
    _compare(report, "OR of 1,000 comparisons", call("or", *comparisons), ored, "20 ms", 50)
    listed = f"hour in ({', '.join(str(number) for _, number in pairs)})"
    constants = [constant(number) for _, number in pairs]
    _compare(report, "IN of 1,000 values", call("in", column("hour", "int"), *constants), listed, "20 ms", 50)
    return report


def _compare(report: Report, name: str, root: object, text: str, target: str, runs: int) -> None:
    """Time an expression as Hive 2.3 writes it, and the filter that it becomes."""
    data = written(root)

    def read(_: int) -> object:
        return meaning_of(read_expression(data), _COLUMNS).tree

    def parse(_: int) -> object:
        return parse_filter(text)

    if read(0) != parse(0):
        raise AssertionError(f"{name}: the bytes do not say what the text says")
    report.compare(
        name, read, parse, target=target, runs=runs, note=f"{len(data) / 1e3:.1f} KB and {len(text) / 1e3:.1f}"
    )
