"""A bench document as tables for the terminal."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console
from rich.table import Table

from espalier.bench_stats import Spread, Summary
from espalier.bench_verdict import Goal, best_hosts
from espalier.sizes import print_bytes

_ORDER = ("barrier", "bcast", "reduce", "allreduce")
MISSES_SHOWN = 12


def micros(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def size(summary: Summary) -> str:
    return "" if summary.key.collective == "barrier" else print_bytes(summary.key.bytes)


def ratio_words(ratio: Spread) -> str:
    return f"{ratio.mid:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


def _colour(ratio: float) -> str:
    return "green" if ratio > 1.0 else "yellow" if ratio >= 0.9 else "red"


def sort_key(s: Summary):
    place = _ORDER.index(s.key.collective) if s.key.collective in _ORDER else len(_ORDER)
    return (s.key.ranks, s.key.buffers != "written", s.key.host, s.key.variant, place, s.key.bytes, s.key.state)


def _group(s: Summary):
    return (s.key.ranks, s.key.buffers, s.key.host, s.key.variant)


def _table(group, points: list[Summary]) -> Table:
    ranks, buffers, host, variant = group
    extra = ", host as it comes" if variant == "default" else ""
    table = Table(title=f"{host}, {ranks} ranks, buffers {buffers}{extra}", title_justify="left")
    for name in ("collective", "bytes", "state", "rounds", "host µs", "Espalier µs", "ratio (quartiles)"):
        table.add_column(name, justify="left" if name in ("collective", "state") else "right", no_wrap=True)
    for s in points:
        row = [s.key.collective, size(s), s.key.state, str(s.rounds), micros(s.host.mid)]
        if s.ratio:
            row += [micros(s.espalier.mid), f"[{_colour(s.ratio.mid)}]{ratio_words(s.ratio)}[/]"]
        table.add_row(*row)
    return table


def print_points(summaries: list[Summary], console: Console) -> None:
    for group, points in groupby(sorted(summaries, key=sort_key), _group):
        console.print(_table(group, list(points)))


def print_best(summaries: list[Summary], cores: int, console: Console) -> None:
    """Which host is the fastest where ranks share cores, and Espalier against that one."""
    crowded = [s for s in summaries if s.key.ranks > cores]
    best = best_hosts(crowded)
    if len({s.key.host for s in crowded}) < 2:
        return
    table = Table(title="More ranks than cores: Espalier against the best of the hosts (times it takes)", title_justify="left")
    for name in ("ranks", "collective", "bytes", "state", "best host", "µs", "Espalier's time / best, under each host"):
        table.add_column(name, justify="right" if name in ("ranks", "bytes", "µs") else "left")
    for s in sorted((b for b in best.values() if b.key.buffers == "written"), key=sort_key):
        same = [o for o in crowded if o.espalier and o.key.variant == "best" and _point(o) == _point(s)]
        shares = ", ".join(f"{o.key.host} {o.espalier.mid / s.host.mid:.2f}" for o in sorted(same, key=sort_key))
        host = s.key.host + (" (as it comes)" if s.key.variant == "default" else "")
        table.add_row(str(s.key.ranks), s.key.collective, size(s), s.key.state, host, micros(s.host.mid), shares)
    console.print(table)


def _point(s: Summary):
    return (s.key.ranks, s.key.buffers, s.key.collective, s.key.bytes, s.key.state)


def print_verdict(goals: list[Goal], console: Console) -> None:
    colours = {"met": "green", "missed": "red", "not measured": "yellow"}
    for goal in goals:
        hits = goal.judged - len(goal.misses)
        console.print(f"[{colours[goal.verdict]}]{goal.verdict:12}[/] {goal.name}: {goal.text} ({hits} of {goal.judged} points)")
        for miss in goal.misses[:MISSES_SHOWN]:
            console.print(f"             - {miss}", highlight=False)
        if len(goal.misses) > MISSES_SHOWN:
            console.print(f"             - and {len(goal.misses) - MISSES_SHOWN} more")


def print_failures(failures: list[dict], console: Console) -> None:
    for failure in failures:
        console.print(f"[red]A job {failure['why']}:[/]")
        console.print(f"  {failure['command']}", highlight=False, markup=False, soft_wrap=True)
        for line in failure["last_lines"]:
            console.print(f"  | {line}", highlight=False, markup=False, soft_wrap=True)
