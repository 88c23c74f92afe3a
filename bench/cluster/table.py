"""A document as tables for the terminal."""

from __future__ import annotations

from itertools import groupby
from typing import Optional, Sequence

from espalier.bench.hosts import HOSTS
from espalier.sizes import print_bytes
from rich.console import Console
from rich.table import Table

from cluster.summary import Over, Point, StagePair, over_turns


def micros(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _three(over: Optional[Over]) -> str:
    return f"{micros(over.median)} ({micros(over.least)}–{micros(over.most)})" if over else "–"


def _row(point: Point) -> tuple[str, ...]:
    size = "–" if point.collective == "barrier" else print_bytes(point.bytes)
    how = f"{len(point.roots)} roots" if point.over == "roots" else f"{point.rounds} rounds"
    ratio = f"{point.ratio:.2f}" if point.ratio else "–"
    name = " ".join(word for word in (point.collective, point.shape, point.network, point.node_stage) if word)
    return name, size, how, _three(point.host_us), _three(point.espalier_us), ratio, point.served or "?"


def print_points(points: Sequence[Point], console: Console) -> None:
    """Medians with least and most over the roots; of collectives without a root, with the quartiles of the rounds."""
    for (host, layout), group in groupby(points, key=lambda point: (point.host, point.layout)):
        table = Table(title=f"{HOSTS[host].title}, {layout}: µs", title_justify="left")
        for name in ("collective", "bytes", "over", "host", "Espalier", "host / Espalier", "served by"):
            table.add_column(name, justify="left" if name in ("collective", "served by") else "right", no_wrap=True)
        for point in group:
            table.add_row(*_row(point))
        console.print(table)


def print_stages(pairs: Sequence[StagePair], console: Console) -> None:
    """What shared memory within the nodes is worth."""
    if not pairs:
        return
    table = Table(title="node stages: µs", title_justify="left")
    for name in ("host", "layout", "collective", "bytes", "messages", "shared memory", "by the medians", "beside the host"):
        table.add_column(name, justify="left" if name in ("host", "layout", "collective") else "right", no_wrap=True)
    for pair in pairs:
        point = pair.point
        size = "–" if point.collective == "barrier" else print_bytes(point.bytes)
        table.add_row(HOSTS[point.host].title, point.layout, point.collective, size, _three(over_turns(pair.messages)),
                      _three(over_turns(pair.shared)), f"{pair.by_medians:.2f}", f"{pair.beside_the_host:.2f}")
    console.print(table)


def print_model(model: Sequence[dict], console: Console) -> None:
    table = Table(title="messages of the hosts", title_justify="left")
    for name in ("host", "layout", "where", "latency µs", "ns/byte", "gap µs", "gap ns/byte"):
        table.add_column(name, justify="left" if name in ("host", "layout", "where") else "right", no_wrap=True)
    for entry in model:
        numbers = (entry["latency_us"], entry["ns_per_byte"], entry["gap_us"], entry["gap_ns_per_byte"])
        table.add_row(
            HOSTS[entry["host"]].title, entry["layout"], entry["where"], *(f"{value:.2f}" for value in numbers)
        )
    console.print(table)


def print_failures(failures: Sequence[dict], console: Console) -> None:
    for failure in failures:
        console.print(f"FAILED: {failure['host']}, {failure['layout']}: {failure['why']}", style="red", highlight=False)
        for line in failure["last_lines"]:
            console.print(f"    {line}", highlight=False, markup=False)
