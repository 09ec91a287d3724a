"""The table: each figure beside the reference's of the same run, the ratio, the aim, and whether it is met."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rich.console import Console
from rich.table import Table

_MET: Final = {True: "yes", False: "NO", None: ""}


@dataclass(frozen=True, slots=True)
class Figure:
    """One line: a value for each server, the reference's last; times in seconds, rates per second, None for a refusal.

    Args:
        name: what was measured.
        values: for each server of hbstore, then for the reference, where there is one.
        aim: how many times better than the reference; 0 for none.
        at_least: an aim that is a rate of its own.
        rate: whether the values are per second.
    """

    name: str
    values: tuple[float | None, ...]
    aim: float = 0
    at_least: float = 0
    rate: bool = False

    def ratio(self, at: int) -> float | None:
        """How many times better than the reference a server of hbstore is."""
        ours, reference = self.values[at], self.values[-1]
        if ours is None or reference is None:
            return None
        return ours / reference if self.rate else reference / ours

    def met(self, at: int) -> bool | None:
        """Whether a server meets the aim; None without one, or where the reference refuses."""
        ours, ratio = self.values[at], self.ratio(at)
        if ours is None:
            return False
        if self.at_least:
            return ours >= self.at_least
        return ratio >= self.aim if self.aim and ratio is not None else None

    @property
    def aim_text(self) -> str:
        """As ``10 x`` or ``5,000 /s``."""
        if self.at_least:
            return f"{self.at_least:,.0f} /s"
        return f"{self.aim:g} x" if self.aim else ""


def show(console: Console, title: str, servers: list[str], figures: list[Figure], *, reference: bool) -> None:
    """Print the table.

    Args:
        console: where.
        title: what stands above it.
        servers: their names, the reference's last.
        figures: the lines.
        reference: whether the last server is the reference; without one there are no ratios.
    """
    table = Table("figure", title=title, title_justify="left")
    ours = len(servers) - reference
    for name in (*servers[ours:], *servers[:ours]):
        table.add_column(name, justify="right")
        if reference and name in servers[:ours]:
            table.add_column("times better", justify="right")
            table.add_column("met")
    table.add_column("aim", justify="right")
    for one in figures:
        cells = [one.name, *(shown(value, rate=one.rate) for value in one.values[ours:])]
        for at in range(ours):
            cells.append(shown(one.values[at], rate=one.rate))
            if reference:
                ratio = one.ratio(at)
                cells += ["" if ratio is None else f"{ratio:,.1f}", _MET[one.met(at)]]
        table.add_row(*cells, one.aim_text)
    console.print(table)


def shown(value: float | None, *, rate: bool) -> str:
    """A value as people read it.

    >>> shown(0.0271, rate=False), shown(0.00042, rate=False), shown(5021.3, rate=True)
    ('27.1 ms', '0.42 ms', '5,021 /s')
    """
    if value is None:
        return "refused"
    if rate:
        return f"{value:,.0f} /s"
    milliseconds = value * 1000
    return f"{milliseconds:,.2f} ms" if milliseconds < 10 else f"{milliseconds:,.1f} ms"
