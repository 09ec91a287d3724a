"""A conversation with a metastore: what a Java client asks it, and what comes back of each call."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from pathlib import Path

from py4j.java_gateway import JavaObject
from py4j.protocol import Py4JError, Py4JJavaError

from tests.metastore.clients.java import exception

SHOWN = 400
"""Characters of a result that a failure shows."""
NOT_THERE = "not a method of this client"
SLACK = 2
"""Seconds that clocks may be apart, of which one cuts off the fraction."""
TIMES = {
    *("createTime", "lastAccessTime", "transient_lastDdlTime", "lastAnalyzed", "grantTime"),
    *("acquiredat", "lastheartbeat", "startedTime", "lastHeartbeatTime"),
}
DEFAULTS = {
    "rewriteEnabled": 0,  # Hive's metastore adds it, hbstore answers what was sent
    "temporary": 0,  # the other way round
    "heartbeatCount": 0,
    "storedAsSubDirectories": 0,  # where Hive answers what was sent, hbstore what is stored
    "skewedInfo": {"skewedColNames": [], "skewedColValueLocationMaps": {}, "skewedColValues": []},
}
"""Fields that say nothing with these values, so that it does not matter whether they are there."""
UNORDERED = {
    *("listTableNamesByFilter", "listPartitions", "listPartitionsByFilter", "listPartitionsWithAuthInfo"),
    *(
        "listPartitionSpecs",
        "listPartitionSpecsByFilter",
        "getTableObjectsByName",
        "getTableMeta",
        "getPartitionsByNames",
        "dropPartitions",
        "found",
    ),
    *("exchange_partitions", "getAllFunctions", "showLocks", "listRoleNames", "list_roles"),
    *("getPartitionsWithSpecs", "getTablesExt"),
    *("getPrimaryKeys", "getForeignKeys", "getUniqueConstraints", "getNotNullConstraints", "getDefaultConstraints"),
    *("getTableColumnStatistics", "getPartitionColumnStatistics", "getAggrColStatsFor"),
}
"""What Hive's metastore answers in no order."""
MADE = re.compile(r"^((?:pk|fk|uk|nn|dc)_[0-9]+)_[0-9]{13}_[0-9]+$")
"""Names of constraints that a server makes: of a kind, a hash of what is constrained, the time, and a number."""
IDS = {"lockid": "lock", "lockIdInternal": "part", "txnid": "txn", "txn_ids": "txn", "blockedByExtId": "lock"}
"""Fields with numbers that a server gives out, and what is counted in them."""


@dataclass(frozen=True, slots=True)
class Known:
    """A difference from Hive's metastore that is meant.

    Attributes:
        reason: why it is.
        answer: what hbstore answers; of its structs those fields that matter.
    """

    reason: str
    answer: object


class Conversation:
    """Calls to a metastore, written down in ``outcomes``: (call, what came back, Known or None), so that runs compare.

    What did not go as the conversation says is in ``unexpected``.

        ask("createDatabase", ask.struct("Database", name="shop"))
        ask.fails("NoSuchObjectException", "getDatabase", "nope")

    Args:
        java: the JVM.
        uri: the metastore.
        root: the folder of its warehouse.
        passed_over: names of fields that are not compared.
        unordered: methods, beside UNORDERED, whose answers are in no order.
    """

    def __init__(self, java, uri, root, passed_over=(), unordered=()):
        self._passed_over = passed_over
        self._unordered = {*UNORDERED, *unordered}
        self.java = java
        self.struct = java.struct
        self.root = Path(root)
        self.outcomes = []
        self.unexpected = []
        self.client = java.client(uri)
        self._began = time.time()
        self._ids = {}

    def __call__(self, method, *arguments):
        """A call that should succeed; its result as Java has it, None if it failed."""
        return self._ask(None, method, arguments)

    def fails(self, expected, method, *arguments):
        """A call that should fail with an exception of this class."""
        self._ask(expected, method, arguments)

    def differs(self, reason, answer, method, *arguments):
        """A call to which hbstore answers this instead of what Hive's metastore answers, and why."""
        result = self.files(*arguments) if method == "files" else self._ask(..., method, arguments)
        call, outcome, _ = self.outcomes.pop()
        self.outcomes.append((call, outcome, Known(reason, answer)))
        return result

    def note(self, name, value):
        """Write down something else that is to be compared, such as which files are there."""
        self._write(name, (), value)

    def location(self, path):
        """The location of a path below the warehouse."""
        return f"file:{self.root}/{path}"

    def shown_location(self, path):
        """The same as `outcomes` have it."""
        return f"file:/ROOT/{path}"

    def write(self, path, text="data"):
        """A file below the warehouse."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def files(self, path=""):
        """Write down what lies below a folder of the warehouse."""
        found = sorted((self.root / path).rglob("*"))
        self.note(f"files of {path}", [f"{one.relative_to(self.root)}{'/' * one.is_dir()}" for one in found])

    def _ask(self, expected, method, arguments):
        try:
            result, failure = getattr(self.client, method)(*arguments), None
        except Py4JJavaError as error:
            result, failure = None, exception(error)
            text = str(error.java_exception)
        except Py4JError as error:  # there is no such method with such arguments
            result, failure, text = None, NOT_THERE, str(error)
        if expected is not ... and failure != expected:
            said = f"answers {self.java.plain(result)}" if failure is None else f"fails: {text}"
            self.unexpected.append(f"{method} {said}")
        self._write(method, arguments, self.java.plain(result) if failure is None else f"fails: {failure}")
        return result

    def _write(self, method, arguments, result):
        shown = ", ".join(self._shown(one) for one in arguments)
        result = self._normal(result)
        if method in self._unordered:
            result = in_order(result)
        self.outcomes.append((f"{len(self.outcomes) + 1}. {method}({shown})", result, None))

    def _shown(self, argument):
        """An argument in a call's name: an object only by its class."""
        if isinstance(argument, list):
            return f"[{', '.join(map(self._shown, argument))}]"
        if isinstance(argument, JavaObject):
            return argument.getClass().getSimpleName()
        return str(self._normal(argument))

    def _normal(self, value, name=None):
        if isinstance(value, dict):
            kept = {key: one for key, one in sorted(value.items()) if DEFAULTS.get(key, ...) != one}
            kept = {key: one for key, one in kept.items() if key not in self._passed_over}
            return {key: self._normal(one, key) for key, one in kept.items()}
        if isinstance(value, (list, tuple)):
            return [self._normal(one, name) for one in value]
        if isinstance(value, str):
            value = value.replace(str(self.root), "/ROOT")
            value = MADE.sub(r"\1 NOW", value)
        if name in TIMES and self._is_now(value):
            return "NOW"
        if name in IDS and value:
            ids = self._ids.setdefault(IDS[name], {})
            return f"{IDS[name]} {ids.setdefault(value, len(ids) + 1)}"
        return value

    def _is_now(self, value):
        if not str(value).isdecimal():
            return False
        seconds = int(value) / (1 if int(value) < 1 << 32 else 1000)
        return self._began - SLACK <= seconds <= time.time() + SLACK


def in_order(value):
    """A result in an order of its own: its lists of structs, and names if it is a list of them."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return sorted(value)
    return _structs_in_order(value)


def _structs_in_order(value):
    if isinstance(value, dict):
        return {key: _structs_in_order(one) for key, one in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict):
        found = [_structs_in_order(one) for one in value]
        return sorted(found, key=lambda one: json.dumps([one.get("values"), one]))
    return value


def differences(expected, got, path=""):
    """Where two results differ, a line for each place."""
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in sorted(expected.keys() | got.keys()):
            yield from differences(expected.get(key, "(not there)"), got.get(key, "(not there)"), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for at, pair in enumerate(zip(expected, got, strict=True)):
            yield from differences(*pair, f"{path}[{at}]")
    elif expected != got:
        yield f"{path or 'answer'}: expected {shortened(expected)}, got {shortened(got)}"


def told(expected, found):
    """A result without the fields that an expected one does not tell."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return {key: told(expected[key], one) for key, one in found.items() if key in expected}
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [told(*pair) for pair in zip(expected, found, strict=True)]
    return found


def shortened(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < SHOWN else f"{text[:SHOWN]}…"
