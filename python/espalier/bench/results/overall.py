"""What all single calls say together: geometric means for each host and number of ranks, and the points at which Espalier is
slower than the host."""

from __future__ import annotations

from rich.console import Console

from espalier.bench.results import special, stats
from espalier.bench.results.stats import Summary
from espalier.bench.results.table import place_words, size
from espalier.terminal import Column, print_table

SLOWER_BELOW = 0.95
_SHOWN = 12


def compared(summaries: list[Summary]) -> list[Summary]:
    """Against each host at its best; one that comes without its settings is beside it."""
    return [s for s in summaries if s.espalier and s.ratio and s.key.variant == "best"]


def slower(summaries: list[Summary]) -> list[Summary]:
    """The slowest first."""
    return sorted((s for s in compared(summaries) if _ratio(s) < SLOWER_BELOW), key=_ratio)


def means(summaries: list[Summary]) -> dict[tuple[int, str], float]:
    """Host over Espalier by ranks and host, over all collectives, sizes, states and places."""
    groups: dict[tuple[int, str], list[float]] = {}
    for s in compared(summaries):
        groups.setdefault((s.key.ranks, s.key.host), []).append(_ratio(s))
    return {key: stats.geometric_mean(ratios) or 0.0 for key, ratios in sorted(groups.items())}


def print_overall(document: dict, console: Console) -> None:
    """Of a document of one mode. Nothing of a single point, whose row says it all."""
    summaries = stats.summarise(document)
    points = compared(summaries)
    if len(points) < 2:
        return
    found = means(summaries)
    hosts = list(dict.fromkeys(s.key.host for s in points))
    console.print("\nHost over Espalier, geometric means of all single calls (above 1 Espalier is faster)", highlight=False)
    columns = [Column("ranks", right=True), *(Column(special.title_of(host), right=True) for host in hosts)]
    rows = [
        [str(ranks), *(f"{found[ranks, host]:.2f}" if (ranks, host) in found else "" for host in hosts)]
        for ranks in sorted({ranks for ranks, _ in found})
    ]
    print_table(columns, rows, out=console)
    _print_slower(slower(summaries), len(points), console)


def _print_slower(points: list[Summary], of_all: int, console: Console) -> None:
    end = ":" if points else ""
    console.print(f"{len(points)} of {of_all} points are more than 5 % slower than the host{end}", highlight=False)
    for s in points[:_SHOWN]:
        console.print(f"  {_ratio(s):.2f}  {_words(s)}", highlight=False)
    if len(points) > _SHOWN:
        console.print(f"  and {len(points) - _SHOWN} more, in the tables above", highlight=False)


def _ratio(s: Summary) -> float:
    assert s.ratio  # compared() has looked
    return s.ratio.mid


def _words(s: Summary) -> str:
    length = f" of {size(s)}" if size(s) else ""
    buffers = "" if s.key.buffers == "written" else f", buffers {s.key.buffers}"
    where = f"{special.title_of(s.key.host)}, {s.key.ranks} ranks{place_words(s.key.place)}{buffers}"
    return f"{s.key.collective}{length}, {where}, cores {s.key.state}"
