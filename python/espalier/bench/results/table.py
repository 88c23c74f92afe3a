"""A bench document as tables for the terminal."""

from __future__ import annotations

from itertools import groupby

from rich.console import Console
from rich.table import Table
from rich.text import Text

from espalier.bench.collectives import place_of
from espalier.bench.process import telling
from espalier.bench.results.peers import best_hosts, point
from espalier.bench.results.stats import BLOCK, BLOCKING, Key, Spread, Summary, as_programs_call, there
from espalier.bench.results.verdict import Goal
from espalier.sizes import print_bytes

MISSES_SHOWN = 12


def micros(value: float) -> str:
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def size(summary: Summary) -> str:
    return "" if summary.key.collective == "barrier" else print_bytes(summary.key.bytes)


def ratio_words(ratio: Spread) -> str:
    return f"{ratio.mid:.2f} ({ratio.low:.2f}–{ratio.high:.2f})"


def spread_words(spread: Spread) -> str:
    return f"{micros(spread.mid)} ({micros(spread.low)}–{micros(spread.high)})"


_COLUMNS = ("collective", "bytes", "state", "rounds", "host µs (quartiles)", "least", "Espalier µs (quartiles)", "least ")


def _colour(ratio: float) -> str:
    return "green" if ratio > 1.0 else "yellow" if ratio >= 0.9 else "red"


def sort_key(s: Summary) -> tuple:
    about = (s.key.ranks, s.key.place, s.key.mode, s.key.buffers != "written", s.key.host, s.key.variant)
    return (*about, place_of(s.key.collective), s.key.bytes, s.key.state)


def _group(s: Summary) -> tuple:
    return (s.key.ranks, s.key.place, s.key.mode, s.key.buffers, s.key.host, s.key.variant)


PLACES = {"": "", "quota": ", CPU quota of one core", "one core": ", all on one core"}


def place_words(place: str) -> str:
    """ "late 100 µs" to ", one rank late by 100 µs: time from its arrival"."""
    if place.startswith("computing"):
        return f", {place} between start and wait: time of both"
    return PLACES.get(place, f", one rank late by {place.removeprefix('late ')}: time from its arrival")


def mode_words(mode: str) -> str:
    return "" if mode == BLOCKING else f", {mode} calls"


def timing_words(key: Key) -> str:
    return "in blocks" if key.timing == BLOCK else "one by one"


def served_words(s: Summary) -> str:
    return {"host": "host", "both": "partly host"}.get(s.served, "")


def _table(group: tuple, points: list[Summary]) -> Table:
    ranks, place, mode, buffers, host, variant = group
    extra = ", host as it comes" if variant == "default" else ""
    title = f"{host}, {ranks} ranks{place_words(place)}{mode_words(mode)}, buffers {buffers}{extra}"
    table = Table(title=title, title_justify="left")
    for name in (*_COLUMNS, "ratio (quartiles)", "served by"):
        table.add_column(name, justify="left" if name in ("collective", "state", "served by") else "right", no_wrap=True)
    for s in points:
        row = [s.key.collective, size(s), s.key.state, str(s.rounds), spread_words(s.host), micros(s.host.least)]
        if s.espalier and s.ratio:
            row += [spread_words(s.espalier), micros(s.espalier.least), f"[{_colour(s.ratio.mid)}]{ratio_words(s.ratio)}[/]"]
            row += [served_words(s)]
        table.add_row(*row)
    return table


def print_points(summaries: list[Summary], console: Console) -> None:
    for group, points in groupby(sorted(summaries, key=sort_key), _group):
        console.print(_table(group, list(points)))


def print_best(summaries: list[Summary], cores: int, console: Console) -> None:
    """Of one mode: which host is the fastest at each point, and Espalier under each host against that one."""
    written = [s for s in summaries if s.key.buffers == "written" and as_programs_call(s.key.place)]
    if len({s.key.host for s in written}) < 2:
        return
    best = best_hosts(written)
    title = "The best of the hosts at each point, and its time over Espalier's under each host (above 1 Espalier is faster)"
    table = Table(title=title + mode_words(written[0].key.mode), title_justify="left")
    for name in ("ranks", "place", "collective", "bytes", "state", "best host", "µs", "best host / Espalier"):
        table.add_column(name, justify="right" if name in ("ranks", "bytes", "µs") else "left")
    for s in sorted(best.values(), key=_by_point):
        same = [o for o in written if o.espalier and o.key.variant == "best" and point(o) == point(s)]
        shares = ", ".join(f"{o.key.host} {s.host.mid / there(o.espalier).mid:.2f}" for o in sorted(same, key=sort_key))
        host = s.key.host + (" (as it comes)" if s.key.variant == "default" else "")
        about = (str(s.key.ranks), s.key.place, s.key.collective, size(s), s.key.state)
        table.add_row(*about, host, micros(s.host.mid), shares)
    console.print(table)


def _by_point(s: Summary) -> tuple:
    return (s.key.ranks, s.key.place, place_of(s.key.collective), s.key.bytes, s.key.state)


def _found(goal: Goal) -> str:
    if goal.note:
        return f" (found {goal.note}, {goal.judged} points)"
    return f" ({goal.judged - len(goal.misses)} of {goal.judged} points)"


def print_verdict(goals: list[Goal], mode: str, console: Console) -> None:
    console.print(f"Against the goals{mode_words(mode)}")
    colours = {"met": "green", "missed": "red", "not measured": "yellow"}
    for goal in goals:
        console.print(f"[{colours[goal.verdict]}]{goal.verdict:12}[/] {goal.name}: {goal.text}{_found(goal)}")
        for miss in goal.misses[:MISSES_SHOWN]:
            console.print(f"             - {miss}", highlight=False)
        if len(goal.misses) > MISSES_SHOWN:
            console.print(f"             - and {len(goal.misses) - MISSES_SHOWN} more")


def print_failures(failures: list[dict], console: Console, details: bool = False) -> None:
    """One line for each distinct one; `details`: also the command and the last lines of each job."""
    groups: dict[tuple, list[dict]] = {}
    for failure in failures:
        groups.setdefault((failure["why"], telling(failure["last_lines"])), []).append(failure)
    for (why, last), group in groups.items():
        jobs = f"{len(group)} jobs" if len(group) > 1 else "a job"
        said = f": {last}" if last else ""
        command = f"  ({'the first: ' if len(group) > 1 else ''}{group[0]['command']})"
        console.print(Text(f"{jobs} {why}{said}", "red").append(command, "default"), soft_wrap=True)
        for failure in group if details else ():
            for line in (failure["command"], *failure["last_lines"]):
                console.print(f"  | {line}", highlight=False, markup=False, soft_wrap=True)
