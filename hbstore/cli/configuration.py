"""Options of commands from a file and from the environment, by one rule.

An option is named by its command and its long form. ``hbstore serve --http-port 8080`` is in a TOML file

    store = "sqlite:///data/catalog.db"

    [serve]
    http-port = 8080

and in the environment ``HBSTORE_SERVE_HTTP_PORT=8080``. The command line counts most, then the environment, then the
file. An unknown name is an error in both.
"""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

from hbstore.cli.opening import store_url
from hbstore.cli.printing import print_answer
from hbstore.cli.serve_doors import folders_beside
from hbstore.errors import InvalidInput, did_you_mean

PREFIX: Final = "HBSTORE"
_OWN: Final = frozenset({"HBSTORE_SERVE_LIFELINE"})
"""What processes of hbstore tell each other."""

_NOT_KEPT: Final = frozenset(
    {"help", "config", "show-config", "version", "traceback", "install-completion", "show-completion"}
)
"""Options that are about the command line alone."""

_SECRETS: Final = frozenset({"token"})
_HIDDEN: Final = "(hidden)"
"""What is shown of a secret that is there."""

_SERVE: Final = ("serve",)
_SOURCES: Final = {"COMMANDLINE": "command line", "ENVIRONMENT": "environment", "DEFAULT": "default"}


@dataclass(slots=True)
class Configuration:
    """Values of options that are not on the command line.

    Attributes:
        values: by the command's words and the option's long form; those of the environment and the file.
        sources: where each comes from, as people read it.
    """

    values: dict[tuple[str, ...], Any] = field(default_factory=dict)
    sources: dict[tuple[str, ...], str] = field(default_factory=dict)

    def set(self, key: tuple[str, ...], value: Any, source: str) -> None:
        """Set a value."""
        self.values[key] = value
        self.sources[key] = source

    def default_map(self, options: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
        """The values as click takes them: nested by command, by the names of the parameters.

        Args:
            options: as of `options_of`.
        """
        nested: dict[str, Any] = {}
        for key, value in self.values.items():
            place = nested
            for word in key[:-1]:
                place = place.setdefault(word, {})
            place[options[key].name] = value
        return nested


def read_configuration(path: str | None, environment: Mapping[str, str], root: Any) -> Configuration:
    """What a file and the environment say.

    Args:
        path: of the file; None: there is none.
        environment: variables.
        root: the program's command of click.

    Raises:
        InvalidInput: the file is not there or is no TOML, or a name is not that of an option.
    """
    options = options_of(root)
    configuration = Configuration()
    if path is not None:
        for key, value in _entries(_document(path), ()):
            if key not in options:
                raise _unknown(".".join(key), [".".join(one) for one in options], file=path)
            configuration.set(key, value, path)
    variables = {variable(key): key for key in options}
    commands = {f"{variable(key[:-1])}_" for key in options if len(key) > 1}
    for name, text in environment.items():
        if name in variables:
            configuration.set(variables[name], shlex.split(text) if options[variables[name]].multiple else text, name)
        elif name.startswith(tuple(commands)) and name not in _OWN:
            raise _unknown(name, list(variables))
    return configuration


def options_of(root: Any) -> dict[tuple[str, ...], Any]:
    """The options of all commands, as click has them, by the command's words and the option's long form."""
    return dict(_parameters(root, ()))


def variable(key: tuple[str, ...]) -> str:
    """The environment's name of an option.

    >>> variable(("fact", "partitions", "add", "no-check"))
    'HBSTORE_FACT_PARTITIONS_ADD_NO_CHECK'
    """
    return "_".join([PREFIX, *key]).upper().replace("-", "_")


def show_instead(context: Any, configuration: Configuration) -> None:
    """Let the command print its options, with where their values come from, and do nothing else.

    Args:
        context: of the program, in which the command is about to run.
        configuration: the values.
    """
    for words, command in _leaves(context.command, ()):
        command.invoke = partial(_show, configuration, words)
        context.call_on_close(partial(delattr, command, "invoke"))  # the class has the usual one


def _show(configuration: Configuration, words: tuple[str, ...], context: Any) -> None:
    rows = []
    url = store_url(context, context.params.get("store"))
    beside = folders_beside(url, context.params) if words == _SERVE else {}
    for (*_, name), parameter in _parameters(context.command, words):
        source = context.get_parameter_source(parameter.name).name
        place = configuration.sources.get((*words, name), "") if source == "DEFAULT_MAP" else _SOURCES[source]
        value = context.params[parameter.name]
        if name == "store" and value is None:
            named = "default" if context.obj.url is None else "before the command"
            value, place = url, configuration.sources.get(("store",), named)
        if name in beside:
            value, place = beside[name], "default, beside the store"
        rows.append(("--" + name, _HIDDEN if name in _SECRETS and value else _text(value), place))
    lines = [f"{name}={value}  # {place}" for name, value, place in rows]
    print_answer(None, lines, as_json=False, table=(("option", "value", "from"), rows))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _leaves(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield words, command
    for name, one in (inner or {}).items():
        yield from _leaves(one, (*words, name))


def _parameters(command: Any, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for parameter in command.params:
        name = _long_form(parameter)
        if name is not None and name not in _NOT_KEPT and not parameter.hidden:
            yield (*words, name), parameter
    for name, inner in getattr(command, "commands", {}).items():
        yield from _parameters(inner, (*words, name))


def _long_form(parameter: Any) -> str | None:
    """An option's long form without dashes; None: the parameter is no option."""
    if parameter.param_type_name != "option":
        return None
    return next((text.removeprefix("--") for text in parameter.opts if text.startswith("--")), None)


def _document(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(
            "the file of options cannot be read", file=path, reason=error.strerror, hint="Name a file that can be read"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(
            "the file of options is no TOML", file=path, reason=error, hint="Write it as in [serve] http-port = 8080"
        ) from error


def _entries(document: Mapping[str, Any], words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _entries(value, (*words, name))
        else:
            yield (*words, name), value


def _unknown(name: str, names: list[str], **fields: str) -> InvalidInput:
    hint = did_you_mean(name, names, "See the options of each command in its help")
    return InvalidInput("no command has this option", **fields, option=name, hint=hint)
