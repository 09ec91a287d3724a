"""Commands as users run them: pipes, signals, encodings, terminals."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import hbstore
from hbstore.cli import printing
from hbstore.cubes import PartitionDesc
from tests.pauses import SECONDS, until

HBSTORE = f"{sys.executable} -m hbstore"


@pytest.fixture
def _many(open_shop):
    """10,000 partitions more, far beyond what a pipe holds."""
    partitions = [hbstore.Partition(("2014-01-01", str(hour))) for hour in range(10_000)]
    open_shop.add_partitions("shop", "sales", partitions)


@pytest.fixture
def shell(url):
    """Runs a line of bash: the lines of stdout, stderr, and the exit codes of the parts of its pipe."""

    def run(line):
        result = subprocess.run(
            ["bash", "-c", f'{line}; echo "${{PIPESTATUS[*]}}"'],
            check=False,
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "HBSTORE_URL": url},
        )
        *lines, codes = result.stdout.splitlines()
        return lines, result.stderr, codes.split()

    return run


@pytest.fixture
def terminal(url):
    """Runs a command on a terminal of its own and returns all that appears there."""

    def run(*arguments, columns=200, code=0):
        ours, theirs = pty.openpty()
        environment = {**os.environ, "HBSTORE_URL": url, "TERM": "xterm", "COLUMNS": str(columns)}
        command = [sys.executable, "-m", "hbstore", *arguments]
        with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
            os.close(theirs)
            shown = b""
            while True:
                try:
                    data = os.read(ours, 65536)
                except OSError:  # the other end is closed
                    break
                if not data:
                    break
                shown += data
        os.close(ours)
        assert process.returncode == code, shown
        return shown.decode().replace("\r\n", "\n")

    return run


def plain(shown):
    """What a terminal shows, without its colours."""
    return re.sub("\x1b.*?m", "", shown)


def test_a_script_finds_the_same_exit_codes(spawn):
    assert spawn("databases").returncode == 3
    assert spawn("init", "--database", "shop").returncode == 0
    wrong = spawn("count", "shop.sales")
    assert wrong.returncode == 2
    assert wrong.stderr.decode().splitlines()[0] == "Error: the table does not exist: table=shop.sales"


@pytest.mark.usefixtures("_many")
@pytest.mark.parametrize("option", ["", "--json"])
def test_head_ends_a_listing_quietly(shell, option):
    lines, errors, codes = shell(f"{HBSTORE} partitions shop.sales {option} | head -2")
    assert len(lines) == 2
    assert errors == ""
    assert codes == ["141", "0"]


@pytest.mark.usefixtures("shop")
def test_a_short_listing_whose_reader_is_gone(shell):
    assert shell(f"(sleep 2; {HBSTORE} partitions shop.sales; echo $? >&2) | true")[1] == "141\n"


@pytest.mark.usefixtures("_many")
def test_wc_counts(shell):
    assert shell(f"{HBSTORE} partitions shop.sales | wc -l") == (["10048"], "", ["0", "0"])


@pytest.mark.usefixtures("shop")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_stdout_that_is_full(shell):
    _, errors, codes = shell(f"{HBSTORE} partitions shop.sales > /dev/full")
    assert errors == "Error: the operating system refused a call: [Errno 28] No space left on device\n"
    assert codes == ["3"]


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("option", [(), ("--json",)])
def test_stdout_that_takes_ascii_only(spawn, option):
    environment = {"PYTHONIOENCODING": "ascii"}
    result = spawn("explain", "shop.sales", "ds = '2013-01-01' and hour = 5", *option, env=environment)
    assert result.returncode == 0
    assert b"\\xd7" in result.stdout or b"\\u00d7" in result.stdout  # the sign between ranges


@pytest.mark.usefixtures("shop")
def test_arguments_that_are_no_text(spawn):
    result = spawn("count", "shop.sales", "--filter", b"ds = '\xff'")
    assert result.returncode == 2
    assert b"Traceback" not in result.stderr


def test_a_store_whose_name_is_no_text(spawn, tmp_path):
    url = os.fsencode(tmp_path) + b"/\xff.db"
    assert spawn("--store", url, "init", "--database", "shop").returncode == 0
    assert spawn("--store", url, "databases").stdout == b"default\nshop\n"
    assert [os.fsencode(entry.name) for entry in tmp_path.iterdir()] == [b"\xff.db"]


@pytest.fixture
def _interruptible():
    """Children hear SIGINT; those of a shell's background process, as in .ci/run, are born deaf to it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupted_load_says_how_far_it_came(url, open_shop):
    command = [sys.executable, "-m", "hbstore", "load", "shop.sales", "-", "--format", "csv", "--batch", "1"]
    environment = {**os.environ, "HBSTORE_URL": url}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write("ds,hour\n2013-01-03,1\n2013-01-03,2\n")
        process.stdin.flush()
        until(lambda: open_shop.count_partitions("shop", "sales") >= 50)
        process.send_signal(signal.SIGINT)
        try:
            errors = process.communicate(timeout=SECONDS)[1]
        finally:
            process.kill()
    assert process.returncode == 130
    assert errors == (
        "Interrupted: the command was stopped\n"
        "Note: 2 partitions had been added before; to go on, repeat the command with --if-not-exists\n"
    )


@pytest.mark.usefixtures("shop")
def test_tables_on_a_terminal(terminal):
    lines = terminal("partitions", "shop.sales", "--limit", "2").splitlines()
    assert "partition" in lines[0]
    assert "location" in lines[0]
    assert lines[1].split() == ["ds=2013-01-01/hour=0", "s3://shop/sales/ds=2013-01-01/hour=0"]
    assert len(lines) == 3
    assert "All shops" in terminal("databases")
    assert "ds date, hour int" in terminal("tables", "shop")


@pytest.mark.usefixtures("shop")
def test_narrow_terminals_lose_nothing(terminal):
    shown = terminal("partitions", "shop.sales", "--limit", "1", columns=30)
    assert shown.count("\n") > 2
    assert "…" not in shown


@pytest.mark.usefixtures("_many")
def test_long_listings_are_plain_on_a_terminal_too(terminal):
    assert len(terminal("partitions", "shop.sales").splitlines()) == 10_048
    assert len(terminal("partitions", "shop.sales", "--limit", str(printing.TABLE_ROWS)).splitlines()) == 1001


def test_markup_and_control_characters_in_tables(terminal, open_shop):
    partition = hbstore.Partition(("2014-01-01", "5"), location="s3://[red]x[/red]\x1b[2J")
    open_shop.add_partitions("shop", "sales", [partition])
    assert "s3://[red]x[/red]\\x1b[2J" in terminal("partitions", "shop.sales", "--filter", "ds = '2014-01-01'")


@pytest.mark.usefixtures("shop")
def test_progress_and_colours_on_a_terminal(terminal, tmp_path):
    file = tmp_path / "some.csv"
    file.write_text("ds,hour\n2013-01-03,5\n")
    assert "Loading shop.sales" in terminal("load", "shop.sales", str(file))
    assert "shop.sales" in terminal("check")
    assert "\x1b[31m" in terminal("count", "shop.no", code=2)


@pytest.mark.usefixtures("model")
def test_timelines_are_a_picture_on_a_terminal(terminal, cubes):
    cubes.drop_partitions("sales", "s1", [PartitionDesc("DAILY", {"dt": "2015-01-31"})])
    for command in (("fact", "timelines", "--fact-name", "shop.sales"), ("timeline", "show", "shop.s1_sales")):
        lines = terminal(*command, columns=100).splitlines()
        assert "██\x1b[31m×××" in lines[1]
        assert "  2 there, 1 missing in 1 hole" in lines[1]
        assert max(map(len, map(plain, lines))) < 100
        narrow = terminal(*command, columns=40)
        assert "\n████" in narrow
        assert "PartitionTimeline" not in narrow
        assert terminal(*command, "--plain").startswith("EndsAndHolesPartitionTimeline(super=")


@pytest.mark.usefixtures("model")
def test_other_tables_of_the_model_on_a_terminal(terminal):
    cover = terminal("fact", "cover", "shop.sales", "--from", "2015-01-29", "--to", "2015-02-01", "--partial")
    assert [line.split() for line in plain(cover).splitlines()] == [
        ["storage", "table", "period", "from", "to", "partitions"],
        ["s1_sales", "HOURLY", "2015-01-29-06", "2015-01-30-00", "18"],
        ["s1_sales", "DAILY", "2015-01-30", "2015-02-01", "2"],
        ["missing", "[2015-01-29,", "2015-01-29-06)"],
        ["20", "partitions", "in", "2", "runs,", "1", "range", "missing"],
    ]
    assert plain(terminal("model", "list", "--database", "shop")).split()[:4] == ["kind", "name", "storage", "s1"]
    assert "s3://shop" not in terminal("fact", "partitions", "list", "shop.sales")


@pytest.mark.usefixtures("shop")
def test_no_color(terminal, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in terminal("count", "shop.no", code=2)
