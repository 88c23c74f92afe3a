"""Plots over roots, as in HIER figures 2 to 4 and 8 to 10: medians, with whiskers to the least and most of all roots."""

from __future__ import annotations

from pathlib import Path
from typing import Sequence

from espalier import picture
from espalier.bench.hosts import HOSTS
from espalier.sizes import print_bytes

from cluster.growth_plot import growing, growth_figure
from cluster.settings import ROOTED
from cluster.summary import Over, Point

# From Okabe and Ito's palette, which colour-blind readers can tell apart; shapes tell the two sides apart as well.
_SIDES = (("host_us", "host", "#0072B2", "o", -0.08), ("espalier_us", "Espalier", "#D55E00", "s", 0.08))


def _pyplot():
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update(
        {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True}
    )
    matplotlib.rcParams.update({"grid.color": "#dddddd", "legend.frameon": False, "svg.hashsalt": "espalier"})
    import matplotlib.pyplot as plt

    return plt


def _side(axes, points: Sequence[Point], name: str, label: str, colour: str, marker: str, shift: float) -> None:
    with_it = [(at, getattr(point, name)) for at, point in enumerate(points) if getattr(point, name)]
    if not with_it:
        return
    overs: list[Over] = [over for _, over in with_it]
    whiskers = [[over.median - over.least for over in overs], [over.most - over.median for over in overs]]
    at = [place + shift for place, _ in with_it]
    axes.errorbar(
        at,
        [over.median for over in overs],
        yerr=whiskers,
        color=colour,
        marker=marker,
        capsize=4,
        linestyle="none",
        label=label,
    )


def _readable_logarithm(axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


def _label(point: Point) -> str:
    return f"{point.shape}\n{print_bytes(point.bytes)}" if point.shape else print_bytes(point.bytes)


def _panel(axes, points: Sequence[Point]) -> None:
    points = sorted(points, key=lambda point: point.bytes)
    for side in _SIDES:
        _side(axes, points, *side)
    axes.set_xticks(range(len(points)), [_label(point) for point in points])
    axes.set_xlim(-0.5, len(points) - 0.5)
    _readable_logarithm(axes)


def _figure(plt, title: str, points: Sequence[Point], over: str):
    layouts = list(dict.fromkeys(point.layout for point in points))
    hosts = list(dict.fromkeys(point.host for point in points))
    figure, grid = plt.subplots(
        len(layouts), len(hosts), figsize=((5.4 if points[0].shape else 3.6) * len(hosts), 2.8 * len(layouts)), squeeze=False, sharey="row"
    )
    for row, layout in enumerate(layouts):
        for column, host in enumerate(hosts):
            axes = grid[row][column]
            here = [point for point in points if (point.layout, point.host) == (layout, host)]
            _panel(axes, here)
            axes.set_title(f"{HOSTS[host].title}, {layout}" if here else f"{HOSTS[host].title}: not on {layout}")
            if column == 0:
                axes.set_ylabel(f"µs, {over}")
    grid[0][0].legend(loc="upper left")
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    return figure


def _save(plt, figure, folder: Path, name: str) -> list[Path]:
    written = [folder / f"{name}.png", folder / f"{name}.svg"]
    picture.save_png(figure, written[0], dpi=130)
    figure.savefig(written[1], bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    return written


def draw(document: dict, points: Sequence[Point], folder: Path) -> list[Path]:
    """roots-<collective>.png and .svg for each rooted collective that was measured, distributions.png and .svg for an
    allgatherv with its data distributed in several ways, and allgatherv-growth over three numbers of nodes or more (NOTIFY
    figure 3); returns the files."""
    plt = _pyplot()
    settings, written = document["settings"], []
    rate = f"{settings['rate_mbit']:g} Mbit/s" if settings["rate_mbit"] else "no limit of rate"
    about = f"{settings['delay_us']:g} µs delay, {rate}"
    folder.mkdir(parents=True, exist_ok=True)
    for collective in ROOTED:
        here = [point for point in points if point.collective == collective and point.node_stage != "messages"]
        if here:
            title = f"{collective} over all roots: median, least and most; {about}"
            written += _save(plt, _figure(plt, title, here, "all roots"), folder, f"roots-{collective}")
    shaped = [point for point in points if point.shape and not point.network and not point.node_stage]
    if shaped:
        title = f"allgatherv, mean bytes per rank: median and quartiles of the rounds; {about}"
        written += _save(plt, _figure(plt, title, shaped, "all rounds"), folder, "distributions")
    if growing(points):
        written += _save(plt, growth_figure(plt, growing(points), about), folder, "allgatherv-growth")
    return written
