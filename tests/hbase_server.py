"""A real HBase for tests: the one that HBSTORE_TEST_HBASE names, a container, or dev/hbase. Never a mock."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

ROOT = Path(__file__).parents[1]
IMAGE = os.environ.get("HBSTORE_HBASE_IMAGE", "harisekhon/hbase:2.1")
"""The same as in docker-compose.yml."""
THRIFT_PORT = 9090
DOCKER_SECONDS = 5
CONTAINER_SECONDS = 120


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
    return load_dev_hbase().DevHBase(folder, guarded=True)


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
        deadline = time.monotonic() + CONTAINER_SECONDS
        while not load_dev_hbase().answers(port, host=host):
            if time.monotonic() > deadline:
                self._container.stop()
                raise RuntimeError(f"HBase in the container {IMAGE} did not answer within {CONTAINER_SECONDS} seconds")
            time.sleep(0.5)
        return f"hbase://{host}:{port}"

    def remove(self):
        self._container.stop()


def session_hbase():
    """The HBase of a test session, as (URL without prefix, what ends it or None where it is not ours).

    Raises:
        RuntimeError: there is none to be had; the text says what to do.
    """
    given = os.environ.get("HBSTORE_TEST_HBASE")
    if given:
        return given.split("?")[0].rstrip("/"), None
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


def fresh_prefix():
    """A prefix of HBase tables that no other session has."""
    return f"t{uuid.uuid4().hex[:12]}"


def delete_tables(base, prefix):
    """Delete the tables that a session made on a server that stays."""
    import happybase

    host, _, port = base.removeprefix("hbase://").split("/")[0].rpartition(":")
    connection = happybase.Connection(host, int(port), timeout=60_000)
    for table in connection.tables():
        if table.decode().startswith(f"{prefix}_"):
            connection.delete_table(table, disable=True)
    connection.close()
