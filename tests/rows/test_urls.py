import pytest

from hbstore import rows
from hbstore.errors import InvalidUrl
from hbstore.rows.sqlite.file import parse_sqlite_url
from hbstore.rows.urls import parse_url


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///data/catalog.db", "/data/catalog.db"),
        ("sqlite:///data/my%20catalog.db", "/data/my catalog.db"),
        ("SQLite:///data/catalog.db", "/data/catalog.db"),
        ("/data/catalog.db", "/data/catalog.db"),
        ("/data/what?100%.db", "/data/what?100%.db"),
        ("sqlite://catalog.db", "catalog.db"),
        ("sqlite://./a/b.db?mode=ro", "./a/b.db"),
        ("catalog.db", "catalog.db"),
    ],
)
def test_sqlite_urls_name_a_path(url, path):
    assert parse_url(url).scheme == "sqlite"
    assert parse_url(url).place == path


def test_a_relative_path_is_of_the_folder_at_connect(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = rows.connect("sqlite://a.db")
    monkeypatch.chdir("/")
    found.compare_and_put(b"D x", "d:def", None, b"1")
    found.close()
    assert rows.connect(tmp_path / "a.db").get(b"D x") == {"d:def": b"1"}


def test_options_of_sqlite():
    file = parse_sqlite_url(parse_url("sqlite:///a.db?mode=ro&timeout=0.5"))
    assert (file.path, file.mode, file.timeout) == ("/a.db", "ro", 0.5)


@pytest.mark.parametrize(
    "url",
    [
        "",
        " ",
        "mysql://host/db",
        "postgres://x",
        "memory:",
        "sqlite:x.db",
        "hbase:9090",
        "sqlite://",
        "sqlite://?mode=ro",
        "sqlite://:memory:",
        ":memory:",
        "a\0b",
        "sqlite://a.db?mode=fast",
        "sqlite://a.db?timeout=soon",
        "sqlite://a.db?timeout=-1",
        "sqlite://a.db?timeout=nan",
        "sqlite://a.db?mode",
        "sqlite://a.db?cache=shared",
        "memory://here",
        "memory://?atomic=maybe",
        "memory://?mode=ro",
        "a\ud800",
        None,
        5,
        b"a.db",
        ["a.db"],
    ],
)
def test_other_urls_are_turned_away_with_a_hint(url, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidUrl) as caught:
        rows.connect(url)
    assert caught.value.hint or "timeout" in caught.value.text
    assert not list(tmp_path.iterdir())
