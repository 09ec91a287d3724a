"""What deploy/ and docker-compose.yml hold: their options exist, their steps work, and schemas and tools take them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import tomllib

import kubernetes_validate
import pytest
import typer
import yaml

from hbstore.cli import app
from hbstore.cli.configuration import read_configuration
from hbstore.release import VERSION
from tests.processes import ROOT

DEPLOY = ROOT / "deploy"
ROOT_COMMAND = typer.main.get_command(app)
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
UNIT = (DEPLOY / "hbstore.service").read_text()
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
MANIFESTS = [
    pytest.param(document, id=f"{path.name}-{document['kind']}")
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text())
]
IMAGE = dict(re.findall(r"^(?:ENV)? +(HBSTORE_\w+)=(\S+)", DOCKERFILE, re.MULTILINE))


def options(environment, path=None):
    """The options of commands that an environment and a file set; unknown ones are errors."""
    known = {name: value for name, value in environment.items() if name != "HBSTORE_CONFIG"}
    return read_configuration(path, known, ROOT_COMMAND).values


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_schemas_of_kubernetes_take_the_manifests(manifest):
    kubernetes_validate.validate(manifest, "1.30", strict=True)


@pytest.mark.parametrize("manifest", MANIFESTS)
def test_the_options_of_the_manifests_exist(manifest, tmp_path):
    for text in manifest.get("data", {}).values():
        (tmp_path / "hbstore.toml").write_text(text)
        assert options({}, str(tmp_path / "hbstore.toml")).keys() == {
            ("serve", name) for name in tomllib.loads(text)["serve"]
        }
    for container in manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
        environment = {one["name"]: one["value"] for one in container.get("env", ())}
        found = options(IMAGE | environment)
        assert found[("serve", "host")] == "0.0.0.0"  # noqa: S104
        config = "".join(one.values[0].get("data", {}).get("hbstore.toml", "") for one in MANIFESTS)
        assert found.get(("serve", "insecure")) == "true" or "insecure = true" in config
        assert found[("store",)].partition("://")[0] in ("sqlite", "hbase")
        ports = {one["name"] for one in container["ports"]}
        for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
            assert next(iter(container[probe].values()))["port"] in ports


def test_the_image_is_one_that_a_user_without_rights_runs():
    assert re.findall(r"^USER (\S+)$", DOCKERFILE, re.MULTILINE) == ["hbstore"]
    assert options(IMAGE) == {("store",): "sqlite:///data/catalog.db", ("serve", "host"): "0.0.0.0"}  # noqa: S104
    for path in re.findall(r"(?<=/src/)\S+\.sh", DOCKERFILE):
        assert os.access(ROOT / path, os.X_OK)


def test_compose_starts_both():
    hbstore = COMPOSE["services"]["hbstore"]
    assert (ROOT / hbstore["build"]["dockerfile"]).exists()
    assert hbstore["depends_on"].keys() <= COMPOSE["services"].keys()
    assert {volume.partition(":")[0] for volume in hbstore["volumes"]} == COMPOSE["volumes"].keys()
    found = options(IMAGE | hbstore["environment"])
    assert found[("store",)] == "hbase://hbase:9090/hbstore"
    assert found[("serve", "insecure")] == "true"
    assert all(port.startswith("127.0.0.1:") for one in COMPOSE["services"].values() for port in one["ports"])


def test_compose_is_taken_by_docker():
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode:
        pytest.skip("there is no docker compose")
    subprocess.run([docker, "compose", "-f", str(ROOT / "docker-compose.yml"), "config", "-q"], check=True)


def test_the_unit_s_options_exist_and_systemd_takes_it(tmp_path):
    environment = dict(re.findall(r"^Environment=(HBSTORE_\w+)=(.*)$", UNIT, re.MULTILINE))
    assert options(environment) == {("store",): "sqlite:///var/lib/hbstore/catalog.db"}
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd")
    program = re.search(r"^ExecStart=(\S+)", UNIT, re.MULTILINE)[1]
    (tmp_path / "hbstore.service").write_text(UNIT.replace(program, shutil.which("true")))
    command = ["systemd-analyze", "verify", str(tmp_path / "hbstore.service")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert [line for line in done.stderr.splitlines() if "hbstore.service" in line] == []


def test_the_steps_of_the_image_install_the_program(wheel, tmp_path):
    """As the image does, but that packages come from here."""
    target = tmp_path / "hbstore"
    environment = {**os.environ, "PIP_NO_DEPS": "1", "PYTHONPATH": sysconfig.get_path("purelib")}
    command = [str(DEPLOY / "install.sh"), str(wheel), str(target), "service"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(f"hbstore {VERSION}")
    assert (target / "bin" / "hbstore").exists()


def test_without_its_arguments_the_installer_says_what_they_are():
    done = subprocess.run([str(DEPLOY / "install.sh")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (2, f"usage: {DEPLOY / 'install.sh'} SOURCE TARGET [EXTRA]\n")
