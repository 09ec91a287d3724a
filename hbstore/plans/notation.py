"""Plans in people's notation: ``ds = 2013-01-01 × hour ∈ [5, 7)``, ``region = 'eu' or hour < 3``."""

from __future__ import annotations

from hbstore.keys.row_key import (
    RESPELLED,
    TAG_END,
    TAG_NULL,
    TAG_TEXT,
    TAG_VALUE,
    after_cell,
    cell_text,
    is_cell,
    is_respelled,
    split_key,
)
from hbstore.keys.types import ColumnType, DecimalType, FloatType, IntegerType
from hbstore.plans.points import is_point
from hbstore.plans.schema import KeySchema
from hbstore.rows.predicate import ALWAYS, AllOf, CellIn, CellLike, Predicate, fold
from hbstore.rows.ranges import Ranges
from hbstore.texts.like import RUN, LikePattern

_SHOWN_POINTS = 8
_BEHIND = (b"\xff", RESPELLED)
"""What ends of ranges have behind a cell, where they lie right behind it."""
_SPECIAL: dict[Ranges, str] = {
    ((TAG_NULL, TAG_VALUE),): "is null",
    ((TAG_VALUE, TAG_END),): "is not null",
    ((TAG_VALUE, TAG_TEXT),): "is a value",
    ((TAG_NULL, TAG_END),): "is anything",
}


def cell_notation(cell: bytes, column_type: ColumnType) -> str:
    """A whole cell's value, quoted where it is text."""
    if cell == TAG_NULL:
        return "null"
    try:
        text = cell_text(column_type, cell)
    except (ValueError, OverflowError):  # the place behind a type's last value is no value itself
        return "∞"
    is_number = cell[:1] == TAG_VALUE and isinstance(column_type, IntegerType | DecimalType | FloatType)
    return text if is_number and not is_respelled(column_type, cell) else "'" + text.replace("'", "''") + "'"


def bound_notation(bound: bytes, column_type: ColumnType) -> str:
    """A place between cells: the value there, ``'abc'+`` right behind a value, ``'abc…`` at a prefix."""
    if bound in (TAG_NULL, TAG_VALUE, b""):
        return "-∞"
    if bound in (TAG_TEXT, TAG_END):
        return "∞"
    if is_cell(bound, column_type):
        return cell_notation(bound, column_type)
    behind = bound[:-1] if bound[-1:] in _BEHIND else bound
    if is_cell(behind, column_type):
        return f"{cell_notation(behind, column_type)}+"
    if column_type.width is None:
        text = behind[1:].replace(b"\x00\xff", b"\x00").decode(errors="replace")
        return f"'{text}…'+" if behind != bound else f"'{text}…'"
    return f"0x{bound.hex()}"


def ranges_notation(name: str, ranges: Ranges, column_type: ColumnType) -> str:
    """A condition on one column: ``hour in (5, 6)``, ``ds >= '2013-01-01'``."""
    if ranges in _SPECIAL:
        return f"{name} {_SPECIAL[ranges]}"
    points = [cell_notation(start, column_type) for start, stop in ranges if is_point(column_type, start, stop)]
    others = [
        _range_condition(name, start, stop, column_type)
        for start, stop in ranges
        if not is_point(column_type, start, stop)
    ]
    if points:
        shown = points[:_SHOWN_POINTS]
        more = f", … {len(points) - len(shown)} more" if len(points) > len(shown) else ""
        if points == ["null"]:
            others.insert(0, f"{name} is null")
        else:
            listed = ", ".join(shown)
            others.insert(0, f"{name} = {listed}" if len(points) == 1 else f"{name} in ({listed}{more})")
    if len(others) > _SHOWN_POINTS:
        others = [*others[:_SHOWN_POINTS], f"… {len(others) - _SHOWN_POINTS} more"]
    return others[0] if len(others) == 1 else f"({' or '.join(others)})"


def _range_condition(name: str, start: bytes, stop: bytes, column_type: ColumnType) -> str:
    if column_type.width is None and len(start) > 1 and stop == start + b"\xff" and not is_cell(start, column_type):
        return f"{name} like '{_like_prefix(start)}'"
    low = start not in (TAG_NULL, TAG_VALUE)
    high = stop not in (TAG_TEXT, TAG_END)
    parts = []
    if low:
        behind = start[:-1]
        if is_cell(start, column_type):
            parts.append(f"{name} >= {cell_notation(start, column_type)}")
        elif is_cell(behind, column_type) and start[-1:] in _BEHIND:
            parts.append(f"{name} > {cell_notation(behind, column_type)}")
        else:
            parts.append(f"{name} >= {bound_notation(start, column_type)}")
    if high:
        behind = stop[:-1]
        if is_cell(behind, column_type) and stop[-1:] in _BEHIND:
            parts.append(f"{name} <= {cell_notation(behind, column_type)}")
        else:
            parts.append(f"{name} < {bound_notation(stop, column_type)}")
    if start == TAG_NULL:
        parts.append(f"{name} or null")
    return " and ".join(parts)


def _like_prefix(bound: bytes) -> str:
    """The pattern of all texts that begin as a place at a prefix says."""
    prefix = bound[1:].replace(b"\x00\xff", b"\x00").decode(errors="replace")
    return str(LikePattern((prefix, RUN))).replace("'", "''")


def predicate_text(predicate: Predicate, schema: KeySchema) -> str:
    """A predicate as text close to the filter language; long lists are cut."""

    def leaf(node: CellIn | CellLike) -> str:
        name = schema.names[node.column]
        if isinstance(node, CellIn):
            return ranges_notation(name, node.ranges, schema.types[node.column])
        if isinstance(node.pattern, LikePattern):
            return f"{name} {'not ' if node.negated else ''}like '{node.pattern}'"
        return f"not ({node.pattern})" if node.negated else str(node.pattern)

    def every(parts: list[str]) -> str:
        return " and ".join(parts) if parts else "everything"

    def some(parts: list[str]) -> str:
        return "(" + " or ".join(parts) + ")" if parts else "nothing"

    text = fold(predicate, leaf, every, some)
    whole = text.startswith("(") and not isinstance(predicate, AllOf | CellIn | CellLike)
    return text[1:-1] if whole else text


def key_text(key: bytes, schema: KeySchema) -> str:
    """A whole row key in readable values."""
    cells = split_key(key, len(schema.names))[1]
    return " × ".join(
        f"{name} = {cell_notation(cell, column_type)}"
        for name, cell, column_type in zip(schema.names, cells, schema.types, strict=True)
    )


def range_text(start: bytes, stop: bytes, schema: KeySchema) -> str:
    """A range of row keys in readable values: the cells that both ends share, then the range on the next column."""
    prefix = schema.prefix
    fixed, left, right = shared_cells(
        start[len(prefix) :], stop[len(prefix) :] if stop.startswith(prefix) else b"", schema
    )
    parts = [
        f"{name} = {cell_notation(cell, column_type)}"
        for name, cell, column_type in zip(schema.names, fixed, schema.types, strict=False)
    ]
    if len(fixed) < len(schema.names):
        part = steps_text((), (left or TAG_NULL, right or TAG_END), ALWAYS, len(fixed), schema)
        if part != "all" or not parts:
            parts.append(part)
    return " × ".join(parts)


def steps_text(
    cells: tuple[bytes, ...], ends: tuple[bytes, bytes], residual: Predicate, column: int, schema: KeySchema
) -> str:
    """A range on the line of one column behind some fixed cells, with its residual."""
    parts = [
        f"{schema.names[column + at]} = {cell_notation(cell, schema.types[column + at])}"
        for at, cell in enumerate(cells)
    ]
    start, stop = ends
    column += len(cells)
    if column < len(schema.names):
        name, column_type = schema.names[column], schema.types[column]
        if (start, stop) == (TAG_NULL, TAG_END):
            parts += [] if parts else ["all"]
        elif ((start, stop),) in _SPECIAL:
            parts.append(f"{name} {_SPECIAL[((start, stop),)]}")
        elif is_point(column_type, start, stop):
            parts.append(f"{name} = {cell_notation(start, column_type)}")
        else:
            low, high = bound_notation(start, column_type), bound_notation(stop, column_type)
            parts.append(f"{name} ∈ [{low}, {high})")
    text = " × ".join(parts)
    return text if residual == ALWAYS else f"{text} | {predicate_text(residual, schema)}"


def shared_cells(start: bytes, stop: bytes, schema: KeySchema) -> tuple[list[bytes], bytes, bytes]:
    """Cells that every key of the range has, then what remains of both ends on the next column's line."""
    fixed: list[bytes] = []
    for column_type in schema.types:
        size = cell_size(start, column_type)
        cell = start[:size]
        if not size or not is_cell(cell, column_type):
            break
        if stop in (after_cell(column_type, cell), cell + RESPELLED) and len(start) == size:
            return [*fixed, cell], b"", b""
        if not stop.startswith(cell):
            break
        fixed.append(cell)
        start, stop = start[size:], stop[size:]
    return fixed, start, stop


def cell_size(data: bytes, column_type: ColumnType) -> int:
    """How many of these bytes are the cell that they begin with; 0 where that does not end."""
    tag = data[:1]
    if tag == TAG_NULL:
        return 1
    if tag == TAG_VALUE and column_type.width is not None:
        size = 1 + column_type.width
        return _text_end(data, size) or size if data[size : size + 1] == RESPELLED else size
    return _text_end(data, 1)


def _text_end(data: bytes, at: int) -> int:
    """Where a text ends; 0 where it does not."""
    while True:
        at = data.find(b"\x00", at)
        if at < 0:
            return 0
        if data[at + 1 : at + 2] != b"\xff":
            return at + 1
        at += 2
