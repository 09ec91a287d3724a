"""What forms say: of queries to run, and of which queries to list."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.requests import Request as HttpRequest

from hbstore.errors import InvalidInput
from hbstore.keys.partition_names import DEFAULT_DATABASE
from hbstore.query_service.query import ANONYMOUS, MAX_NAME, MAX_TEXT, Query, Request, State


@dataclass(frozen=True, slots=True)
class Draft:
    """A query as it stands in the editor; it need not be right.

    Attributes:
        text: of the statement.
        database: the current database of the statement.
        name: what its user calls it.
        partial: whether a cube query is answered from the partitions that exist.
    """

    text: str = ""
    database: str = DEFAULT_DATABASE
    name: str = ""
    partial: bool = False

    @staticmethod
    def of(fields: Mapping[str, str]) -> Draft:
        """What a form, or the address of the editor, says.

        >>> Draft.of({"text": "select 1", "partial": "true"}).partial
        True
        """
        return Draft(
            fields.get("text", "").replace("\r\n", "\n"),  # as browsers send lines
            fields.get("database", DEFAULT_DATABASE).strip(),
            fields.get("name", "").strip(),
            partial=bool(fields.get("partial")),
        )

    @staticmethod
    def of_query(query: Query) -> Draft:
        """That of a query that was asked before."""
        asked = query.request
        return Draft(asked.text, asked.database, asked.name or "", partial=asked.partial)

    def request(self, user: str | None) -> Request:
        """What is asked of the query service.

        Args:
            user: whose token the form came with; None: nobody's.

        Raises:
            InvalidInput: it is no query.
        """
        if not self.text.strip():
            raise InvalidInput("there is no statement", hint="Write a cube query or a statement of SQL")
        for what, text, most in (("statement", self.text, MAX_TEXT), ("name", self.name, MAX_NAME)):
            if len(text) > most:
                raise InvalidInput(f"the {what} is too long", characters=len(text), limit=most, hint="Shorten it")
        return Request(
            text=self.text,
            database=self.database,
            user=user or ANONYMOUS,
            name=self.name or None,
            partial=self.partial,
        )


@dataclass(frozen=True, slots=True)
class QueryListForm:
    """Which queries to list.

    Attributes:
        user: whose; empty: everybody's.
        state: in which state; None: in any.
        before: only those that were submitted before the query of this id; None: from the newest on.
    """

    user: str = ""
    state: State | None = None
    before: str | None = None

    @staticmethod
    def of(fields: Mapping[str, str]) -> QueryListForm:
        """What the address of the history says.

        Raises:
            InvalidInput: there is no such state.

        >>> QueryListForm.of({"user": "ann", "state": "running"})
        QueryListForm(user='ann', state=<State.RUNNING: 'running'>, before=None)
        """
        state = fields.get("state", "")
        if state and state not in list(State):
            raise InvalidInput("there is no such state", state=state, hint=f"Give one of {', '.join(State)}")
        return QueryListForm(
            fields.get("user", "").strip(), State(state) if state else None, fields.get("before") or None
        )

    def query(self, before: str | None) -> dict[str, str | None]:
        """The same for another page, as an address has it."""
        return {"user": self.user or None, "state": self.state, "before": before}


async def form_fields(request: HttpRequest) -> dict[str, str]:
    """What stands in a form that was sent; of a name that repeats the last."""
    body = await request.body()
    return dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True, errors="replace"))
