from __future__ import annotations

import json
import sys

import pytest

import hbstore
from hbstore.cli import failures, main

_RANGES = "RangesPartitionTimeline"

READING = (
    ("databases",),
    ("tables", "shop"),
    ("describe", "shop.sales"),
    ("partitions", "shop.sales"),
    ("count", "shop.sales"),
    ("explain", "shop.sales"),
    ("check",),
)
READING_MODEL = (
    ("model", "list", "--database", "shop"),
    ("model", "describe", "fact", "shop.sales"),
    ("model", "export", "--database", "shop"),
    ("fact", "timelines", "--fact-name", "shop.sales"),
    ("fact", "cover", "shop.sales", "--from", "2015-01-30", "--to", "2015-02-01"),
    ("fact", "partitions", "list", "shop.sales"),
    ("timeline", "show", "shop.s1_sales"),
    ("timeline", "check"),
    ("timeline", "export", "shop.s1_sales"),
)
CHANGING = (
    ("create-table", "shop.new", "--partition", "ds date"),
    ("drop-table", "shop.sales"),
    ("drop-database", "shop", "--cascade"),
    ("add-partition", "shop.sales", "ds=2014-01-01/hour=5"),
    ("drop-partition", "shop.sales", "ds=2013-01-01/hour=5"),
    ("rename-partition", "shop.sales", "ds=2013-01-01/hour=5", "ds=2014-01-01/hour=5"),
    ("load", "shop.sales", "-", "--format", "csv"),
    ("repair",),
)
CHANGING_MODEL = (
    ("model", "create", "more.yaml", "--database", "shop"),
    ("model", "alter", "model.yaml", "--database", "shop"),
    ("model", "drop", "fact", "shop.sales"),
    ("fact", "partitions", "add", "shop.sales", "--update-period", "DAILY", "--time", "dt=2015-02-02"),
    ("fact", "partitions", "drop", "shop.sales", "--update-period", "DAILY", "--time", "dt=2015-02-01"),
    ("timeline", "convert", "shop.s1_sales", "--update-period", "DAILY", "--column", "dt", "--class", _RANGES),
    ("timeline", "rebuild", "shop.s1_sales"),
    ("timeline", "import", "shop.s1_sales", "ranges.json"),
)


_CACHE = "cube.storagetable.partition.timeline.cache"
RANGES = {
    f"{_CACHE}.HOURLY.dt.storage.class": _RANGES,
    f"{_CACHE}.HOURLY.dt.ranges": "[2015-01-29-06, 2015-01-30-00)",
    f"{_CACHE}.DAILY.dt.storage.class": _RANGES,
    f"{_CACHE}.DAILY.dt.ranges": "[2015-01-30, 2015-02-02)",
}


def all_errors(kind=hbstore.HbstoreError):
    return {kind}.union(*(all_errors(below) for below in kind.__subclasses__()))


def test_every_error_has_an_exit_code():
    codes = {
        kind.__name__: failures.exit_code(hbstore.errors.error_of(kind.__name__, "x", {})) for kind in all_errors()
    }
    assert {name for name, code in codes.items() if code == failures.STORE} == {
        "AddressUnavailable",
        "CommitStateUnknown",
        "ConcurrentChange",
        "CorruptRow",
        "CorruptTimeline",
        "MetastoreUnavailable",
        "NotAStore",
        "PublicationLost",
        "ServerUnavailable",
        "StoreBusy",
        "StoreFull",
        "StoreReadOnly",
        "StoreUnavailable",
        "VersionMismatch",
        "WriteConflict",
    }
    assert {name for name, code in codes.items() if code == failures.PROBLEMS} == {"Uncoverable"}
    assert set(codes.values()) == {failures.STORE, failures.MISTAKE, failures.PROBLEMS}


@pytest.fixture
def _files(tmp_path, monkeypatch, model_file):
    """What commands are given is there: files with descriptions and with timelines."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "more.yaml").write_text("kind: storage\nname: s2\n")
    (tmp_path / "ranges.json").write_text(json.dumps(RANGES))
    assert model_file


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", [*READING, *CHANGING, *READING_MODEL, *CHANGING_MODEL])
def test_a_missing_store_is_not_created(run, path, tmp_path, command):
    before = sorted(tmp_path.iterdir())
    result = run(*command, code=3)
    assert result.stderr.startswith(
        f"Error: the store does not exist: path={path}\nHint: Create it with `hbstore init`"
    )
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("store", ["default", "environment", "option"])
def test_a_missing_store_is_named(run, tmp_path, store):
    file = str(tmp_path / "some.db")
    option = {"option": ["--store", file]}.get(store, [])
    environment = {"HBSTORE_URL": file} if store == "environment" else {}
    result = run("databases", *option, code=3, store=None, env=environment)
    named = tmp_path / "home" / ".config" / "hbstore" / "hbstore.db" if store == "default" else file
    assert f"path={named}\n" in result.stderr


def test_an_empty_file_is_no_store_yet(run, path):
    path.touch()
    assert "the store does not exist" in run("databases", code=3).stderr
    assert path.stat().st_size == 0
    run("init")
    assert run("databases").stdout == "default\n"


def test_the_store_of_a_command_comes_first(run, tmp_path, shop):
    nowhere = str(tmp_path / "nowhere.db")
    assert run("databases", "--store", shop, store=nowhere).stdout == "shop\n"
    assert run("databases", store=shop, env={"HBSTORE_URL": nowhere}).stdout == "shop\n"
    assert run("databases", store=None, env={"HBSTORE_URL": shop}).stdout == "shop\n"


@pytest.mark.parametrize("command", [("databases",), ("init",), ("create-database", "shop")])
def test_another_programs_file_is_left_alone(run, path, command):
    text = "These are my notes. " * 100
    path.write_text(text)
    assert "the file is not an hbstore store" in run(*command, code=3).stderr
    assert path.read_text() == text


def test_a_store_in_a_folder_that_is_missing(run, tmp_path):
    result = run("init", store=str(tmp_path / "no" / "x.db"), code=3)
    assert f"Hint: Create it with: mkdir -p {tmp_path}/no\n" in result.stderr


@pytest.mark.parametrize("url", ["ftp://x", "sqlite://", "sqlite:///x.db?mode=no", "sqlite:///x.db?color=red"])
def test_urls_that_make_no_sense(run, url):
    assert run("databases", store=url, code=2).stderr.startswith("Error: ")


@pytest.mark.parametrize("command", [*CHANGING, ("create-database", "more")])
def test_a_read_only_store(run, shop, command):
    result = run(*command, store=f"{shop}?mode=ro", code=3, input="ds,hour\n2014-01-01,5\n")
    assert "the store cannot be written" in result.stderr


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize("command", CHANGING_MODEL)
def test_a_read_only_model(run, model, command):
    run("timeline", "check")
    result = run(*command, store=f"{model}?mode=ro", code=3)
    assert "the store cannot be written" in result.stderr
    run(*command)


@pytest.mark.parametrize("command", READING)
def test_a_read_only_store_can_be_read(run, shop, command):
    run(*command, store=f"{shop}?mode=ro")


@pytest.mark.parametrize("command", READING_MODEL)
def test_a_read_only_model_can_be_read(run, model, command):
    run("timeline", "check")  # timelines are built when they are first asked for
    run(*command, store=f"{model}?mode=ro")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", ["partitions", "count", "explain"])
def test_bad_filters(run, command):
    def error(text):
        option = () if command == "explain" else ("--filter",)
        result = run(command, "shop.sales", *option, text, code=2)
        assert result.stdout == ""
        return result.stderr

    assert error("ds = '2013-01-01' andd hour = 5") == (
        "Error: the filter does not parse: line=1, column=19, found=andd, expected=AND, OR or the end\n"
        "    ds = '2013-01-01' andd hour = 5\n"
        "                      ^\n"
        "Hint: The condition before this is complete: only AND or OR can follow\n"
    )
    assert error("region = 'eu'").startswith("Error: the column is not a partition column: column=region\nHint: ")
    assert "cannot be compared" in error("hour = 'noon'")
    assert "the filter is too long" in error("hour = 5 or " * 1_000_000 + "hour = 6")


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", READING[1:-1])
def test_names_that_are_not_there(run, command):
    swapped = [word.replace("shop", "nowhere") for word in command]
    assert "the database does not exist: database=nowhere" in run(*swapped, code=2).stderr
    if "." in command[1]:
        missing = [word.replace("sales", "nothing") for word in command]
        result = run(*missing, code=2)
        assert (
            "Error: the table does not exist: table=shop.nothing\nHint: List the tables with `hbstore tables shop`"
            in result.stderr
        )


@pytest.mark.parametrize("command", [["nonsense"], ["databases", "more"], ["count"], ["--colour", "databases"]])
def test_wrong_usage(run, command):
    assert run(*command, code=2, store=None).stderr.startswith("Usage: hbstore")


def test_control_characters_do_not_reach_the_terminal(run, path):
    result = run("databases", store=f"{path}\x1b[2J", code=3)
    assert "\\x1b[2J" in result.stderr
    assert "\x1b" not in result.output


def test_traceback_for_developers(run, url, monkeypatch, capsys):
    assert "Traceback" not in run("databases", code=3).stderr
    for arguments, environment in (([url, "--traceback"], "0"), ([url], "1")):
        monkeypatch.setenv("HBSTORE_DEBUG", environment)
        monkeypatch.setattr(sys, "argv", ["hbstore", "--store", *arguments, "databases"])
        with pytest.raises(SystemExit, match="3"):
            main()
        assert "Traceback" in capsys.readouterr().err


def test_a_bug_shows_its_traceback(url, shop, monkeypatch, capsys):
    def broken(_url, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr(hbstore, "connect", broken)
    monkeypatch.setattr(sys, "argv", ["hbstore", "--store", url, "databases"])
    with pytest.raises(SystemExit, match=str(failures.BUG)):
        main()
    shown = capsys.readouterr().err
    assert "ZeroDivisionError" in shown
    assert "This is a bug in hbstore" in shown
    assert shop
