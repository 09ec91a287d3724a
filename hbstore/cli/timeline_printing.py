"""Timelines on stdout: a picture for people, Lens's lines for programs, or JSON."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hbstore.cli.printing import ascii_only, on_terminal, print_json, print_lines, visible

if TYPE_CHECKING:  # imported when there are timelines to print: help needs none
    from hbstore.timelines import PartitionTimeline

PeriodOption = Annotated[
    str | None, typer.Option("--update-period", metavar="PERIOD", help="Only of this update period, such as DAILY.")
]
PictureOption = Annotated[
    bool | None,
    typer.Option(
        "--picture/--plain",
        help="A line of blocks for each timeline, or a line of text as Apache Lens prints it;"
        " by default a picture on terminals and text in pipes.",
        show_default=False,
    ),
]


def print_timelines(timelines: Sequence[PartitionTimeline], *, picture: bool | None, as_json: bool) -> None:
    """Print timelines; None for `picture` means that one is printed on terminals."""
    if as_json:
        print_json([_timeline_json(timeline) for timeline in timelines])
    elif on_terminal() if picture is None else picture:
        _print_picture(timelines)
    else:
        print_lines(map(str, timelines))


def _print_picture(timelines: Sequence[PartitionTimeline]) -> None:
    from rich.console import Console
    from rich.text import Text

    from hbstore.timelines.picture import ASCII, BLOCKS, TimelineBar, picture

    bars = [
        TimelineBar(
            tuple(map(visible, (one.storage_table, one.update_period.name, one.partition_column))),
            one.update_period,
            list(one.index_ranges(0, one.update_period.limit)),
        )
        for one in timelines
    ]
    console = Console(highlight=False)
    for line in picture(bars, shutil.get_terminal_size().columns, ASCII if ascii_only() else BLOCKS):
        text = Text(line)
        text.highlight_regex(f"{BLOCKS.hole}+", "red")
        text.highlight_regex(f"[{BLOCKS.some}]+", "yellow")
        console.print(text, soft_wrap=True)


def _timeline_json(timeline: PartitionTimeline) -> dict[str, Any]:
    """A timeline with all its holes, half open: from the first time that is missing to the next that is not."""
    period = timeline.update_period
    ranges = list(timeline.index_ranges(0, period.limit))
    text = period.format_index
    return {
        "storage_table": timeline.storage_table,
        "update_period": period.name,
        "partition_column": timeline.partition_column,
        "class": type(timeline).__name__,
        "first": text(ranges[0][0]) if ranges else None,
        "latest": text(ranges[-1][1] - 1) if ranges else None,
        "times": sum(stop - start for start, stop in ranges),
        "holes": [{"from": text(before[1]), "to": text(after[0])} for before, after in pairwise(ranges)],
    }
