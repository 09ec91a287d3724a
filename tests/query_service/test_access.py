"""Who may ask: users of a file of tokens, or everybody at the loopback."""

import os
import socket

import pytest

from hbstore.errors import AccessRefused, InvalidInput, RequestRefused
from hbstore.query_service.access import Access

TOKEN = "0123456789abcdef"  # noqa: S105


def test_a_server_has_the_names_that_it_was_given():
    assert Access.of("hbstore.example", None).hosts >= {"hbstore.example", "localhost", socket.gethostname().lower()}


def test_a_token_counts_as_long_as_it_stands_in_the_file(tmp_path, caplog):
    file = tmp_path / "tokens"
    file.write_text(f"ann {TOKEN}\n")
    file.chmod(0o600)
    access = Access.of("127.0.0.1", str(file))
    assert access.login("ann", TOKEN) == access.user(f"Bearer {TOKEN}") == "ann"
    for text in (
        "bob fedcba9876543210\n",
        "",
        "bob\n",
        None,
    ):  # what holds no tokens neither lets in nor locks out
        file.unlink() if text is None else file.write_text(text)
        with pytest.raises(AccessRefused):
            access.login("ann", TOKEN)
        with pytest.raises(AccessRefused):
            access.user(f"Bearer {TOKEN}")
        assert access.login("bob", "fedcba9876543210") == access.user("Bearer fedcba9876543210") == "bob"
    assert [record.levelname for record in caplog.records][-3:] == ["ERROR"] * 3
    assert TOKEN not in caplog.text
    assert "fedcba" not in caplog.text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nothing\n",
        "ann",
        "ann short",
        "ann 0123456789abcdef more",
        "ann 0123456789abcdef\nbob 0123456789abcdef",
        b"\xff",
    ],
)
def test_a_file_that_is_none_of_tokens_is_named(tmp_path, text):
    file = tmp_path / "tokens"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    file.chmod(0o600)
    with pytest.raises(InvalidInput, match="token") as caught:
        Access.of("127.0.0.1", str(file))
    assert "0123456789abcdef" not in str(caught.value)


@pytest.mark.parametrize("mode", [0o604, 0o644, 0o666])
def test_a_file_that_other_users_may_read_is_refused(tmp_path, mode):
    file = tmp_path / "tokens"
    file.write_text("ann 0123456789abcdef")
    file.chmod(mode)
    with pytest.raises(InvalidInput, match="other users may read the token file") as caught:
        Access.of("127.0.0.1", str(file))
    assert caught.value.hint == f"Run: chmod 600 {file}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_group_may_read_a_file_of_roots_alone(tmp_path):
    file = tmp_path / "tokens"
    file.write_text("ann 0123456789abcdef")
    file.chmod(0o640)
    assert Access.of("127.0.0.1", str(file)).tokens
    os.chown(file, 65534, 65534)
    with pytest.raises(InvalidInput, match="other users may read the token file"):
        Access.of("127.0.0.1", str(file))


def test_a_missing_token_file_is_named():
    with pytest.raises(InvalidInput, match="cannot be read"):
        Access.of("127.0.0.1", "/nowhere/tokens")


def test_a_password_is_a_token_of_the_user():
    access = Access(tokens={TOKEN: "ann", "fedcba9876543210": "bob"})
    assert access.login("ann", TOKEN) == "ann"
    for user, password in (("ann", "fedcba9876543210"), ("ann", ""), ("", TOKEN), ("ann", "é"), ("", "")):
        with pytest.raises(AccessRefused) as caught:
            access.login(user, password)
        assert TOKEN not in str(caught.value)
        assert "fedcba" not in str(caught.value)


def test_without_tokens_every_login_is_taken():
    assert [Access().login(user, "x") for user in ("ann", "")] == ["ann", None]


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[", "localhost.evil:80"])
def test_other_names_of_the_server_are_refused_without_tokens(host):
    with pytest.raises(RequestRefused):
        Access().check_host(host)
    Access(tokens={TOKEN: "ann"}).check_host(host)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80"])
def test_names_of_the_loopback_are_taken(host):
    Access().check_host(host)
