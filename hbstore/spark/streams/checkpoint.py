"""Checkpoints of streams: looked at before Spark reads them, and the watermark that they hold.

A checkpoint's file ``metadata`` holds the query's id; ``offsets/N`` says what batch N is, and ``commits/N`` that it is
done, and the watermark after it. Where the id is lost Spark makes up a new one and goes on with the old batches: the
one that it writes again would be taken for another stream's. Where the last file of a log is cut off, the query starts
and then fails.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, Final

from pyspark.sql import SparkSession

from hbstore.errors import CorruptCheckpoint, FileOperationFailed
from hbstore.spark.hadoop import hadoop_path
from hbstore.spark.java_errors import files_fail

_VERSION: Final = re.compile(r"v\d+")
_CHECKSUM: Final = "ChecksumException"
_LOGS: Final = {"offsets": 3, "commits": 2}
"""The logs of a checkpoint, and how many lines their files have at least."""


def check_checkpoint(spark: SparkSession, folder: str) -> None:
    """Refuse a checkpoint that is half written; one that is not there yet is fine.

    Raises:
        CorruptCheckpoint: it is.
        FileOperationFailed: it cannot be read.
    """
    try:
        with files_fail("the checkpoint cannot be read", folder):
            last = {log: _last(spark, folder, log) for log in _LOGS}
            identity = _text(spark, f"{folder}/metadata")
            texts = {log: _text(spark, name) for log, name in last.items() if name is not None}
    except FileOperationFailed as error:
        reason = str(error.fields["reason"])
        if _CHECKSUM in reason:
            raise _corrupt(folder, "one of its logs", reason) from None
        raise
    if identity is None:
        if texts:
            raise _corrupt(folder, "metadata", "the file is missing, but the checkpoint has batches")
        return
    metadata = _json(identity)
    if not isinstance(metadata, dict) or not isinstance(metadata.get("id"), str):
        raise _corrupt(folder, "metadata", "the file holds no id of a query")
    for log, text in texts.items():
        if not _is_whole(text or "", _LOGS[log]):
            raise _corrupt(folder, str(last[log]).removeprefix(f"{folder}/"), "the file is cut off")


def checkpoint_watermark(spark: SparkSession, folder: str) -> datetime | None:
    """The watermark after the last batch that is done; None if there is none.

    Spark's reports of its progress hold the watermark with which a batch began, which is behind by that batch.

    Raises:
        FileOperationFailed: the checkpoint cannot be read.
    """
    with files_fail("the checkpoint cannot be read", folder):
        last = _last(spark, folder, "commits")
        text = None if last is None else _text(spark, last)
    _, _, content = (text or "").partition("\n")
    commit = _json(content)
    milliseconds = commit.get("nextBatchWatermarkMs", 0) if isinstance(commit, dict) else 0
    return datetime.fromtimestamp(milliseconds / 1_000, UTC) if milliseconds > 0 else None


def _last(spark: SparkSession, folder: str, log: str) -> str | None:
    """The last file of a log."""
    path, system = hadoop_path(spark, f"{folder}/{log}")
    if not system.exists(path):
        return None
    names = [str(one.getPath().getName()) for one in system.listStatus(path)]
    numbers = [int(name) for name in names if name.isascii() and name.isdecimal()]
    return f"{folder}/{log}/{max(numbers)}" if numbers else None


def _text(spark: SparkSession, name: str) -> str | None:
    path, system = hadoop_path(spark, name)
    if not system.exists(path):
        return None
    stream = system.open(path)
    try:
        return bytes(stream.readAllBytes()).decode("utf-8", "replace")
    finally:
        stream.close()


def _is_whole(text: str, lines: int) -> bool:
    """Whether a log's file has its version, its lines, and JSON where it should."""
    version, *content = text.splitlines() or [""]
    return (
        _VERSION.fullmatch(version) is not None
        and len(content) + 1 >= lines
        and all(_json(line) is not None for line in content if line.startswith(("{", "[")))
        and bool(content[0].startswith("{"))
    )


def _json(text: str) -> Any:
    """The value of a JSON text; None if it is none."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def _corrupt(folder: str, file: str, reason: str) -> CorruptCheckpoint:
    return CorruptCheckpoint(
        "the checkpoint is incomplete",
        checkpoint=folder,
        file=file,
        reason=reason,
        hint="Restore the checkpoint from a copy, or start a new one that continues after the table's last batch",
    )
