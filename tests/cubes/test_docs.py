"""What docs/cubes.md says is so."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hbstore import connect
from hbstore.cli import app
from hbstore.cubes import (
    Column,
    DimAttribute,
    Expression,
    Hierarchy,
    JoinChain,
    Measure,
    StorageTable,
    TableDescription,
    parse_documents,
)
from hbstore.cubes.files import CLASSES
from hbstore.cubes.lens_xml import _ROOTS
from hbstore.errors import InvalidModel
from hbstore.timelines.declaration import TIME_PARTITION_COLUMNS, UPDATE_PERIODS
from tests.cubes.test_files import FACT

PAGE = Path(__file__).parents[2] / "docs" / "cubes.md"
TEXT = PAGE.read_text(encoding="utf-8")
PARTS = {
    "measure": Measure,
    "dim attribute": DimAttribute,
    "hierarchy": Hierarchy,
    "expression": Expression,
    "join chain": JoinChain,
    "column": Column,
    "storage table": StorageTable,
    "description of a storage table": TableDescription,
}


def row(name):
    (found,) = re.findall(rf"^\| {name} \| (.*) \|$", TEXT, re.MULTILINE)
    return set(re.findall("`([a-z_]+)`", found))


def test_the_examples_are_real():
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 20
    assert not found.failed


@pytest.mark.parametrize("kind", CLASSES)
def test_every_kind_is_described_with_its_keys(kind):
    fields = set(CLASSES[kind].model_fields)
    assert fields >= {"name", "description", "properties"}
    assert fields - {"name", "description", "display", "properties"} <= row(f"`{kind}`")


@pytest.mark.parametrize("part", PARTS)
def test_every_part_is_described_with_its_keys(part):
    assert set(PARTS[part].model_fields) - row(part) <= {"extra"}


def test_the_error_is_real():
    (message,) = re.findall(r"```text\n(.*)\n```", TEXT)
    text = "kind: storage\nname: a\n---\nkind: storage\nname: b\n---" + FACT.replace("[DAILY]", "[DAILY, MONTLY]")
    with pytest.raises(InvalidModel) as caught:
        parse_documents(text, "yaml", file="rides.yaml")
    assert str(caught.value) == message


def test_the_roots_of_lens_are_those():
    section = TEXT.split("## Lens's XML")[1].split("with or without")[0]
    assert {one.removeprefix("x_") for one in re.findall("`(x_[a-z_]+)`", section)} == set(_ROOTS)


def test_every_parameter_of_a_storage_table_is_described():
    for name in (TIME_PARTITION_COLUMNS, UPDATE_PERIODS):
        assert f"`{name}`" in TEXT


def test_the_commands_output_is_real(tmp_path, monkeypatch):
    (shown,) = re.findall(r"```console\n\$ hbstore (.*?)\n(.*?)```", TEXT, re.DOTALL)
    cube = "kind: cube\nname: rides\nmeasures: [{name: minutes, type: int}]\n"
    expression = "expressions: [{name: pace, type: double, specs: [{expression: minutes / metres}]}]\n"
    (tmp_path / "rides.yaml").write_text(cube + expression)
    monkeypatch.chdir(tmp_path)
    with connect(f"{tmp_path}/catalog.db") as store:
        store.create_database("shop")
    result = CliRunner().invoke(app, shlex.split(shown[0]), env={"HBSTORE_URL": f"{tmp_path}/catalog.db"})
    assert (result.exit_code, result.output) == (2, shown[1])
