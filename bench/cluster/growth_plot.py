"""How an allgatherv grows with the nodes and with the ranks on each (NOTIFY figure 3): a line for each number of ranks."""

from __future__ import annotations

from typing import Sequence

from emulated_cluster import Layout, parse_layout
from espalier.bench.hosts import HOSTS
from espalier.sizes import print_bytes

from cluster.summary import Point

# From Okabe and Ito's palette; the host's lines are dashed.
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")
_MARKERS = "os^D"
_SIDES = (("espalier_us", "Espalier", "-"), ("host_us", "host", "--"))


def _even(layout: Layout) -> bool:
    return len(set(layout.per_node)) == 1 and not layout.cyclic


def _nodes(point: Point) -> int:
    return parse_layout(point.layout).nodes


def _each(point: Point) -> int:
    return parse_layout(point.layout).per_node[0]


def _total(point: Point) -> int:
    return point.bytes * parse_layout(point.layout).ranks


def growing(points: Sequence[Point]) -> list[Point]:
    """Those of evenly distributed data, if they were measured on three numbers of nodes or more."""
    shaped = [point for point in points if point.shape == "regular" and not point.network and not point.node_stage]
    even = [point for point in shaped if _even(parse_layout(point.layout))]
    return even if len({_nodes(point) for point in even}) >= 3 else []


def _lines(axes, points: Sequence[Point]) -> None:
    for which, each in enumerate(sorted({_each(point) for point in points})):
        mine = sorted((point for point in points if _each(point) == each), key=_nodes)
        for side, name, style in _SIDES:
            there = [point for point in mine if getattr(point, side)]
            label = f"{name}, {each} rank{'s' if each > 1 else ''} a node"
            nodes = [_nodes(point) for point in there]
            times = [getattr(point, side).median for point in there]
            axes.plot(nodes, times, style, color=_COLOURS[which % 4], marker=_MARKERS[which % 4], label=label)
    axes.set_xticks(sorted({_nodes(point) for point in points}))
    axes.set_xlabel("nodes")
    axes.set_ylim(bottom=0)


def growth_figure(plt, points: Sequence[Point], about: str):
    totals, hosts = sorted({_total(point) for point in points}), list(dict.fromkeys(point.host for point in points))
    figure, grid = plt.subplots(
        len(hosts), len(totals), figsize=(4.4 * len(totals), 3.2 * len(hosts)), squeeze=False
    )
    for row, host in enumerate(hosts):
        for column, total in enumerate(totals):
            _lines(grid[row][column], [point for point in points if (point.host, _total(point)) == (host, total)])
            grid[row][column].set_title(f"{HOSTS[host].title}, {print_bytes(total)} in all")
        grid[row][0].set_ylabel("µs, median")
    grid[0][-1].legend(loc="center left", bbox_to_anchor=(1.02, 0.5), fontsize=8)
    figure.suptitle(f"allgatherv, the same total from more nodes and ranks; {about}", x=0.01, ha="left", fontsize=11)
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    return figure
