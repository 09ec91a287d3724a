"""The commands of docs/operating.md, run one after the other as an operator would, in folders of a test."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
import urllib3

from tests.processes import ROOT

PAGE = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
FOLDERS = ("/data", "/backups", "/opt", "/src")


def steps():
    """Each command of the page, and what stands below it."""
    for block in re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            yield command, output


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as found:
        return str(found.getsockname()[1])


@pytest.fixture
def here(tmp_path):
    """Puts the folders of the page below a test's, and its ports where nobody listens."""
    ports = {"9083": free_port(), "8080": free_port()}
    for name in FOLDERS:
        (tmp_path / name[1:]).mkdir()

    def map_text(text):
        for name in FOLDERS:
            text = re.sub(rf"(?<![\w.]){name}(?=[/\s']|$)", f"{tmp_path}{name}", text)
        return re.sub(r"\b(9083|8080)\b", lambda found: ports[found[0]], text)

    return map_text, ports["9083"]


def test_each_command_of_the_page_works(here, tmp_path, wheel):
    map_text, port = here
    server = None
    environment = {**os.environ, "PATH": f"{tmp_path}/opt/hbstore/bin:{os.environ['PATH']}"}

    def run(command):
        return subprocess.run(  # noqa: S602
            command, shell=True, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        ).stdout

    def stop():
        if server is not None and server.poll() is None:
            server.terminate()
            server.stdout.close()
            assert server.wait() == 0

    ran = []
    try:
        for command, output in steps():
            line = map_text(command)
            if "/pip install " in line:  # the packages of the extra are those of this environment
                packages = next((tmp_path / "opt" / "hbstore").glob("lib/*/site-packages"))
                (packages / "outer.pth").write_text(sysconfig.get_path("purelib"))
                run(f"{line.partition(' install ')[0]} install --quiet --no-deps {wheel}")
            elif " serve " in line and "--show-config" not in line:
                words = f"exec {line} --port {port}"
                server = subprocess.Popen(words, shell=True, cwd=tmp_path, env=environment, stdout=subprocess.PIPE)  # noqa: S602
                assert "".join(server.stdout.readline().decode() for _ in output.splitlines()) == map_text(output)
            elif line.startswith("curl "):
                assert urllib3.request("GET", line.partition(" ")[2]).json() == {"ready": True, "problems": {}}
            else:
                if " restore " in line:
                    stop()
                run(line.replace("python3", sys.executable, 1) if line.startswith("python3") else line)
            ran.append(command)
    finally:
        stop()
    assert len(ran) == len(list(steps())) > 10
    assert min(one.name for one in (tmp_path / "backups").iterdir()) == "before-the-upgrade.db"
    assert run("hbstore --store data/restored.db databases") == "default\n"
    shutil.rmtree(tmp_path / "opt")


def test_every_path_of_the_page_is_one_of_the_test_s():
    named = {Path(path).parts[1] for command, _ in steps() for path in re.findall(r"(?<![\w:/.])/[\w./-]+", command)}
    assert named == {name[1:] for name in FOLDERS}
