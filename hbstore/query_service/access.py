"""Who may ask the query service: users with access tokens, or everybody at the loopback.

* With a token file, each request or login carries one of its tokens. The file is read again when it has changed, so a
  token that is taken out of it is refused from then on.
* Without tokens, the Host header of a request over HTTP must be an address or a name of the server, so that no page
  elsewhere can name a host of its own that leads here (DNS rebinding). Such a page has no token, so with tokens the
  server may have any name.
"""

from __future__ import annotations

import base64
import binascii
import hmac
import logging
import os
import socket
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hbstore.errors import AccessRefused, InvalidInput, RequestRefused
from hbstore.servers.listening import LOOPBACK, names_server

_LOG: Final = logging.getLogger("hbstore.query_service.access")


@dataclass(frozen=True, slots=True)
class Access:
    """Who may ask.

    Attributes:
        hosts: names and addresses under which the server is reached.
        tokens: users by their tokens; none: everybody who reaches the server.
    """

    hosts: frozenset[str] = LOOPBACK
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    @staticmethod
    def of(host: str, token_file: str | None) -> Access:
        """The access to a server at an address.

        Args:
            host: where it listens.
            token_file: a file with a user and a token on each line; blank lines and lines with ``#`` are passed over.

        Raises:
            InvalidInput: the file is none of tokens.
        """
        tokens = {} if token_file is None else TokenFile(token_file)
        own = set() if host.lower() in LOOPBACK else {host.lower(), socket.gethostname().lower()}
        return Access(LOOPBACK | own, tokens)

    def check_host(self, host: str) -> None:
        """See that a request over HTTP names the server, so that no page of another site leads a browser here.

        Args:
            host: the header Host.

        Raises:
            RequestRefused: it names another, and there are no tokens, which such a page would not have.
        """
        if not self.tokens and not names_server(host, self.hosts):
            raise RequestRefused(
                "the server is not reached under this name",
                host=host,
                hint="Use the name that the server was given by --host, or its address",
            )

    def user(self, authorization: str | None) -> str | None:
        """Whose token a request carries; None where none is asked for.

        Raises:
            AccessRefused: it carries none, or one that is not in the file.
        """
        if not self.tokens:
            return None
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() == "basic":  # as browsers ask their users for it
            return self.login(*_basic(token))
        if scheme.lower() == "bearer":
            for one, user in self.tokens.items():
                if hmac.compare_digest(one.encode(), token.strip().encode()):
                    return user
        raise AccessRefused(
            "the request needs an access token", hint="Send the header Authorization: Bearer TOKEN; the client: token=…"
        )

    def login(self, user: str, password: str) -> str | None:
        """Who logs in with a token as the password; None for a login without a name where no token is asked for.

        Raises:
            AccessRefused: the password is none of the user's tokens.

        >>> access = Access(tokens={"0123456789abcdef": "ann"})
        >>> access.login("ann", "0123456789abcdef"), Access().login("bob", "anything")
        ('ann', 'bob')
        """
        if not self.tokens:
            return user or None
        for token, owner in self.tokens.items():
            if hmac.compare_digest(token.encode(), password.encode()) and owner == user:
                return user
        raise AccessRefused(
            "the password is no access token of the user",
            user=user,
            hint="Log in as a user of the token file, with the user's token as the password",
        )


class TokenFile(Mapping[str, str]):
    """Users by their tokens, as a file has them now. While it holds no tokens, those count that it had before.

    Args:
        path: of the file.

    Raises:
        InvalidInput: it is none of tokens.
    """

    __slots__ = ("_path", "_stamp", "_tokens")

    def __init__(self, path: str) -> None:
        self._path = path
        self._stamp = self._seen()
        self._tokens = _tokens(path)

    def __getitem__(self, token: str) -> str:
        return self._now()[token]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())

    def _now(self) -> dict[str, str]:
        stamp = self._seen()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                self._tokens = _tokens(self._path)
            except InvalidInput as error:
                _LOG.error("the token file is not used as it is now", extra={"fields": {"why": str(error)}})
            else:
                users = sorted(set(self._tokens.values()))
                _LOG.info("the token file was read again", extra={"fields": {"users": users}})
        return self._tokens

    def _seen(self) -> tuple[int, ...]:
        try:
            status = Path(self._path).stat()
        except OSError:
            return ()
        return status.st_mtime_ns, status.st_ino, status.st_size


def _basic(login: str) -> tuple[str, str]:
    """The name and the password of a header Authorization."""
    try:
        name, _, password = base64.b64decode(login.strip(), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return "", ""
    return name, password


def _check_owner(path: str, status: os.stat_result) -> None:
    """See that a file is its owner's alone; one of root's may be a group's, as Kubernetes mounts secrets."""
    others = stat.S_IRWXO if status.st_uid == 0 else stat.S_IRWXO | stat.S_IRWXG
    if status.st_mode & others:
        mode = f"{stat.S_IMODE(status.st_mode):04o}"
        raise InvalidInput("other users may read the token file", file=path, mode=mode, hint=f"Run: chmod 600 {path}")


def _tokens(path: str) -> dict[str, str]:
    """Users by their tokens."""
    hint = "Write a user and a token of 16 characters or more on each line"
    try:
        _check_owner(path, Path(path).stat())
        lines = Path(path).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("the token file cannot be read", file=path, reason=str(error), hint=hint) from None
    users: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 2 or len(words[1]) < 16:  # noqa: PLR2004  a user and a token
            raise InvalidInput("the line holds no user and token", file=path, line=number, hint=hint)
        if users.setdefault(words[1], words[0]) != words[0]:
            raise InvalidInput(
                "two users have the same token", file=path, line=number, hint="Give each a token of its own"
            )
    if not users:
        raise InvalidInput("the token file holds no token", file=path, hint=hint)
    return users
