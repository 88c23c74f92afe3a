"""What `espalier bench` prints first: collective and size, host, Espalier and ratio, as the OSU benchmarks do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from rich.console import Console
from rich.markup import escape

from espalier.bench.results import special, stats
from espalier.bench.results.stats import BLOCK, Key, Spread, Summary
from espalier.bench.results.table import micros, mode_words, place_words, served_words, size, sort_key
from espalier.terminal import Column, print_table

_TITLE = "µs of the slowest rank, one call at a time from a common start"
_BLOCKS = "; in blocks: calls that follow on each other, by their number"


def print_tables(document: dict, console: Console) -> None:
    """One for each host, number of ranks and place; the document is of one mode."""
    beside = {s.key: s for s in stats.blocks(document)}
    for _, group in groupby(sorted(stats.summarise(document), key=sort_key), _heading):
        _print_one(list(group), beside, console)


def _heading(s: Summary) -> str:
    extra = ", as it comes" if s.key.variant == "default" else ""
    place = place_words(s.key.place) + mode_words(s.key.mode)
    return f"{special.title_of(s.key.host)}{extra}, {s.key.ranks} ranks{place}, buffers {s.key.buffers}"


def _print_one(group: list[Summary], beside: dict[Key, Summary], console: Console) -> None:
    blocks = [beside.get(replace(s.key, timing=BLOCK)) for s in group]
    console.print(f"\n[bold]{escape(_heading(group[0]))}[/bold]")
    console.print(f"{_TITLE}{_BLOCKS if any(blocks) else ''}", highlight=False)
    _print_table(group, blocks, console)


def _print_table(group: list[Summary], blocks: list[Summary | None], console: Console) -> None:
    states, both = len({s.key.state for s in group}) > 1, any(blocks)
    columns = [Column("collective"), Column("size", right=True), *([Column("state")] if states else [])]
    columns += [Column(name, right=True) for name in ("host", "Espalier", "ratio")]
    columns += [Column(name, right=True) for name in ("in blocks: host", "Espalier", "ratio") if both]
    rows = []
    for s, block in zip(group, blocks):
        about = [s.key.collective, size(s) or "-", *([s.key.state] if states else [])]
        rows.append([*about, *_times(s), *(_times(block) if both else []), served_words(s)])
    print_table([*columns, Column("served by")], rows, out=console)


def _times(s: Summary | None) -> list[str]:
    if s is None:
        return [""] * 3
    if not s.espalier or not s.ratio:
        return [micros(s.host.mid), "", ""]
    return [micros(s.host.mid), micros(s.espalier.mid), f"{s.ratio.mid:.2f}"]


def key_values(document: dict) -> Iterator[str]:
    """One line a point, for programs that read key=value: ReFrame and the like."""
    for s in (*sorted(stats.summarise(document), key=sort_key), *sorted(stats.blocks(document), key=sort_key)):
        names = ("host", "variant", "ranks", "place", "mode", "buffers", "collective", "bytes", "state", "timing")
        about = {name: str(getattr(s.key, name)).replace(" ", "_") or "none" for name in names}
        times = {"host_us": s.host, "espalier_us": s.espalier, "ratio": s.ratio}
        found = {name: f"{spread.mid:.4g}" for name, spread in times.items() if isinstance(spread, Spread)}
        yield " ".join(f"{name}={value}" for name, value in (about | found | {"rounds": str(s.rounds)}).items())
