"""The three drawings of a run as SVG text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from espalier.report.drawing import pyplot, svg
from espalier.report.run import arrivals as came, gantt_words
from espalier.report.run.arrivals import Arrivals
from espalier.report.run.gantt import Bar, Gantt
from espalier.report.run.roofline import Point
from espalier.sizes import print_bytes
from espalier.stats.table import time

# From Okabe and Ito's palette, which colour-blind readers can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#888888", "#B8A800")
_MARKERS = "os^Dv<>"  # one fewer than colours, so that both together are not the same so soon
_LIGHT = 0.35  # of a colour: waiting
_LANE, _THICK = 0.32, 0.62  # inches of a rank, and how much of it a bar takes
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6))


def _colours(names: Sequence[str]) -> dict[str, str]:
    return {name: _COLOURS[at % len(_COLOURS)] for at, name in enumerate(dict.fromkeys(names))}


def gantt(drawn: Gantt, name: str) -> str:
    """A lane a rank, a bar a call; "" if there is none."""
    if not drawn.bars:
        return ""
    plt = pyplot()
    ranks, _ = gantt_words.shown(drawn)
    unit, scale = next(((unit, scale) for unit, scale in _UNITS if drawn.end - drawn.begin >= scale), _UNITS[-1])
    colours = _colours([bar.collective for bar in drawn.bars])
    height = 1.1 + _LANE * len(ranks)
    figure, axes = plt.subplots(figsize=(10, height))
    figure.subplots_adjust(bottom=0.6 / height, top=1 - 0.1 / height)
    for collective, colour in colours.items():
        bars = [bar for bar in drawn.bars if bar.collective == collective and bar.rank in ranks]
        _lanes(axes, bars, ranks, scale, colour)
    last = [bar for bar in drawn.bars if bar.is_last and bar.rank in ranks]
    axes.plot([bar.begin / scale for bar in last], [ranks.index(bar.rank) - 0.43 for bar in last], linestyle="", marker="v",
              color="#000000", markersize=4)
    axes.set_ylim(len(ranks) - 0.4, -0.8)
    axes.set_xlim(drawn.begin / scale, drawn.end / scale)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks])
    axes.grid(axis="y", visible=False)
    axes.set_axisbelow(True)
    axes.set_xlabel(f"{unit} since the first call")
    _gantt_legend(plt, figure, colours, bool(last))
    return svg(plt, figure, name, "Calls of each rank over time, with the part in which it waited for the last one")


def _lanes(axes: Any, bars: Sequence[Bar], ranks: Sequence[int], scale: float, colour: str) -> None:
    for at, rank in enumerate(ranks):
        mine = [bar for bar in bars if bar.rank == rank]
        waiting = [(bar.begin / scale, bar.waited / scale) for bar in mine if bar.waited]
        rest = [((bar.begin + (bar.waited or 0)) / scale, (bar.seconds - (bar.waited or 0)) / scale) for bar in mine]
        place = (at - _THICK / 2, _THICK)
        if waiting:
            axes.broken_barh(waiting, place, facecolor=colour, alpha=_LIGHT, linewidth=0)
        if rest:  # a line around it, so that a short one is seen
            axes.broken_barh(rest, place, facecolor=colour, edgecolor=colour, linewidth=0.5)


def _gantt_legend(plt: Any, figure: Any, colours: dict[str, str], has_last: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [Patch(facecolor=colour, label=name) for name, colour in colours.items()]
    handles.append(Patch(facecolor="#888888", alpha=_LIGHT, label="light: waits for the last rank"))
    if has_last:
        handles.append(Line2D([], [], linestyle="", marker="v", color="#000000", label="comes last"))
    figure.legend(handles=handles, loc="upper center", ncols=4, bbox_to_anchor=(0.5, 0.05 / figure.get_figheight()))


_PANELS = 3  # of histograms in a row


def arrivals(found: Sequence[Arrivals], name: str) -> str:
    """How many calls had so much time between the first and the last rank, a panel for each kind of call."""
    shown = found[: came.MOST]
    if not shown:
        return ""
    plt = pyplot()
    columns = min(len(shown), _PANELS)
    lines = -(-len(shown) // columns)
    figure, grid = plt.subplots(lines, columns, figsize=(max(5.0, 3.4 * columns), 2.5 * lines), squeeze=False)
    figure.subplots_adjust(hspace=0.75, wspace=0.35)
    low, high = min(came.used(each)[0] for each in shown), max(came.used(each)[1] for each in shown)
    for axes, each in zip(grid.flat, shown):
        axes.set_axisbelow(True)
        axes.bar(range(low, high + 1), each.spread[low : high + 1], width=0.85, color=_COLOURS[0])
        axes.set_title(f"{each.name}, {each.ranks} ranks", fontsize=9)
        axes.grid(axis="x", visible=False)
        _widths_axis(axes, low, high)
    for axes in list(grid.flat)[len(shown) :]:
        axes.set_axis_off()
    for line in grid:
        line[0].set_ylabel("calls")
    return svg(plt, figure, name, "How many calls had how much time between the first and the last rank to come")


def _widths_axis(axes: Any, low: int, high: int) -> None:
    """Marks at the upper ends of bins."""
    step = max(1, -(-(high - low + 1) // 4))
    shown = list(range(low, high + 1, step))
    axes.set_xlim(low - 0.6, high + 0.6)
    axes.set_xticks([width + 0.5 for width in shown], [f"{time(came.edge(width) or 1e-9)}" for width in shown], fontsize=8)
    axes.set_xlabel("from the first to the last rank, less than", fontsize=9)


def roofline(points: Sequence[Point], name: str) -> str:
    """Bytes a second against bytes, and what would be the most; "" if no call moves bytes."""
    shown = [point for point in points if point.moved > 0]
    if not shown:
        return ""
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8.5, 4.2))
    names = list(dict.fromkeys(point.collective for point in shown))
    for at, collective in enumerate(names):
        mine = [point for point in shown if point.collective == collective]
        axes.plot([point.moved for point in mine], [point.rate / 1e9 for point in mine], linestyle="", label=collective,
                  marker=_MARKERS[at % len(_MARKERS)], color=_COLOURS[at % len(_COLOURS)], markersize=6)
    _roofs(axes, shown)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    _moved_axis(axes)
    axes.set_ylabel("GB/s of the rank with most")
    handles = axes.get_legend_handles_labels()
    figure.legend(*handles, loc="upper center", ncols=3, bbox_to_anchor=(0.5, 0.0))
    return svg(plt, figure, name, "Bytes a second that collectives reach, without waiting, and the machine's limits")


def _roofs(axes: Any, points: Sequence[Point]) -> None:
    low, high = min(point.moved for point in points) / 2, max(point.moved for point in points) * 2
    at = [low * (high / low) ** (step / 60) for step in range(61)]
    roofs = sorted({(point.limit.ranks, not point.together, point.limit) for point in points}, key=lambda roof: roof[:2])
    for number, (ranks, is_alone, limit) in enumerate(roofs):
        style = ("-", "--", ":", "-.")[number % 4]
        label = f"limit, {ranks} ranks{', of one that copies' if is_alone else ''}"
        rates = [moved / limit.seconds(moved, not is_alone) / 1e9 for moved in at]
        axes.plot(at, rates, color="#000000", linestyle=style, linewidth=1.2, label=label)


def _moved_axis(axes: Any) -> None:
    low, high = axes.get_xlim()
    powers = [1 << power for power in range(64) if low <= 1 << power <= high]
    shown = powers[:: max(1, -(-len(powers) // 8))]
    axes.set_xticks(shown, [print_bytes(value) for value in shown])
    axes.minorticks_off()
    axes.set_xlabel("bytes that the rank with most of them takes from others")
