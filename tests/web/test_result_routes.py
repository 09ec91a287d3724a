"""Results over HTTP: whole, in pages, in each format, and not at all."""

import csv
import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from hbstore.query_service.messages import Done, Failed, Started
from hbstore.query_service.query import QueryProblem, QueryResult, ResultColumn

COLUMNS = (ResultColumn(name="n", type="bigint"), ResultColumn(name="n", type="string"))
ROWS = [(number, f"text, {number}" if number % 3 else None) for number in range(2_500)]


@pytest.fixture
def finished(served, ask):
    """The id of a query with 2,500 rows in two files."""
    service, _ = served
    id_ = ask("POST", "/queries", {"text": "select 1"}).json()["id"]
    folder = Path(service.results.location(id_).removeprefix("file:"))
    folder.mkdir(parents=True)
    for number, some in enumerate((ROWS[:1_700], ROWS[1_700:])):
        table = pa.table({"c0": [row[0] for row in some], "c1": [row[1] for row in some]})
        parquet.write_table(table, folder / f"part-0000{number}.parquet", row_group_size=400)
    (folder / "_SUCCESS").touch()
    service.runner.heard(Started(id_))
    service.runner.heard(Done(id_, QueryResult(columns=COLUMNS, rows=len(ROWS), size=1)))
    return id_


def in_pages(ask, id_, form, size):
    token = ""
    while True:
        reply = ask("GET", f"/queries/{id_}/results?format={form}&page_size={size}{token}")
        assert reply.status == 200
        yield reply
        following = reply.headers.get("X-Next-Page")
        if following is None:
            return
        token = f"&page={following}"


@pytest.mark.parametrize("form", ["json", "ndjson", "csv", "arrow"])
def test_a_result_that_the_client_has_is_not_sent_again(ask, finished, form):
    path = f"/queries/{finished}/results?format={form}"
    first = ask("GET", path)
    tag, changed = first.headers["ETag"], first.headers["Last-Modified"]
    assert (first.status, first.headers["Cache-Control"]) == (200, "private, no-cache")
    for headers in (
        {"If-None-Match": tag},
        {"If-None-Match": f'"other", {tag.removeprefix("W/")}'},
        {"If-None-Match": "*"},
        {"If-Modified-Since": changed},
    ):
        again = ask("GET", path, headers=headers)
        assert (again.status, again.data, again.headers["ETag"]) == (304, b"", tag), headers
    earlier = "Thu, 01 Jan 1970 00:00:00 GMT"
    for headers in (
        {"If-None-Match": '"other"'},
        {"If-None-Match": '"other"', "If-Modified-Since": changed},
        {"If-Modified-Since": earlier},
        {"If-Modified-Since": "soon"},
    ):
        assert ask("GET", path, headers=headers).data == first.data, headers
    others = {ask("GET", f"{path}&page_size={size}").headers["ETag"] for size in (10, 20)}
    assert len(others | {tag}) == 3
    packed = ask("GET", path, headers={"Accept-Encoding": "gzip"})
    assert (packed.headers["ETag"], packed.headers.get("Content-Encoding")) == (
        tag,
        None if form == "arrow" else "gzip",
    )


@pytest.mark.parametrize("size", [999, 1_250, 2_500, 10_000])
def test_pages_of_json_hold_all_rows_once(ask, finished, size):
    rows, following = [], []
    for reply in in_pages(ask, finished, "json", size):
        page = reply.json()
        assert page["columns"] == [{"name": "n", "type": "bigint"}, {"name": "n", "type": "string"}]
        assert page["next"] == reply.headers.get("X-Next-Page")
        rows += page["rows"]
        following.append(page["next"])
    assert [tuple(row) for row in rows] == ROWS
    assert len(following) == -(-len(ROWS) // size)
    assert following[-1] is None


def test_each_format_holds_the_same_rows(ask, finished):
    path = f"/queries/{finished}/results?format="
    with pa.ipc.open_stream(ask("GET", f"{path}arrow").data) as reader:
        table = reader.read_all()
    assert table.column_names == ["n", "n"]
    assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == ROWS
    lines = [json.loads(line) for line in ask("GET", f"{path}ndjson").data.decode().splitlines()]
    assert [(line["n"], line["n_2"]) for line in lines] == ROWS
    header, *cells = csv.reader(io.StringIO(ask("GET", f"{path}csv").data.decode(), newline=""))
    assert header == ["n", "n"]
    assert [(int(number), text or None) for number, text in cells] == ROWS
    first = ask("GET", f"/queries/{finished}/results").json()
    assert (len(first["rows"]), first["next"] is None) == (1_000, False)


def test_pages_of_the_other_formats_hold_all_rows_once(ask, finished):
    text = "".join(reply.data.decode() for reply in in_pages(ask, finished, "ndjson", 800))
    assert [json.loads(line)["n"] for line in text.splitlines()] == [row[0] for row in ROWS]


@pytest.mark.parametrize(
    ("more", "status", "error"),
    [
        ("format=xml", 400, "InvalidInput"),
        ("page=AAAA", 400, "InvalidInput"),
        ("page_size=0", 400, "InvalidInput"),
        ("page_size=10001", 400, "InvalidInput"),
    ],
)
def test_what_cannot_be_fetched_is_named(ask, finished, more, status, error):
    reply = ask("GET", f"/queries/{finished}/results?{more}")
    assert (reply.status, reply.json()["error"]) == (status, error)


def test_a_query_without_a_result_has_none_to_fetch(ask, served):
    service, _ = served
    id_ = ask("POST", "/queries", {"text": "select 1"}).json()["id"]
    assert ask("GET", f"/queries/{id_}/results").status == 409
    service.runner.heard(Started(id_))
    service.runner.heard(Failed(id_, QueryProblem(error="QueryFailed", text="no")))
    reply = ask("GET", f"/queries/{id_}/results")
    assert (reply.status, reply.json()["fields"]["state"]) == (409, "failed")


def test_a_statement_without_rows_has_an_empty_result(ask, served):
    service, _ = served
    id_ = ask("POST", "/queries", {"text": "create table t"}).json()["id"]
    service.runner.heard(Started(id_))
    service.runner.heard(Done(id_, QueryResult()))
    assert ask("GET", f"/queries/{id_}/results").json() == {"columns": [], "rows": [], "next": None}
    assert ask("GET", f"/queries/{id_}/results?format=csv").data == b""


def test_an_expired_result_is_gone(ask, served, finished):
    service, _ = served
    service.clock.now += service.runner.limits.keep_results
    service._sweep()
    reply = ask("GET", f"/queries/{finished}/results")
    assert (reply.status, reply.json()["error"]) == (410, "ResultExpired")
    assert not Path(service.results.location(finished).removeprefix("file:")).exists()


def test_formats_that_are_downloaded_are_files_to_browsers(ask, finished):
    for form in ("csv", "ndjson", "arrow"):
        reply = ask("GET", f"/queries/{finished}/results?format={form}")
        assert reply.headers["Content-Disposition"] == f'attachment; filename="query-{finished[:12]}.{form}"'
    assert "Content-Disposition" not in ask("GET", f"/queries/{finished}/results").headers
