"""A set-up document as tables for the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.table import Table

from espalier.bench.results.table import micros


def _table(console: Console, title: str, columns: str, rows: list[list[str]]) -> None:
    if not rows:
        return
    table = Table(title=title, title_justify="left")
    for name in columns.split("|"):
        table.add_column(name, justify="left" if name in ("host", "case", "cores", "goal") else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _spread(value: dict, shown: Any = micros) -> str:
    return f"{shown(value['median'])} ({shown(value['low'])}–{shown(value['high'])})"


def _goal(point: dict) -> str:
    ratio, more = point["goal"]
    words = f"{ratio:g} ×" + (f" or {more:g} µs more" if more else "")
    return f"[green]met[/]: {words}" if point["met"] else f"[red]missed[/]: {words}"


def _cases(points: list[dict]) -> list[list[str]]:
    return [
        [p["host"], str(p["ranks"]), p["case"], p["state"], str(p["cycles"]), _spread(p["host_us"]),
         _spread(p["espalier_us"]), f"{p['ratio']:.2f}", _goal(p)]
        for p in points
    ]  # fmt: skip


def _start(points: list[dict]) -> list[list[str]]:
    rows = []
    for p in points:
        host, ours = p["of_host"], p["of_espalier"]
        times = ("wall_ms", "span_ms", "init_ms", "first_ms", "cpu_ms")
        cells = [f"{host[name]['median']:.1f} → {ours[name]['median']:.1f}" for name in times]
        use = [f"{host['usage'][name]:.0f} → {ours['usage'][name]:.0f}" for name in ("rss_kib", "own_shmem_kib", "descriptors")]
        rows.append([p["host"], str(p["ranks"]), *cells, *use, "[green]met[/]" if p["met"] else "[red]missed[/]"])
    return rows


def _live(points: list[dict]) -> list[list[str]]:
    rows = []
    for p in points:
        number, before, after = max(1, p["number"]), p["before"], p["after"]
        each = [f"{(after[name] - before[name]) / number:.2f}" for name in ("rss_kib", "own_shmem_kib")]
        more = [f"{after[name] - before[name]:+.0f}" for name in ("descriptors", "maps")]
        took = "-" if p["us"] is None else micros(p["us"])
        rows.append([p["host"], str(p["ranks"]), p["side"], str(p["number"]), took, *each, *more])
    return rows


def _churn(points: list[dict]) -> list[list[str]]:
    return [
        [p["host"], str(p["ranks"]), p["side"], str(p["cycles"]), micros(p["us"]),
         f"[red]grown: {p['grown']}[/]" if p["grown"] else "[green]unchanged[/]"]
        for p in points
    ]  # fmt: skip


_CASES = "host|ranks|case|cores|cycles|host µs|Espalier µs|ratio|goal"
_STARTS = "host|ranks|mpirun|start to first result|MPI_Init|first allreduce|CPU of a rank|resident|part of shared|fds|goal"
_LIVES = "host|ranks|side|number|µs each|KiB resident each|KiB shared each|descriptors|maps"
_CHURNS = "host|ranks|side|cycles|µs each|memory, descriptors, maps"


def print_all(points: dict, console: Console) -> None:
    """host µs and Espalier µs: medians of the rounds' medians, with quartiles."""
    _table(console, "Set-up, cycles that end with a free", _CASES, _cases(points["cases"]))
    _table(console, "Start, host → Espalier: milliseconds; KiB and descriptors of a rank", _STARTS, _start(points["start"]))
    _table(console, "Communicators that live at once", _LIVES, _live(points["live"]))
    _table(console, "Cycles of dup, allreduce and free", _CHURNS, _churn(points["churn"]))
