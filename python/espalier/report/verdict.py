"""What a page of times says first, in a sentence or two."""

from __future__ import annotations

from collections.abc import Iterable

from espalier.report.rows import Row, overall

_NOISE = 0.9  # a ratio from here to 1 is none that a user would notice


def of_rows(groups: Iterable[tuple[str, list[Row]]]) -> str:
    """Of all points; `groups`: rows, and of which program or under which host they are."""
    points = [(words, row) for words, rows in groups for row in rows if row.ratio]
    ratios = {id(row): row.ratio.mid for _, row in points if row.ratio}
    mean = overall([row for _, row in points])
    if mean is None:
        return "There is no comparison: no point has times of both the host and Espalier."
    faster = sum(ratio > 1 for ratio in ratios.values())
    slower = sum(ratio < _NOISE for ratio in ratios.values())
    text = f"Espalier is faster at {faster} of {len(points)} points; the geometric mean of the ratios is {mean:.2f}."
    if not slower:
        return f"{text} No point is slower by more than 10\u00a0%."
    words, worst = min(points, key=lambda point: ratios[id(point[1])])
    name = f"{worst.collective} {worst.size}".strip()
    where = f"{name}, {worst.ranks} ranks, {words} ({ratios[id(worst)]:.2f})"
    return f"{text} Slower by more than 10\u00a0%: {slower}, the worst {where}."
