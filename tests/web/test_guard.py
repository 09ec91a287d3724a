"""What stands before every request: names of the server, pages of other sites, tokens, sizes."""

from base64 import b64encode

import pytest

from hbstore.query_service.access import Access
from hbstore.web.guard import MAX_BODY


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", "[", "localhost.evil"]
)
def test_a_name_that_is_not_the_servers_is_refused(ask, host):
    reply = ask("GET", "/health", headers={"Host": host})
    assert (reply.status, reply.json()["error"]) == (403, "RequestRefused")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80"])
def test_names_of_the_loopback_are_the_servers(ask, host):
    assert ask("GET", "/health", headers={"Host": host}).status == 200


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT", "PATCH"])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://localhost", "http://localhost:1", "http://["]
)
def test_a_page_of_another_site_changes_nothing(ask, method, origin):
    reply = ask(method, "/queries", {"text": "select 1"}, headers={"Host": "localhost", "Origin": origin})
    if origin == "https://localhost":  # the same name and port
        assert reply.status != 403
    else:
        assert (reply.status, reply.json()["error"]) == (403, "RequestRefused")
        assert ask("GET", "/queries").json()["queries"] == []


def test_a_page_of_the_server_itself_may_ask(ask):
    headers = {"Host": "localhost:80", "Origin": "http://localhost:80"}
    assert ask("POST", "/queries", {"text": "select 1"}, headers=headers).status == 202


def test_browsers_tell_this_server_alone_where_they_come_from(ask):
    """Without a referrer they would say that the Origin of each form is null."""
    assert ask("GET", "/queries").headers["Referrer-Policy"] == "same-origin"


def test_a_large_body_is_refused_whether_its_size_is_said_or_not(ask):
    text = "x" * MAX_BODY
    assert ask("POST", "/queries", {"text": text}).json()["error"] == "RequestTooLarge"
    chunks = (b"x" * 2**16 for _ in range(MAX_BODY // 2**16 + 2))
    reply = ask("POST", "/queries", body=chunks, headers={"Content-Type": "application/json"})
    assert (reply.status, reply.json()["title"]) == (413, "the request is too large")
    largest = ask("POST", "/queries", body=b"x" * MAX_BODY, headers={"Content-Type": "application/json"})
    assert (largest.status, largest.json()["error"]) == (400, "InvalidInput")  # it is read, and no JSON


def test_each_reply_has_an_id_and_is_not_kept(ask):
    replies = [ask("GET", path) for path in ("/health", "/queries/5f")]
    assert len({reply.headers["X-Request-Id"] for reply in replies}) == 2
    assert replies[1].json()["request"] == replies[1].headers["X-Request-Id"]
    assert all(reply.headers["Cache-Control"] == "no-store" for reply in replies)


def test_who_is_refused_leaves_a_trace(asking, caplog):
    ask = asking(Access(tokens={"0123456789abcdef": "ann"}))
    basic = {"Authorization": f"Basic {b64encode(b'ann:a-guess-of-hers').decode()}"}
    for sent in ({}, {"Authorization": "Bearer a-guess-of-hers"}, basic):
        assert ask("GET", "/queries", headers=sent).status == 401
    assert ask("POST", "/queries", headers={"Origin": "http://evil.example"}).status == 403
    lines = [record.fields for record in caplog.records if record.message == "refused"]
    assert [(line["method"], line["path"]) for line in lines] == [*[("GET", "/queries")] * 3, ("POST", "/queries")]
    assert all(line["client"].startswith("127.0.0.1:") for line in lines)
    assert [line.get("user") for line in lines] == [None, None, "ann", None]
    assert "a-guess" not in str(lines)


def test_a_token_says_whose_a_query_is(asking, tmp_path):
    file = tmp_path / "tokens"
    file.write_text("# who may ask\nann 0123456789abcdef\n\nbob fedcba9876543210\n")
    file.chmod(0o600)
    ask = asking(Access.of("127.0.0.1", str(file)))
    for wrong in ({}, {"Authorization": "Bearer 0123456789abcdeX"}, {"Authorization": "Basic 0123456789abcdef"}):
        reply = ask("POST", "/queries", {"text": "select 1"}, headers=wrong)
        assert (reply.status, reply.json()["error"]) == (401, "AccessRefused")
        assert reply.headers["WWW-Authenticate"] == "Bearer"
    token = {"Authorization": "Bearer fedcba9876543210", "Host": "hbstore.example"}
    made = ask("POST", "/queries", {"text": "select 1", "user": "ann"}, headers=token).json()
    assert made["request"]["user"] == "bob"
