"""Commands for the model of a database: its storages, cubes, dimensions, facts and dimension tables."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from hbstore.cli.arguments import (
    DatabaseOption,
    IfExistsOption,
    IfNotExistsOption,
    JsonOption,
    StoreOption,
    examples,
    model_name,
)
from hbstore.cli.catalog import is_done
from hbstore.cli.opening import open_store
from hbstore.cli.printing import print_answer, print_json, print_lines
from hbstore.errors import HbstoreError, ModelNotFound
from hbstore.keys.partition_names import DEFAULT_DATABASE

if TYPE_CHECKING:  # imported when a command needs it: help does not
    from hbstore.cubes import Named
    from hbstore.store.partition_store import PartitionStore

commands = typer.Typer(no_args_is_help=True)


class ModelKind(StrEnum):
    """The kinds of descriptions, in the order in which they can be created."""

    STORAGE = "storage"
    CUBE = "cube"
    DERIVED_CUBE = "derived_cube"
    DIMENSION = "dimension"
    FACT = "fact"
    DIMTABLE = "dimtable"


FilesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE", help="Files of descriptions: .yaml, .json, or .xml of Apache Lens.", show_default=False
    ),
]
KindArgument = Annotated[ModelKind, typer.Argument(help="The kind of the description.", show_default=False)]
KindOption = Annotated[ModelKind | None, typer.Option("--kind", help="Only of this kind.")]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="Its name: NAME or DB.NAME.", show_default=False)]


@commands.command(
    epilog=examples(
        "hbstore model create model.yaml --database shop",
        "hbstore model create model.yaml --database shop --if-not-exists",
    )
)
def create(
    ctx: typer.Context,
    files: FilesArgument,
    *,
    if_not_exists: IfNotExistsOption = False,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Create the descriptions of files, and their storage tables.

    A file holds one description or several: of storages, cubes, derived cubes, dimensions, facts and dimension tables,
    in any order. The command also reads XML of Apache Lens. It creates all descriptions, or none.
    """
    from hbstore.cubes import Cubes, read_documents
    from hbstore.cubes.files import in_order, note_place

    documents = in_order(one for file in files for one in read_documents(file))
    with open_store(ctx, store) as opened:
        try:
            added = Cubes(opened, database or DEFAULT_DATABASE).create_all(documents, if_not_exists=if_not_exists)
        except HbstoreError as error:
            note_place(error, files)
            error.add_note("nothing was created")
            raise
    done = [(document, "created" if document in added else "already exists") for document in documents]
    _print_done(done, "created", as_json=as_json)


@commands.command(epilog=examples("hbstore model alter model.yaml --database shop"))
def alter(
    ctx: typer.Context,
    files: FilesArgument,
    *,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replace descriptions by those of files, and alter their tables.

    If a fact or a dimension table is no longer on a storage, the command drops its table there with all partitions.
    """
    from hbstore.cubes import Cubes, read_documents
    from hbstore.cubes.files import in_order, note_place

    documents = in_order(one for file in files for one in read_documents(file))
    done: list[tuple[Named, str]] = []
    with open_store(ctx, store) as opened:
        cubes = Cubes(opened, database or DEFAULT_DATABASE)
        try:
            for document in documents:
                cubes.alter(document)
                done.append((document, "altered"))
        except (HbstoreError, KeyboardInterrupt) as error:
            names = ", ".join(str(document) for document, _ in done)
            error.add_note(f"altered before: {names}; the command can be repeated" if done else "nothing was altered")
            if isinstance(error, HbstoreError):
                note_place(error, files)
            raise
    _print_done(done, "altered", as_json=as_json)


@commands.command(
    "list", epilog=examples("hbstore model list --database shop", "hbstore model list --database shop --kind fact")
)
def list_(
    ctx: typer.Context,
    *,
    kind: KindOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the kind and the name of each description."""
    with open_store(ctx, store) as opened:
        names = [(document.kind, document.name) for document in _documents(opened, database, kind)]
    documents = [{"kind": document_kind, "name": name} for document_kind, name in names]
    print_answer(documents, map(" ".join, names), as_json=as_json, table=(("kind", "name"), names))


@commands.command(
    epilog=examples(
        "hbstore model describe fact sales --database shop", "hbstore model describe storage shop.s1 --json"
    )
)
def describe(
    ctx: typer.Context,
    kind: KindArgument,
    name: NameArgument,
    *,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a description, its storage tables and what uses it.

    The output is YAML that `hbstore model alter` accepts; with --json it also has keys for the tables and the users.
    """
    from hbstore.cubes import Cubes, write_documents

    in_database, short = model_name(name, database)
    with open_store(ctx, store) as opened:
        cubes = Cubes(opened, in_database)
        document = cubes.get(kind.value, short)
        described = cubes.describe(kind.value, short)
    if as_json:
        print_json(described)
        return
    sys.stdout.write(write_documents([document]))
    known = document.to_dict()
    print_lines(f"# {key}: {_listed(value)}" for key, value in described.items() if key not in known)


@commands.command(
    epilog=examples(
        "hbstore model drop fact sales --database shop", "hbstore model drop cube shop.sales_cube --cascade --if-exists"
    )
)
def drop(
    ctx: typer.Context,
    kind: KindArgument,
    name: NameArgument,
    *,
    cascade: Annotated[
        bool, typer.Option("--cascade", help="Also drop the descriptions that use it; for a storage, all tables on it.")
    ] = False,
    if_exists: IfExistsOption = False,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Drop a description and its storage tables. Files are not touched."""
    from hbstore.cubes import Cubes

    in_database, short = model_name(name, database)
    with open_store(ctx, store) as opened:
        cubes = Cubes(opened, in_database)
        dropped = is_done(lambda: cubes.drop(kind.value, short, cascade=cascade), ModelNotFound, skip=if_exists)
    line = f"{kind.value} {short.lower()}: {'dropped' if dropped else 'was not there'}"
    print_answer({"kind": kind.value, "name": short.lower(), "dropped": dropped}, [line], as_json=as_json)


@commands.command(
    epilog=examples("hbstore model export --database shop > model.yaml", "hbstore model export --database shop --json")
)
def export(
    ctx: typer.Context,
    *,
    kind: KindOption = None,
    database: DatabaseOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print all descriptions for `hbstore model create`.

    The output is YAML documents; with --json it is a JSON list.
    """
    from hbstore.cubes import write_documents

    with open_store(ctx, store) as opened:
        documents = _documents(opened, database, kind)
    if as_json:
        print_json([one.to_dict() for one in documents])
    else:
        sys.stdout.write(write_documents(documents))


def _documents(store: PartitionStore, database: str | None, kind: ModelKind | None) -> list[Named]:
    """All descriptions in a database, or those of a kind.

    Raises:
        DatabaseNotFound: it is not there.
    """
    from hbstore.cubes import Cubes

    store.get_database(database or DEFAULT_DATABASE)
    cubes = Cubes(store, database or DEFAULT_DATABASE)
    return [one for each in ([kind] if kind else ModelKind) for one in cubes.list(each.value)]


def _listed(value: object) -> str:
    """Names, or names with values, on one line."""
    if isinstance(value, Mapping):
        value = [f"{name} in {table}" for name, table in value.items()]
    return ", ".join(map(str, value)) if isinstance(value, list) and value else "none"


def _print_done(done: Sequence[tuple[Named, str]], what: str, *, as_json: bool) -> None:
    documents = [{"kind": document.kind, "name": document.name, "done": state} for document, state in done]
    lines = [f"{document}: {state}" for document, state in done]
    print_answer(documents, lines or [f"nothing {what}: the files hold no descriptions"], as_json=as_json)
