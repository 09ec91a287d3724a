"""The form that asks for a filter, on the pages of plans and partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request

from hbstore.errors import FilterTypeError, HbstoreError, InvalidInput, UnknownColumnError
from hbstore.filters.diagnosis import column_highlight
from hbstore.query_service.query import QueryProblem
from hbstore.texts.like import LikeDialect, like_dialect
from hbstore.web.problems import status_of

_FLAGS: Final = {"": False, "false": False, "true": True}


@dataclass(frozen=True, slots=True)
class FilterForm:
    """What a browser asks for.

    Attributes:
        filter: the filter's text; None: all partitions.
        like_dialect: of its patterns.
        analyze: whether its plan is run.
        page: the token of a page of partitions; None for the first.
    """

    filter: str | None
    like_dialect: LikeDialect
    analyze: bool
    page: str | None

    @staticmethod
    def of(request: Request) -> FilterForm:
        """What a request says.

        Raises:
            InvalidInput: it says something else than the form does.
        """
        parameters = request.query_params
        analyze = parameters.get("analyze", "")
        if analyze not in _FLAGS:
            raise InvalidInput("analyze is neither true nor false", analyze=analyze[:100], hint="Write analyze=true")
        text = parameters.get("filter", "")
        dialect = like_dialect(parameters.get("like_dialect", "sql"))
        return FilterForm(text if text.strip() else None, dialect, _FLAGS[analyze], parameters.get("page"))

    @property
    def query(self) -> dict[str, str | None]:
        """The query of an address that asks for the same filter."""
        return {"filter": self.filter, "like_dialect": None if self.like_dialect == "sql" else self.like_dialect}


def problem_of(error: HbstoreError, text: str | None) -> QueryProblem:
    """What is wrong with a filter's text, with a caret below the column that it is about."""
    problem = QueryProblem.of(error)
    column = problem.fields.get("column")
    if problem.highlight or text is None or not isinstance(error, UnknownColumnError | FilterTypeError) or not column:
        return problem
    return problem.model_copy(update={"highlight": column_highlight(text, column)})


def problem_status(request: Request, error: HbstoreError) -> int:
    """The status of a page that shows what is wrong with a filter.

    A script that asks while its user types gets 200: half a filter is no failure, and browsers would log each.
    """
    return 200 if request.headers.get("sec-fetch-dest") == "empty" else status_of(error)
