"""Figures of matplotlib as SVG text that can stand inside a page."""

from __future__ import annotations

import io
import re
from typing import Any

# What is drawn in black and white takes the page's colours, which are others in the dark (templates/page.html.j2).
_OF_THE_PAGE = {": #000000": ": currentColor", ": #ffffff": ": var(--paper)", ": #dddddd": ": var(--line)"}


def pyplot() -> Any:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {
            "svg.fonttype": "none",
            "font.family": "sans-serif",
            "font.size": 10,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.color": "#dddddd",
            "legend.frameon": False,
        }
    )
    import matplotlib.pyplot as plt

    return plt


def svg(plt: Any, figure: Any, name: str, text: str) -> str:
    """The figure as an <svg> with a text for those who cannot see it, its ids made unique on the page."""
    import matplotlib

    out = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name}):
        figure.savefig(out, format="svg", bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)
    body = out.getvalue()
    body = body[body.index("<svg") :]
    body = re.sub(r'id="([^"]+)"', rf'id="{name}-\1"', body)
    body = re.sub(r'(xlink:href|href)="#([^"]+)"', rf'\1="#{name}-\2"', body)
    body = re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", body)
    for drawn, shown in _OF_THE_PAGE.items():
        body = body.replace(drawn, shown)
    return body.replace("<svg", f'<svg role="img" aria-label="{text}"', 1)


COLUMNS = 5


def panels_of(plt: Any, count: int) -> Any:
    """So many panels in rows of a few; those that are over stay empty."""
    columns = min(count, COLUMNS)
    lines = -(-count // columns)
    size = (4 * columns, 3.2) if count <= 3 else (2.6 * columns, 2.3 * lines)
    figure, grid = plt.subplots(lines, columns, figsize=size, sharey=True, squeeze=False)
    figure.subplots_adjust(hspace=0.75)
    panels = [axes for line in grid for axes in line]
    for axes in panels[count:]:
        axes.set_axis_off()
    return figure, panels
