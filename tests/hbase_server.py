"""A real HBase for tests: the one that HBSTORE_TEST_HBASE names, a container, or dev/hbase. Never a mock.

The workers of a session share one: who needs it first starts it, and ends it when nobody uses it any more.
"""

from __future__ import annotations

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path

from tests.pauses import idle, until
from tests.processes import locked

ROOT = Path(__file__).parents[1]
IMAGE = os.environ.get("HBSTORE_HBASE_IMAGE", "harisekhon/hbase:2.1")
"""The same as in docker-compose.yml."""
THRIFT_PORT = 9090
DOCKER_SECONDS = 5


def load_dev_hbase():
    """The module dev/hbase/dev_hbase.py, which is no package's."""
    if "dev_hbase" not in sys.modules:
        folder = ROOT / "dev" / "hbase"
        sys.path.insert(0, str(folder))
        try:
            spec = importlib.util.spec_from_file_location("dev_hbase", folder / "dev_hbase.py")
            module = importlib.util.module_from_spec(spec)
            sys.modules["dev_hbase"] = module
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(folder))
    return sys.modules["dev_hbase"]


def private_hbase():
    """An HBase in a temporary folder, not started yet, whose JVMs end with this process; ``remove()`` ends them too."""
    folder = Path(tempfile.mkdtemp(prefix="hbstore-hbase-"))
    return load_dev_hbase().DevHBase(folder, guarded=True, quick=True)


def docker_answers():
    """Whether a Docker engine answers quickly."""
    if not shutil.which("docker"):
        return False
    try:
        command = ["docker", "info", "--format", "{{.ServerVersion}}"]
        return subprocess.run(command, capture_output=True, timeout=DOCKER_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


class Container:
    """HBase in a container that testcontainers removes, even when the tests are killed."""

    def __init__(self):
        from testcontainers.core.container import DockerContainer

        self._container = DockerContainer(IMAGE).with_exposed_ports(THRIFT_PORT).with_kwargs(hostname="hbase")

    def start(self):
        self._container.start()
        host, port = self._container.get_container_host_ip(), int(self._container.get_exposed_port(THRIFT_PORT))
        try:
            until(lambda: load_dev_hbase().answers(port, host=host), look=0.5)
        except AssertionError as error:
            self._container.stop()
            raise RuntimeError(f"HBase in the container {IMAGE} did not answer") from error
        return f"hbase://{host}:{port}"

    def remove(self):
        self._container.stop()


@contextmanager
def shared_hbase(folder):
    """The HBase of a test session, as a URL without prefix, while it is used.

    Args:
        folder: what all workers of the session have in common.

    Raises:
        RuntimeError: there is none to be had; the text says what to do.
    """
    given = os.environ.get("HBSTORE_TEST_HBASE")
    if given:
        yield given.split("?")[0].rstrip("/")
        return
    with (folder / "hbase.users").open("a") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        with locked(folder / "hbase.lock"):
            known = folder / "hbase.url"
            url = known.read_text() if known.exists() else None
            end = None
            if url is None or not _answers(url):  # whoever started it may be gone
                url, end = _started_hbase()
                known.write_text(url)
        yield url
        fcntl.flock(users, fcntl.LOCK_UN)
        while end is not None:
            with locked(folder / "hbase.lock"):
                if _is_alone(users):
                    known.unlink()
                    end()
                    return
            idle(0.1)


def _is_alone(users):
    try:
        fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _answers(url):
    host, _, port = url.removeprefix("hbase://").rpartition(":")
    return load_dev_hbase().answers(int(port), host=host)


def _started_hbase():
    """An HBase, as (URL without prefix, what ends it)."""
    reasons = []
    if docker_answers():
        try:
            container = Container()
            return container.start(), container.remove
        except Exception as error:  # noqa: BLE001  whatever Docker has to say, there is another way
            reasons.append(f"a container of {IMAGE}: {error}")
    else:
        reasons.append("no Docker engine answers")
    hbase = private_hbase()
    try:
        hbase.start()
    except RuntimeError as error:
        hbase.remove()
        tried = "\n".join(f"* {one}" for one in [*reasons, f"dev/hbase: {error}"])
        text = f"tests need a real HBase and there is none. Set HBSTORE_TEST_HBASE=hbase://host:port, or see:\n{tried}"
        raise RuntimeError(text) from error
    return f"hbase://127.0.0.1:{hbase.port}", hbase.remove


@contextmanager
def own_tables(base):
    """A store URL on an HBase with a prefix that no others have; its tables go if the server is one that stays.

    A request may take long: a machine that is busy, or stalls, is no reason to fail.
    """
    prefix = f"t{uuid.uuid4().hex[:12]}"
    try:
        yield f"{base}/{prefix}?timeout=60"
    finally:
        if os.environ.get("HBSTORE_TEST_HBASE"):
            _delete_tables(base, prefix)


def _delete_tables(base, prefix):
    import happybase

    host, _, port = base.removeprefix("hbase://").split("/")[0].rpartition(":")
    connection = happybase.Connection(host, int(port), timeout=60_000)
    for table in connection.tables():
        if table.decode().startswith(f"{prefix}_"):
            connection.delete_table(table, disable=True)
    connection.close()
