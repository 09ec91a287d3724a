"""Options from a file and from the environment: which counts most, and what is refused."""

from __future__ import annotations

import pytest
import typer

from hbstore.cli import app
from hbstore.cli.configuration import options_of, variable


@pytest.fixture
def file(tmp_path):
    """Writes a file of options; its path."""

    def write(text):
        path = tmp_path / "hbstore.toml"
        path.write_text(text)
        return str(path)

    return write


@pytest.fixture
def shown(run):
    """What `--show-config` prints of a command: value and source of each option."""

    def show(*words, before=()):
        lines = run(*before, "--show-config", *words).stdout.splitlines()
        parts = [line.split("  # ") for line in lines]
        return {
            name: (value, source) for left, source in parts for name, value in [left.removeprefix("--").split("=", 1)]
        }

    return show


def test_the_command_line_counts_most_then_the_environment_then_the_file(shown, file, monkeypatch):
    path = file("[serve]\nport = 1\nhttp-port = 2\nsql-port = 3\nmetrics-port = 4\nread-only = true\n")
    monkeypatch.setenv("HBSTORE_SERVE_PORT", "5")
    monkeypatch.setenv("HBSTORE_SERVE_HTTP_PORT", "6")
    found = shown("serve", "--port", "7", before=["--config", path])
    assert found["port"] == ("7", "command line")
    assert found["http-port"] == ("6", "HBSTORE_SERVE_HTTP_PORT")
    assert found["sql-port"] == ("3", path)
    assert found["read-only"] == ("True", path)
    assert found["max-running"] == ("8", "default")


@pytest.mark.parametrize(
    ("store", "ports", "shown_folders"),
    [
        ("/data/catalog.db", (), ["/data/catalog-warehouse", ""]),
        (
            "sqlite:///data/catalog.db?mode=ro",
            ("--sql-port", "1"),
            ["/data/catalog-warehouse", "/data/catalog-results"],
        ),
        ("hbase://gateway:9090/catalog", ("--sql-port", "1"), ["", ""]),
    ],
)
def test_folders_beside_the_store_are_shown(run, store, ports, shown_folders):
    lines = run("--show-config", "serve", *ports, store=store).stdout.splitlines()
    expected = [
        f"--{name}={folder}  # default{', beside the store' if folder else ''}"
        for name, folder in zip(("warehouse", "results"), shown_folders, strict=True)
    ]
    assert [line for line in lines if line.startswith(("--warehouse=", "--results="))] == expected
    assert f"--store={store}  # before the command" in lines


def test_the_store_of_those_who_name_none_is_shown(run, tmp_path):
    lines = run("--show-config", "tables", store=None).stdout.splitlines()
    assert lines == [f"--store={tmp_path}/home/.config/hbstore/hbstore.db  # default", "--json=False  # default"]


def test_options_that_may_be_repeated_are_lists(shown, file, monkeypatch):
    path = file('[serve]\nalso-under = ["/a b", "/c"]\n')
    monkeypatch.setenv("HBSTORE_SERVE_SPARK_CONF", "a=1 'b=2 3'")
    found = shown("serve", before=["--config", path])
    assert found["also-under"][0] == "/a b /c"
    assert found["spark-conf"][0] == "a=1 b=2 3"


def test_the_store_and_the_options_of_inner_commands_are_taken(run, file, tmp_path):
    text = f'store = "{tmp_path / "other.db"}"\n[fact.cover]\nfrom = "2015-01-01"\n[partitions]\nfilter = "hour = 5"\n'
    before = ["--config", file(text)]
    run(*before, "init", "--database", "shop", store=None)
    assert (tmp_path / "other.db").exists()
    run(*before, "create-table", "shop.sales", "--partition", "hour int", store=None)
    for hour in (5, 6):
        run(*before, "add-partition", "shop.sales", f"hour={hour}", store=None)
    assert run(*before, "partitions", "shop.sales", store=None).stdout == "hour=5\n"
    assert run(*before, "partitions", "shop.sales", "--filter", "hour = 6", store=None).stdout == "hour=6\n"


def test_what_options_do_not_take_together_is_refused_wherever_it_is_written(run, monkeypatch):
    monkeypatch.setenv("HBSTORE_SERVE_MAX_QUEUED", "5")
    assert "the server has no door for queries: options=--max-queued" in run("serve", code=2).stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[serve]\nhtp-port = 1\n", "option=serve.htp-port\nHint: Did you mean serve.http-port?"),
        ("[serv]\nport = 1\n", "option=serv.port\nHint: Did you mean serve.port?"),
        ("serve = 1\n", "option=serve"),
        ("[serve]\nconfig = 'x'\n", "option=serve.config"),
        ("port 1", "the file of options is no TOML"),
        ("[serve]\nport = 'x'\n", "Invalid value for '--port'"),
    ],
)
def test_a_wrong_file_is_refused(run, file, text, said):
    assert said in run("--config", file(text), "serve", code=2).stderr


def test_a_file_that_is_not_there_is_refused(run, tmp_path):
    assert "the file of options cannot be read" in run("--config", str(tmp_path / "no"), "tables", code=2).stderr


def test_an_unknown_variable_of_a_command_is_refused(run, monkeypatch):
    monkeypatch.setenv("HBSTORE_SERVE_MAX_RUNNNING", "1")
    monkeypatch.setenv("HBSTORE_TEST_OWN", "1")
    said = run("init", code=2).stderr
    assert "option=HBSTORE_SERVE_MAX_RUNNNING\nHint: Did you mean HBSTORE_SERVE_MAX_RUNNING?" in said


def test_no_two_options_have_one_variable():
    options = options_of(typer.main.get_command(app))
    assert len({variable(key) for key in options}) == len(options) > 200


def test_showing_the_options_changes_no_later_command(run, shown):
    shown("tables")
    run("init", "--database", "shop")
    assert run("databases").stdout == "default\nshop\n"
