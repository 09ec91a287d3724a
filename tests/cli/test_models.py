from __future__ import annotations

import json

import pytest
import yaml

from hbstore.cli.models import ModelKind
from hbstore.cubes import KINDS, read_documents
from tests.cli.conftest import MODEL

DIMENSION = """
kind: dimension
name: customers
dim_attributes: [{name: id, type: int}]
---
kind: dimtable
name: customers_daily
dimension: customers
columns: [{name: id, type: int}]
"""
WITHOUT_STORAGE = """
kind: fact
name: sales
cube: sales_cube
columns: [{name: price, type: double}]
description: cheaper
"""


def test_the_kinds_are_those_of_the_model_in_their_order():
    assert tuple(ModelKind) == KINDS


@pytest.mark.usefixtures("shop")
def test_create_and_list(run, run_json, model_file):
    created = "storage s1: created\ncube sales_cube: created\nfact sales: created\n"
    assert run("model", "create", model_file, "--database", "shop").stdout == created
    assert run("model", "list", "--database", "Shop").stdout == "storage s1\ncube sales_cube\nfact sales\n"
    assert run_json("model", "list", "--database", "shop", "--kind", "fact") == [{"kind": "fact", "name": "sales"}]
    assert run("model", "list", "--database", "shop", "--kind", "dimtable").stdout == ""
    assert "shop.s1_sales" in run("tables", "shop").stdout
    result = run("model", "create", model_file, "--database", "shop", code=2)
    error = f"Error: the storage already exists: file={model_file}, line=2, name=shop.s1\n"
    error += "Hint: Alter the existing one, or give the new one another name\n"
    assert result.stderr == error + "Note: nothing was created\n"
    there = run("model", "create", model_file, "--database", "shop", "--if-not-exists").stdout
    assert there == created.replace("created", "already exists")
    assert run_json("model", "create", model_file, "--if-not-exists", env={"HBSTORE_DATABASE": "shop"})[0] == {
        "kind": "storage",
        "name": "s1",
        "done": "already exists",
    }


@pytest.mark.usefixtures("shop")
def test_the_order_of_files_and_documents_does_not_matter(run, tmp_path):
    storage, cube, fact = (part.strip() for part in MODEL.split("---"))
    (tmp_path / "a.yaml").write_text(f"{fact}\n---\n{storage}")
    (tmp_path / "b.yaml").write_text(cube)
    run("model", "create", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"), "--database", "shop")


@pytest.mark.usefixtures("shop")
def test_all_descriptions_are_created_or_none(run, tmp_path):
    storage, _, fact = MODEL.split("---")
    (tmp_path / "some.yaml").write_text(f"{fact}\n---\n{storage}")
    result = run("model", "create", str(tmp_path / "some.yaml"), "--database", "shop", code=2)
    error, _, note = result.stderr.splitlines()
    assert "sales_cube" in error
    assert f"file={tmp_path}/some.yaml, line=4" in error
    assert note == "Note: nothing was created"
    assert run("model", "list", "--database", "shop").stdout == ""
    assert "s1_" not in run("tables", "shop").stdout


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("ending", ["yaml", "json"])
def test_an_error_says_on_which_line(run, tmp_path, ending):
    storage = {"kind": "storage", "name": "s1"}
    cube = {"kind": "cube", "name": "c", "measures": [{"name": "m", "type": "int"}, {"name": "n", "type": 5}]}
    text = json.dumps([storage, cube], indent=1)
    if ending == "yaml":
        text = "".join(f"---\n{yaml.safe_dump(one, sort_keys=False)}" for one in (storage, cube))
    line = next(at for at, one in enumerate(text.splitlines(), 1) if "5" in one)
    (tmp_path / f"some.{ending}").write_text(text)
    error = run("model", "create", str(tmp_path / f"some.{ending}"), "--database", "shop", code=2).stderr
    assert f"file={tmp_path}/some.{ending}, line={line}, document=2, kind=cube, at=measures.1.type" in error


@pytest.mark.usefixtures("shop")
def test_two_descriptions_of_one_table_are_refused(run, tmp_path):
    storage, cube, fact = MODEL.split("---")
    first, second = fact.replace("name: sales\n", "name: a_b\n"), fact.replace("name: sales\n", "name: b\n")
    parts = storage, storage.replace("s1", "s1_a"), cube, first, second.replace("storage: s1", "storage: s1_a")
    (tmp_path / "some.yaml").write_text("\n---\n".join(parts))
    error = run("model", "create", str(tmp_path / "some.yaml"), "--database", "shop", code=2).stderr
    assert "s1_a_b" in error
    assert "s1_" not in run("tables", "shop").stdout


@pytest.mark.usefixtures("shop")
def test_a_table_in_the_way_is_not_passed_over(run, model_file):
    run("create-table", "shop.s1_sales", "--partition", "dt string")
    result = run("model", "create", model_file, "--database", "shop", "--if-not-exists", code=2)
    assert "shop.s1_sales" in result.stderr


@pytest.mark.usefixtures("shop")
def test_files_that_cannot_be_read(run, tmp_path):
    for name, text, message in (
        ("no.yaml", None, "the file cannot be read"),
        ("some.txt", "", "the format of the file is unknown"),
        ("some.yaml", "kind: [", "not YAML"),
        ("some.json", "{", "not JSON"),
        ("some.xml", "<x_storage>", "not XML"),
        ("other.yaml", "kind: house", "storage, cube, derived_cube, dimension, fact, dimtable"),
        ("key.yaml", "kind: storage\nname: s1\ncolour: red", "colour"),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        for command in ("create", "alter"):
            result = run("model", command, str(tmp_path / name), "--database", "shop", code=2)
            assert message in result.stderr
            assert f"file={tmp_path / name}" in result.stderr


@pytest.mark.usefixtures("model")
def test_describe(run, run_json, tmp_path):
    text = run("model", "describe", "fact", "Sales", "--database", "shop").stdout
    assert text.endswith("# tables: s1 in s1_sales\n")
    (tmp_path / "fact.yaml").write_text(text)
    assert [str(one) for one in read_documents(tmp_path / "fact.yaml")] == ["fact sales"]
    assert run("model", "alter", str(tmp_path / "fact.yaml"), "--database", "shop").stdout == "fact sales: altered\n"
    assert "# used_by: fact sales\n" in run("model", "describe", "storage", "shop.s1").stdout
    assert "# derived_cubes: none\n# facts: sales\n" in run("model", "describe", "cube", "shop.sales_cube").stdout
    assert run_json("model", "describe", "fact", "shop.sales")["tables"] == {"s1": "s1_sales"}


@pytest.mark.usefixtures("model")
def test_alter(run, run_json, tmp_path):
    file = tmp_path / "fact.yaml"
    file.write_text(WITHOUT_STORAGE)
    assert run_json("model", "alter", str(file), "--database", "shop") == [
        {"kind": "fact", "name": "sales", "done": "altered"}
    ]
    assert run_json("model", "describe", "fact", "shop.sales")["description"] == "cheaper"
    assert "s1_sales" not in run("tables", "shop").stdout
    file.write_text(WITHOUT_STORAGE.replace("name: sales\n", "name: others\n") + "---\n" + MODEL.split("---")[0])
    result = run("model", "alter", str(file), "--database", "shop", code=2)
    assert "the fact does not exist: file=" in result.stderr
    assert "name=shop.others" in result.stderr
    assert "Note: altered before: storage s1; the command can be repeated\n" in result.stderr


@pytest.mark.usefixtures("model")
def test_drop(run, run_json):
    result = run("model", "drop", "storage", "shop.s1", code=2)
    assert result.stderr == (
        "Error: other descriptions use the storage: name=s1, used_by=fact sales\n"
        "Hint: Drop the descriptions in used_by first, or drop with cascade (--cascade)\n"
    )
    assert "shop.s1_sales" in run("tables").stdout
    assert run("model", "drop", "storage", "shop.S1", "--cascade").stdout == "storage s1: dropped\n"
    assert "shop.s1_sales" not in run("tables").stdout
    assert "the storage does not exist" in run("model", "drop", "storage", "shop.s1", code=2).stderr
    assert run("model", "drop", "storage", "shop.s1", "--if-exists").stdout == "storage s1: was not there\n"
    assert run_json("model", "drop", "fact", "sales", "--database", "shop") == {
        "kind": "fact",
        "name": "sales",
        "dropped": True,
    }
    assert run("model", "list", "--database", "shop").stdout == "cube sales_cube\n"


def test_export_is_what_create_takes(run, run_json, cubes, tmp_path):
    (tmp_path / "more.yaml").write_text(DIMENSION)
    run("model", "create", str(tmp_path / "more.yaml"), "--database", "shop")
    before = [cubes.list(kind) for kind in KINDS]
    (tmp_path / "all.yaml").write_text(run("model", "export", "--database", "shop").stdout)
    found = run_json("model", "export", "--database", "shop")
    assert [one["kind"] for one in found] == ["storage", "cube", "dimension", "fact", "dimtable"]
    (tmp_path / "all.json").write_text(json.dumps(found))
    assert [one["name"] for one in run_json("model", "export", "--database", "shop", "--kind", "cube")] == [
        "sales_cube"
    ]
    for name in ("all.yaml", "all.json"):
        for kind in ("dimension", "cube", "storage"):
            for one in cubes.names(kind):
                run("model", "drop", kind, f"shop.{one}", "--cascade")
        assert not any(cubes.list(kind) for kind in KINDS)
        run("model", "create", str(tmp_path / name), "--database", "shop")
        assert [cubes.list(kind) for kind in KINDS] == before


@pytest.mark.usefixtures("shop")
def test_what_is_not_there(run, model_file):
    for command in (
        ("create", model_file),
        ("list",),
        ("export",),
    ):
        assert "the database does not exist: database=default" in run("model", *command, code=2).stderr
    assert (
        "the fact does not exist: name=shop.no"
        in run("model", "describe", "fact", "no", "--database", "shop", code=2).stderr
    )
    assert run("model", "describe", "house", "no", code=2).stderr.startswith("Usage: hbstore model describe")


@pytest.mark.usefixtures("model")
def test_an_empty_export(run, run_json):
    run("model", "drop", "cube", "shop.sales_cube", "--cascade")
    run("model", "drop", "storage", "shop.s1")
    assert run("model", "export", "--database", "shop").stdout == ""
    assert run_json("model", "export", "--database", "shop") == []


@pytest.mark.parametrize(("command", "said"), [("create", "created"), ("alter", "altered")])
def test_files_without_descriptions_are_told(run, run_json, shop, tmp_path, command, said):
    assert shop
    (tmp_path / "empty.yaml").write_text("# nothing yet\n")
    done = run("model", command, str(tmp_path / "empty.yaml"), "--database", "shop")
    assert done.stdout == f"nothing {said}: the files hold no descriptions\n"
    assert run_json("model", command, str(tmp_path / "empty.yaml"), "--database", "shop") == []
