"""What all documents of the model have in common: strict, frozen, and wrong ones named with their place.

A document is a pydantic model. Made of keywords in Python or of what a file says, it is checked alike, and what is
wrong with it is InvalidModel, whose ``at`` is a path such as ``storage_tables.0.update_periods.1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, ClassVar, Final, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from hbstore.cubes.values import Name
from hbstore.errors import InvalidModel
from hbstore.texts.wording import clipped

MAX_SHOWN: Final = 5
"""Mistakes that one error names."""

_SHOWN: Final = 80
_REPR: Final = 200
_EXPECTED: Final[Mapping[str, str]] = {
    "missing": "this key",
    "extra_forbidden": "a known key",
    "string_type": "a text (in quotation marks, if need be)",
    "tuple_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "string_too_short": "a text that is not empty",
    "too_short": "at least one",
}


class Document(BaseModel):
    """A part of the model: frozen, without keys that it does not know, with no value converted to another type."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, *unnamed: object, **fields: Any) -> None:
        """A document of these fields; InvalidModel where they make none."""
        if unnamed:
            names = ", ".join(f"{name}=…" for name, one in type(self).model_fields.items() if one.is_required())
            raise InvalidModel(
                "a description takes its fields by their names",
                document=type(self).__name__,
                found=clipped(repr(unnamed[0]), _SHOWN),
                hint=f"Write {type(self).__name__}({names})",
            )
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise invalid_model(error, type(self), document=type(self).__name__) from None

    # So that pydantic makes what is nested itself, and mistakes within it keep their whole path.
    __init__.__pydantic_base_init__ = True  # type: ignore[attr-defined]

    @model_validator(mode="after")
    def _is_text(self) -> Self:
        """See that every text can be written as UTF-8, which a lone surrogate cannot."""
        for value in vars(self).values():
            texts = [*value, *value.values()] if isinstance(value, Mapping) else [value]
            for text in texts:
                if isinstance(text, str) and not text.isascii():
                    try:
                        text.encode()
                    except UnicodeEncodeError:
                        raise ValueError(f"text without lone surrogates, not {text!a}") from None
        return self

    def __repr__(self) -> str:
        return clipped(super().__repr__(), _REPR)

    def changed(self, **fields: Any) -> Self:
        """A copy with other fields, checked like a new one.

        >>> cubes.cube("rides").measures[0].changed(unit="min").unit
        'min'
        """
        return type(self)(**{**{name: getattr(self, name) for name in type(self).model_fields}, **fields})

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON would hold it, without what is as it is by default.

        >>> cubes.cube("rides").measures[0].to_dict()
        {'name': 'minutes', 'type': 'bigint', 'default_aggregate': 'sum'}
        """
        return self.model_dump(mode="json", exclude_defaults=True)


class Named(Document):
    """A document that stands for itself: a storage, a cube, a dimension, a fact or a dimension table.

    Attributes:
        kind: which of them.
        name: what it is called, in lower case.
    """

    kind: ClassVar[str]
    name: Name

    def to_dict(self) -> dict[str, Any]:
        """The document as JSON would hold it, its kind first.

        >>> cubes.cube("rides").to_dict()["kind"]
        'cube'
        """
        return {"kind": self.kind, **super().to_dict()}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def invalid_model(error: ValidationError, model: type[BaseModel], **where: object) -> InvalidModel:
    """The error for what pydantic found wrong: the first mistake in the fields, the others in the hint."""
    mistakes = [_mistake(mistake, model) for mistake in error.errors(include_url=False, include_context=False)]
    at, expected, value = mistakes[0]
    more = "; ".join(f"{place}: expected {what}" for place, what, _ in mistakes[1:MAX_SHOWN])
    left = f"; and {len(mistakes) - MAX_SHOWN} more mistakes" if mistakes[MAX_SHOWN:] else ""
    return InvalidModel(
        "the description is not valid",
        highlight="",
        hint=f"Also {more}{left}" if more else "Correct the description as expected",
        **where,
        at=at or "the whole document",
        expected=expected,
        found=value,
    )


def _mistake(error: Mapping[str, Any], model: type[BaseModel]) -> tuple[str, str, str]:
    kind, message = error["type"], error["msg"]
    expected = _EXPECTED.get(kind) or re.sub("^(Value error, |Input should be )", "", message)
    if kind == "extra_forbidden":
        near = get_close_matches(str(error["loc"][-1]), _keys(model, error["loc"][:-1]), 1)
        expected += "".join(f", such as {key}" for key in near)
    shown = "nothing" if kind == "missing" else repr(error["input"])
    return ".".join(map(str, error["loc"])), expected, clipped(shown, _SHOWN)


def _keys(model: type[BaseModel] | None, place: Sequence[int | str]) -> Iterable[str]:
    """The keys of the document at a place within one of a model."""
    for step in place:
        if model and step in model.model_fields:
            model = _model_within(model.model_fields[str(step)].annotation)
    return model.model_fields if model else ()


def _model_within(annotation: object) -> type[BaseModel] | None:
    """The first model that a field's type names, such as that of a list's items."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_model_within, get_args(annotation))), None)
