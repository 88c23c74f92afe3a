"""Plots of rows as SVG text that can stand inside a page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Callable

from espalier.bench.results.stats import there
from espalier.report.drawing import COLUMNS, panels_of, pyplot, svg
from espalier.report.rows import ORDER, Row
from espalier.sizes import print_bytes

# From Okabe and Ito's palette, which colour-blind readers can tell apart; shapes tell the lines apart as well.
HOST, ESPALIER, GREY = "#0072B2", "#D55E00", "#888888"
_ON_COLOUR = {True: "#fefefe", False: "#111111"}  # text on a dark field, and on a light one
_LOOK = {"bcast": ("#0072B2", "o"), "reduce": ("#009E73", "^"), "allreduce": ("#D55E00", "s")}


def _short(value: int) -> str:
    return print_bytes(value).removesuffix("iB").removesuffix("B")


def _bytes_axis(axes: Any, sizes: Sequence[int]) -> None:
    axes.set_xscale("log", base=2)
    shown = sorted(set(sizes))
    step = max(1, (len(shown) + 5) // 6)
    axes.set_xticks(shown[::step], [_short(value) for value in shown[::step]])
    axes.minorticks_off()
    axes.set_xlabel("bytes per rank")


def _spread(axes: Any, rows: list[Row], pick: Callable[[Row], Any], colour: str, marker: str, label: str) -> None:
    rows = [row for row in rows if pick(row)]
    if not rows:
        return
    at = [row.bytes for row in rows]
    spreads = [pick(row) for row in rows]
    axes.plot(at, [s.mid for s in spreads], color=colour, marker=marker, markersize=4, label=label)
    axes.fill_between(at, [s.low for s in spreads], [s.high for s in spreads], color=colour, alpha=0.18, linewidth=0)


def _by_bytes(rows: Sequence[Row]) -> dict[str, list[Row]]:
    sized = [row for row in rows if row.collective != "barrier"]
    names = [name for name in ORDER if any(row.collective == name for row in sized)]
    return {name: sorted((row for row in sized if row.collective == name), key=lambda row: row.bytes) for name in names}


def times(rows: Sequence[Row], name: str, host: str) -> str:
    """Time against bytes, one panel for each collective; "" if nothing has a size."""
    groups = _by_bytes(rows)
    if not groups:
        return ""
    plt = pyplot()
    figure, panels = panels_of(plt, len(groups))
    for number, (axes, (collective, group)) in enumerate(zip(panels, groups.items())):
        _spread(axes, group, lambda row: row.host, HOST, "o", host)
        _spread(axes, group, lambda row: row.espalier, ESPALIER, "s", "Espalier")
        axes.set_yscale("log")
        axes.set_title(collective, fontsize=10)
        _bytes_axis(axes, [row.bytes for row in group])
        if number % COLUMNS == 0:
            axes.set_ylabel("µs (median, quartiles)")
    panels[0].legend()
    return svg(plt, figure, name, f"Time of each collective against bytes, {host} and Espalier")


_HOSTS = ("#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#F0E442")


def times_of_hosts(by_host: dict[str, Sequence[Row]], name: str) -> str:
    """Time against bytes of several hosts, each with Espalier under it, one panel for each collective."""
    groups = {host: _by_bytes(rows) for host, rows in by_host.items()}
    names = [collective for collective in ORDER if any(collective in group for group in groups.values())]
    if not names:
        return ""
    plt = pyplot()
    figure, panels = panels_of(plt, len(names))
    for number, (axes, collective) in enumerate(zip(panels, names)):
        for (host, group), colour in zip(groups.items(), _HOSTS):
            rows = group.get(collective, [])
            _line(axes, rows, lambda row: row.host, colour, "--", "o", host)
            _line(axes, rows, lambda row: row.espalier, colour, "-", "s", f"Espalier under {host}")
        axes.set_yscale("log")
        axes.set_title(collective, fontsize=10)
        _bytes_axis(axes, [row.bytes for group in groups.values() for row in group.get(collective, [])])
        axes.set_xlabel("")
        if number % COLUMNS == 0:
            axes.set_ylabel("µs (median)")
    handles = panels[0].get_legend_handles_labels()
    figure.legend(*handles, loc="upper center", ncols=max(1, len(groups)), bbox_to_anchor=(0.5, 0.0))
    return svg(plt, figure, name, "Time of each collective against bytes per rank, each host and Espalier under it")


def _line(axes: Any, rows: Sequence[Row], pick: Callable[[Row], Any], colour: str, style: str, marker: str, label: str) -> None:
    shown = [row for row in rows if pick(row)]
    if shown:
        at, middles = [row.bytes for row in shown], [pick(row).mid for row in shown]
        axes.plot(at, middles, color=colour, linestyle=style, marker=marker, markersize=3, linewidth=1.2, label=label)


_MARKS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


def _ratio_axis(axes: Any) -> None:
    """Marks at round ratios; 1 is always among them."""
    axes.set_yscale("log", base=2)
    low, high = axes.get_ylim()
    low, high = min(low, 0.95), max(high, 1.05)
    axes.set_ylim(low, high)
    inside = [mark for mark in _MARKS if low <= mark <= high]
    step = (len(inside) + 7) // 8
    shown = inside[inside.index(1) % step :: step]
    axes.set_yticks(shown, [f"{mark:g}×" for mark in shown])
    axes.minorticks_off()


def ratios(rows: Sequence[Row], name: str, host: str) -> str:
    """The host's time over Espalier's against bytes; "" if there is none."""
    groups = _by_bytes([row for row in rows if row.ratio])
    if not groups:
        return ""
    plt = pyplot()
    figure = _lines(plt, groups, host) if len(groups) <= len(_LOOK) else _map(plt, groups, host)
    return svg(plt, figure, name, f"Time of {host} over time of Espalier against bytes; above 1 Espalier is faster")


def _lines(plt: Any, groups: dict[str, list[Row]], host: str) -> Any:
    figure, axes = plt.subplots(figsize=(8, 3.0))
    for collective, group in groups.items():
        colour, marker = _LOOK.get(collective, (GREY, "x"))
        _spread(axes, group, lambda row: row.ratio, colour, marker, collective)
    axes.axhline(1, color=GREY, linewidth=1, linestyle="--")
    _bytes_axis(axes, [row.bytes for group in groups.values() for row in group])
    _ratio_axis(axes)
    axes.set_ylabel(f"{host} / Espalier")
    axes.legend(ncols=3)
    return figure


_WIDEST = 4.0  # ratios from 1/4 to 4 have colours of their own; beyond them the number says it


def _map(plt: Any, groups: dict[str, list[Row]], host: str) -> Any:
    """So many collectives would hide each other as lines: a field for each, its number in it."""
    from matplotlib.colors import LogNorm

    sizes = sorted({row.bytes for group in groups.values() for row in group})
    names = list(groups)
    table = [[math.nan] * len(sizes) for _ in names]
    for line, group in zip(table, groups.values()):
        for row in group:
            line[sizes.index(row.bytes)] = there(row.ratio).mid
    figure, axes = plt.subplots(figsize=(1.6 + 0.85 * len(sizes), 0.8 + 0.3 * len(names)))
    axes.pcolormesh(table, norm=LogNorm(1 / _WIDEST, _WIDEST), cmap="PuOr", edgecolors="white", linewidth=1)
    for y, line in enumerate(table):
        for x, ratio in enumerate(line):
            dark = not 1 / 2.2 < ratio < 2.2
            words = "" if math.isnan(ratio) else f"{ratio:.2f}"
            axes.text(x + 0.5, y + 0.5, words, ha="center", va="center", fontsize=9, color=_ON_COLOUR[dark])
    axes.set_xticks([x + 0.5 for x in range(len(sizes))], [_short(value) for value in sizes])
    axes.set_yticks([y + 0.5 for y in range(len(names))], names)
    axes.invert_yaxis()
    axes.grid(False)
    axes.set_xlabel(f"bytes per rank; {host} / Espalier")
    return figure
