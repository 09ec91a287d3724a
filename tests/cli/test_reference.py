from __future__ import annotations

import re
import shlex
from dataclasses import replace
from datetime import UTC, datetime

import pytest
import typer

from hbstore.cli import app
from hbstore.files.warehouse import Warehouse
from hbstore.model.service_objects import LockComponent, LockLevel, LockType
from hbstore.publishing import Manifest, Publisher
from hbstore.retention.expiry import expire
from tests.cli.reference import HEADING, PAGE, commands, is_group, reference

COMMAND = typer.main.get_command(app)
COMMANDS = {name: command for name, command in commands().items() if not is_group(command)}
GROUPS = {name: command for name, command in commands().items() if is_group(command)}
TEXT = PAGE.read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n(.*?)```", TEXT.partition(HEADING)[0], re.DOTALL)


def test_the_reference_is_what_help_says(request):
    before, _, written = TEXT.partition(HEADING)
    if request.config.getoption("--update-golden", default=False):
        PAGE.write_text(before + HEADING + reference(), encoding="utf-8")
    else:
        assert written == reference(), "run: pytest tests/cli/test_reference.py --update-golden"


@pytest.mark.parametrize("name", commands())
def test_every_command_and_option_is_documented(name):
    section = TEXT.partition(f"\n### hbstore {name}\n")[2].partition("\n### ")[0]
    assert section
    for parameter in commands()[name].params:
        for option in () if getattr(parameter, "hidden", False) else parameter.opts:
            assert not option.startswith("-") or option in section


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_sentences_with_examples(name):
    command = COMMANDS[name]
    assert command.help.strip().endswith(".")
    assert "$ hbstore " in command.epilog
    for parameter in command.params:
        assert parameter.help.endswith("."), parameter.name


@pytest.mark.parametrize("name", ["", *GROUPS])
def test_lists_of_commands_show_whole_sentences(name, run):
    """click cuts what does not fit a line of 80 characters."""
    listed = run(*name.split(), "--help", store=None).output.partition("\nCommands:\n")[2].partition("\n\n")[0]
    lines = listed.splitlines()
    assert lines
    assert [line for line in lines if not line.endswith(".") or line.endswith("...")] == []


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_alone_shows_its_help(name, run):
    assert GROUPS[name].help.endswith(".")
    assert run(*name.split(), code=2, store=None).output == run(*name.split(), "--help", store=None).output


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_knows_json_and_help(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    assert "--json" in options
    assert "--store" in options or name in ("version", "spark-conf", *SERVER)


SERVER = tuple(f"query {name}" for name in ("submit", "explain", "status", "results", "cancel", "list"))
ELSEWHERE = ("serve", "console", "import", "export", "restore", *SERVER)
"""Their examples need another process, or that none has the store open: see test_serve.py, test_transfer.py,
query_service/test_doors.py and test_keeping.py."""


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ELSEWHERE])
def test_examples_run(name, run, tmp_path, monkeypatch, cubes):
    monkeypatch.chdir(tmp_path)
    csv = "ds,hour\n2014-01-01,5\n"
    properties = run("timeline", "export", "shop.s1_sales").stdout
    (tmp_path / "partitions.csv").write_text(csv)
    (tmp_path / "partitions.jsonl").write_text('{"values": ["2014-01-01", "5"]}\n')
    (tmp_path / "partitions.yaml").write_text("- {table: sales, update_period: DAILY, time: {dt: 2015-02-03}}\n")
    (tmp_path / "backups").mkdir()
    (tmp_path / "s1_sales.properties").write_text(properties)
    prepared = {
        "create-database": "drop-database shop --cascade",
        "create-table": "drop-table shop.sales --if-exists",
        "drop-database": "create-database shop --if-not-exists",
        "add-partition": "drop-partition shop.sales ds=2013-01-01/hour=5 ds=2013-01-01/hour=6 --if-exists",
        "load": "drop-partition shop.sales ds=2014-01-01/hour=5 --if-exists",
        "model create": "model drop fact shop.sales --if-exists; model drop cube shop.sales_cube --if-exists;"
        " model drop storage shop.s1 --if-exists",
        "sql": "drop-table shop.returns --if-exists; create-table shop.returns --partition 'region string'"
        f" --if-not-exists --location {tmp_path}/returns",
        "repair": "create-table shop.logs --partition 'ds date' --partition 'hour int' --if-not-exists"
        f" --location {tmp_path}",
        "fact partitions drop": "fact partitions add shop.sales --file partitions.yaml",
    }
    lines = re.findall(r"\$ hbstore (.*)", COMMANDS[name].epilog)
    assert lines
    if name == "publications abandon":
        cubes.store.alter_table(replace(cubes.store.get_table("shop", "sales"), location=f"file:{tmp_path}/sales"))
        manifest = Manifest(lines[0].split()[-1], f"file:{tmp_path}/sales/_hbstore/7", ())
        Publisher(cubes.store).lease("shop.sales", manifest)
    if name == "locks release":
        cubes.store.hive.locks.lock([LockComponent(LockType.EXCLUSIVE, LockLevel.TABLE, "shop", "sales")])
    if name.startswith("expire"):  # which moves no files then
        cubes.store.alter_table(replace(cubes.store.get_table("shop", "sales"), table_type="EXTERNAL_TABLE"))
    if name == "expired undo":
        sales, where = cubes.store.table("shop.sales"), Warehouse("/data/warehouse")
        old = [one.payload for one in sales.partitions()]
        next(expire(cubes.store, where, sales.definition, old, datetime(2026, 11, 29, tzinfo=UTC)))
        ((_, text),) = cubes.store.records.list("expired")
        cubes.store.records.create("expired", lines[0].split()[2], text)
    for number, line in enumerate(lines):
        for preparation in prepared.get(name, "").split(";"):
            if preparation and (number == 0 or "--if" in preparation or "--cascade" in preparation):
                run(*shlex.split(preparation))
        words = shlex.split(line.partition(" > ")[0].replace("sqlite:///data", f"sqlite://{tmp_path}"))
        run(*words, input=properties if name.startswith("timeline") else csv)
    assert cubes


def test_examples_of_the_program_run(run):
    for line in re.findall(r"\$ hbstore (.*)", COMMAND.epilog):
        run(*shlex.split(line))


def test_the_page_shows_real_output(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "partitions.csv").write_text(re.search(r"```csv\n(.*?)```", TEXT, re.DOTALL)[1])
    (tmp_path / "wrong.csv").write_text("ds,hour\n2013-01-04,5\n2013-01-04,noon\n")
    for name, text in zip(("model.yaml", "days.yaml"), re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL), strict=True):
        (tmp_path / name).write_text(text)
    for block in CONSOLE:
        for step in re.split(r"^\$ hbstore ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = step.partition("\n")
            if line.startswith("query run "):  # by Spark: test_queries.py
                continue
            code = 1 if "no partitions cover" in expected else 2 if expected.startswith("Error") else 0
            result = run(*shlex.split(line), store="catalog.db", code=code)
            assert result.output.replace(str(tmp_path), "/data") == expected


def test_the_pages_json_lines_load(run, tmp_path):
    (tmp_path / "some.jsonl").write_text(re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)[1])
    run("init", "--database", "shop")
    run("create-table", "shop.sales", "--partition", "ds date", "--partition", "hour int")
    assert run("load", "shop.sales", str(tmp_path / "some.jsonl")).stdout.startswith("3 partitions added")
