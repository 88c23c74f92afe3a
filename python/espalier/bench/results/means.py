"""Espalier against the best of the hosts, collective by collective: geometric means over sizes and hosts."""

from __future__ import annotations

from collections import defaultdict
from typing import Optional

from rich.console import Console
from rich.table import Table

from espalier.bench.collectives import place_of
from espalier.bench.results import peers
from espalier.bench.results.stats import Key, Summary
from espalier.bench.results.table import mode_words

ALL = "all"
_BUFFERS = {"written": "", "reused": "; reused buffers", "allocated": "; buffers of MPI_Alloc_mem"}


def column_of(key: Key, cores: int) -> tuple[int, str, str]:
    """The two states apart where each rank has a core, together where ranks take turns."""
    return (key.ranks, key.place, "" if key.place or key.ranks > cores else key.state)


def heading(column: tuple[int, str, str]) -> str:
    return ", ".join(filter(None, (f"{column[0]} ranks", *column[1:])))


def means(points: list[Summary], summaries: list[Summary], cores: int) -> dict[tuple, dict[str, Optional[float]]]:
    """Column to collective (or ALL) to mean; only points at which all hosts were seen in the state."""
    groups: dict[tuple, list[Summary]] = defaultdict(list)
    for s in points:
        groups[column_of(s.key, cores)].append(s)
    found = {column: peers.complete(peers.pairs(group, summaries)) for column, group in groups.items()}
    return {column: {**peers.means_by_collective(pairs), ALL: peers.mean(pairs)} for column, pairs in sorted(found.items())}


def _cell(value: Optional[float]) -> str:
    return f"{value:.2f}" if value else ""


def print_means(points: list[Summary], summaries: list[Summary], cores: int, console: Console) -> None:
    """Of points of one mode with buffers of one kind."""
    if len({s.key.host for s in points}) < 2:
        return
    columns = means(points, summaries, cores)
    title = "Time of the best host over Espalier's, geometric mean where all hosts were seen (above 1 Espalier is faster)"
    title += mode_words(points[0].key.mode) + _BUFFERS[points[0].key.buffers]
    table = Table("collective", title=title, title_justify="left")
    for column in columns:
        table.add_column(heading(column), justify="right")
    names = sorted({name for column in columns.values() for name in column} - {ALL}, key=place_of)
    for name in (*names, ALL):
        table.add_row(name, *(_cell(column.get(name)) for column in columns.values()))
    console.print(table)
