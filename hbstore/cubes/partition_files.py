"""Partitions in files: YAML, JSON, and Lens's ``x_partition`` and ``x_partition_list``.

>>> table, desc = parse_partitions("{table: sales, update_period: DAILY, time: {dt: 2015-01-29}}", "yaml")[0]
>>> table, desc.period, dict(desc.time)
('sales', <UpdatePeriod.DAILY: 'DAILY'>, {'dt': '2015-01-29'})
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

from pydantic import AfterValidator, BeforeValidator, ValidationError

from hbstore.cubes.descriptions import PartitionDesc
from hbstore.cubes.document import Document, invalid_model
from hbstore.cubes.files import ENDINGS, Format, check_text, load
from hbstore.cubes.lens_elements import Data, Part, Shape, attribute, ignored, properties, read_shape
from hbstore.cubes.texts import read_text, saying_line
from hbstore.cubes.values import FieldName, Name, Period, Properties, no_twins
from hbstore.cubes.xml_tree import ElementReader, parse_xml
from hbstore.errors import InvalidInput, InvalidModel
from hbstore.model.frozen import FrozenDict
from hbstore.texts.arguments import expect_texts


def _named_once(values: object) -> object:
    """See that no name differs from another in upper and lower case alone: one value would replace the other."""
    if isinstance(values, dict):
        no_twins((name.lower() for name in values if isinstance(name, str)), "a partition column")
    return values


_Names = BeforeValidator(_named_once)


class _Partition(Document):
    """A partition as files have it."""

    table: Name
    update_period: Period | None = None
    time: Annotated[dict[FieldName, str], _Names, AfterValidator(FrozenDict)] = FrozenDict()
    other: Annotated[dict[FieldName, str | None], _Names, AfterValidator(FrozenDict)] = FrozenDict()
    location: str | None = None
    parameters: Properties = FrozenDict()


def read_partitions(path: str | Path) -> list[tuple[str, PartitionDesc]]:
    """The partitions in a file, whose ending says what it is; each with its fact's or dimension table's name.

    Raises:
        InvalidModel: it cannot be read, or holds something that is no partition; the error names file and place.

    >>> import tempfile, pathlib
    >>> folder = tempfile.TemporaryDirectory()
    >>> file = pathlib.Path(folder.name, "partitions.json")
    >>> _ = file.write_text('[{"table": "rides_daily", "update_period": "DAILY", "time": {"dt": "2015-01-29"}}]')
    >>> read_partitions(file)[0][0]
    'rides_daily'
    """
    return parse_partitions(*read_text(path, ENDINGS, InvalidModel), file=str(path))


def parse_partitions(
    text: str, format: Format, *, file: str = "<text>", table: str | None = None
) -> list[tuple[str, PartitionDesc]]:
    """The partitions in a text, each with its fact's or dimension table's name.

    Args:
        text: one or several partitions.
        format: yaml, json or xml.
        file: what errors call it.
        table: the fact or dimension table of those that name none; None: each has to.

    Raises:
        InvalidModel: it does not parse, or holds something that is no partition; the error names the place.

    >>> parse_partitions('{table: rides_daily, update_period: DAILY, time: {dt: 2015-01-29}}', "yaml")[0][1].time
    {'dt': '2015-01-29'}
    """
    check_text(text, format)
    listed = _from_lens(text, file) if format == "xml" else load(text, format, file)
    if format == "yaml":
        listed = [one for part in listed for one in (part if isinstance(part, list) else [part])]
    expect_texts(or_none=True, table=table)
    named = listed if table is None else [{"table": table, **one} if isinstance(one, dict) else one for one in listed]
    partitions = []
    for number, data in enumerate(named, 1):
        with saying_line(text, format, number):
            partitions.append(_partition(data, file, number))
    return partitions


def descs_of(
    partitions: Iterable[tuple[str, PartitionDesc]], name: str | None, file: str
) -> dict[str, list[PartitionDesc]]:
    """The partitions of a file by their facts or dimension tables.

    Args:
        partitions: those in it.
        name: the fact or dimension table that they have to be of; None: each says of which it is.
        file: what errors call it.

    Raises:
        InvalidInput: one is of another.

    >>> partitions = [("rides", PartitionDesc("DAILY")), ("taxis", PartitionDesc("DAILY"))]
    >>> list(descs_of(partitions, None, "days.yaml"))
    ['rides', 'taxis']
    """
    descs: dict[str, list[PartitionDesc]] = {}
    for number, (table, desc) in enumerate(partitions, 1):
        if name is not None and table != name.lower():
            raise InvalidInput(
                "a partition in the file belongs to another fact or dimension table",
                file=file,
                document=number,
                table=table,
                expected=name,
                hint="Name no fact: then each partition of the file says which it is of",
            )
        descs.setdefault(table, []).append(desc)
    return descs


def _partition(data: object, file: str, number: int) -> tuple[str, PartitionDesc]:
    try:
        one = _Partition.model_validate(data)
    except ValidationError as error:
        raise invalid_model(error, _Partition, file=file, document=number, kind="partition") from None
    return one.table, PartitionDesc(one.update_period, one.time, one.other, one.location, one.parameters)


def _from_lens(text: str, file: str) -> list[Data]:
    root = parse_xml(text, file)
    reader = ElementReader(root, file)
    tag = root.tag.removeprefix("x_")
    if tag not in ("partition", "partition_list"):
        raise reader.wrong_root("a list of partitions", "x_partition_list, x_partition")
    if tag == "partition":
        return [read_shape(_PARTITION, reader)]
    partitions = [read_shape(_PARTITION, one) for one in reader.items(None, "partition", "x_partition")]
    reader.end()
    return partitions


def _specified(field: str, list_tag: str) -> Part:
    return properties(field, list_tag, "part_spec_element", names=("key", "value"))


_PARTITION: Final[Shape] = (
    ignored("name"),
    ignored("full_partition_spec", "part_spec_element"),
    attribute("table", "fact_or_dimension_table_name"),
    attribute("update_period"),
    _specified("time", "time_partition_spec"),
    _specified("other", "non_time_partition_spec"),
    attribute("location"),
    properties("parameters", "partition_parameters"),
)
