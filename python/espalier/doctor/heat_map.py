"""Latencies between cores as a map, on a terminal and as SVG: one row and column a core, lines between domains."""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Optional

from espalier.doctor.latencies import Latencies

_SHADES = " ░▒▓█"
_NUMBERS_UP_TO = 16  # cores: more have one character each
_CELL, _LABEL = 26, 44
# From Okabe and Ito's palette: light to dark blue, which readers who cannot tell colours tell by lightness.
_LIGHT, _DARK = (222, 235, 247), (8, 48, 107)


def _range(found: Latencies) -> tuple[float, float]:
    times = [found.ns[i][j] or 0.0 for i, j in found.pairs()]
    return min(times, default=0.0), max(times, default=0.0)


def _share(ns: float, low: float, high: float) -> float:
    return (ns - low) / (high - low) if high > low else 0.0


def _begins(found: Latencies) -> list[bool]:
    """Whether a core begins a domain that its neighbour before it is not in, of the innermost level that divides the cores."""
    inner = found.levels[0][1] if len(found.cpus) > 1 else ""
    return [at > 0 and found.levels[at][at - 1] != inner for at in range(len(found.cpus))]


def text(found: Latencies, columns: int) -> Iterator[str]:
    """Numbers where they fit, else a shade a core; nothing where even those do not fit."""
    count = len(found.cpus)
    begins = _begins(found)
    if count < 2 or not any(found.pairs()):
        return
    if count <= _NUMBERS_UP_TO and 6 + 5 * count + sum(begins) <= columns:
        yield from _numbers(found, begins)
    elif 6 + count + sum(begins) <= columns:
        yield from _shades(found, begins)


def _numbers(found: Latencies, begins: list[bool]) -> Iterator[str]:
    yield "ns".rjust(5) + "".join((" │" if begins[j] else "") + f"{cpu:5}" for j, cpu in enumerate(found.cpus))
    for i, cpu in enumerate(found.cpus):
        cells = ("·" if found.ns[i][j] is None else f"{found.ns[i][j]:.0f}" for j in range(len(found.cpus)))
        yield f"{cpu:5}" + "".join((" │" if begins[j] else "") + cell.rjust(5) for j, cell in enumerate(cells))


def _shades(found: Latencies, begins: list[bool]) -> Iterator[str]:
    low, high = _range(found)
    for cpu, row in zip(found.cpus, found.ns):
        yield f"{cpu:5} " + "".join(("│" if begins[j] else "") + _shade(ns, low, high) for j, ns in enumerate(row))
    yield f"      {_SHADES[1]} {low:.0f} ns  {_SHADES[-1]} {high:.0f} ns"


def _shade(ns: Optional[float], low: float, high: float) -> str:
    return "·" if ns is None else _SHADES[1 + min(3, int(4 * _share(ns, low, high)))]


def svg(found: Latencies) -> str:
    """ "" where nothing was measured. Each cell has its pair and time as a title."""
    count = len(found.cpus)
    if count < 2 or not any(found.pairs()):
        return ""
    size = _LABEL + _CELL * count + 4
    parts = [_cell(found, i, j) for i in range(count) for j in range(count)]
    parts += [part for at, cpu in enumerate(found.cpus) for part in _labels(at, cpu)]
    parts += [part for at, begins in enumerate(_begins(found)) if begins for part in _lines(at, count)]
    return (
        f'<svg role="img" aria-label="Time of a flag between each two cores" viewBox="0 0 {size} {size}" width="{size}" '
        f'height="{size}" font-size="10" font-family="sans-serif">{"".join(parts)}</svg>'
    )


def _cell(found: Latencies, i: int, j: int) -> str:
    low, high = _range(found)
    x, y, ns = _LABEL + _CELL * j, _LABEL + _CELL * i, found.ns[i][j]
    if ns is None:
        return f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="none" stroke="var(--line)"/>'
    share = _share(ns, low, high)
    colour = "#" + "".join(f"{round(a + share * (b - a)):02x}" for a, b in zip(_LIGHT, _DARK))
    title = html.escape(f"CPU {found.cpus[i]} and {found.cpus[j]}: {ns:.0f} ns, within a {found.levels[i][j]}")
    ink = "#fefefe" if share > 0.45 else "#111111"
    words = f'<text x="{x + 12.5}" y="{y + 16}" text-anchor="middle" style="fill: {ink}">{ns:.0f}</text>'
    field = f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="{colour}"/>'
    return f"<g><title>{title}</title>{field}{words}</g>"


def _labels(at: int, cpu: int) -> Iterator[str]:
    middle = _LABEL + _CELL * at + 16
    yield f'<text x="{_LABEL - 6}" y="{middle}" text-anchor="end">{cpu}</text>'
    yield f'<text x="{middle - 3.5}" y="{_LABEL - 8}" text-anchor="middle">{cpu}</text>'


def _lines(at: int, count: int) -> Iterator[str]:
    place, end = _LABEL + _CELL * at - 1, _LABEL + _CELL * count
    yield f'<path d="M{_LABEL} {place}H{end}M{place} {_LABEL}V{end}" stroke="currentColor" stroke-width="2"/>'
