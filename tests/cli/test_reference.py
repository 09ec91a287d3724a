from __future__ import annotations

import re
import shlex

import pytest
import typer

from hbstore.cli import app
from tests.cli.reference import HEADING, PAGE, command_names, reference

COMMAND = typer.main.get_command(app)
TEXT = PAGE.read_text(encoding="utf-8")
CONSOLE = re.findall(r"```console\n(.*?)```", TEXT.partition(HEADING)[0], re.DOTALL)


def test_the_reference_is_what_help_says(request):
    before, _, written = TEXT.partition(HEADING)
    if request.config.getoption("--update-golden", default=False):
        PAGE.write_text(before + HEADING + reference(), encoding="utf-8")
    else:
        assert written == reference(), "run: pytest tests/cli/test_reference.py --update-golden"


@pytest.mark.parametrize("name", command_names())
def test_every_command_and_option_is_documented(name):
    section = TEXT.partition(f"\n### hbstore {name}\n")[2].partition("\n### ")[0]
    assert section
    for parameter in COMMAND.commands[name].params:
        for option in parameter.opts:
            assert not option.startswith("-") or option in section


@pytest.mark.parametrize("name", command_names())
def test_help_is_sentences_with_examples(name):
    command = COMMAND.commands[name]
    assert command.help.strip().endswith(".")
    assert "$ hbstore " in command.epilog
    for parameter in command.params:
        assert parameter.help.endswith("."), parameter.name


@pytest.mark.parametrize("name", command_names())
def test_every_command_knows_json_and_help(name):
    options = {option for parameter in COMMAND.commands[name].params for option in parameter.opts}
    assert "--json" in options
    assert "--store" in options or name in ("version", "spark-conf")


@pytest.mark.parametrize("name", [name for name in command_names() if name != "serve"])  # see test_serve.py
def test_examples_run(name, run, tmp_path, monkeypatch, open_shop):
    monkeypatch.chdir(tmp_path)
    csv = "ds,hour\n2014-01-01,5\n"
    (tmp_path / "partitions.csv").write_text(csv)
    (tmp_path / "partitions.jsonl").write_text('{"values": ["2014-01-01", "5"]}\n')
    prepared = {
        "create-database": ["drop-database", "shop", "--cascade"],
        "create-table": ["drop-table", "shop.sales", "--if-exists"],
        "drop-database": ["create-database", "shop", "--if-not-exists"],
        "add-partition": ["drop-partition", "shop.sales", "ds=2013-01-01/hour=5", "ds=2013-01-01/hour=6"],
        "load": ["drop-partition", "shop.sales", "ds=2014-01-01/hour=5", "--if-exists"],
    }
    for number, line in enumerate(re.findall(r"\$ hbstore (.*)", COMMAND.commands[name].epilog)):
        if name in prepared and (name != "add-partition" or number == 0):
            run(*prepared[name])
        words = shlex.split(line.replace("sqlite:///data", f"sqlite://{tmp_path}"))
        run(*words, input=csv)
    assert open_shop


def test_examples_of_the_program_run(run):
    for line in re.findall(r"\$ hbstore (.*)", COMMAND.epilog):
        run(*shlex.split(line))


def test_the_page_shows_real_output(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "partitions.csv").write_text(re.search(r"```csv\n(.*?)```", TEXT, re.DOTALL)[1])
    (tmp_path / "wrong.csv").write_text("ds,hour\n2013-01-04,5\n2013-01-04,noon\n")
    for block in CONSOLE:
        for step in re.split(r"^\$ hbstore ", block, flags=re.MULTILINE)[1:]:
            line, _, expected = step.partition("\n")
            code = 2 if expected.startswith("Error") else 0
            result = run(*shlex.split(line), store="catalog.db", code=code)
            assert result.output.replace(str(tmp_path), "/data") == expected


def test_the_pages_json_lines_load(run, tmp_path):
    (tmp_path / "some.jsonl").write_text(re.search(r"```json\n(.*?)```", TEXT, re.DOTALL)[1])
    run("init", "--database", "shop")
    run("create-table", "shop.sales", "--partition", "ds date", "--partition", "hour int")
    assert run("load", "shop.sales", str(tmp_path / "some.jsonl")).stdout.startswith("3 partitions added")
