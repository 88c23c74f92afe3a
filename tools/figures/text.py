"""Numbers and tables as the pages have them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def us(value: float) -> str:
    """Three digits, all of them from a hundred on: 1.86, 39.4, 126."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def ms(value: float) -> str:
    return f"{value / 1000:.1f} ms"


def times(value: float) -> str:
    """A ratio."""
    return f"{value:.2f}" if value < 3 else f"{value:.1f}"


def span(values: Iterable[float]) -> str:
    """From the least to the largest ratio."""
    found = sorted(values)
    low, high = times(found[0]), times(found[-1])
    return low if low == high else f"{low} to {high}"


def bold_least(values: Sequence[float]) -> list[str]:
    return [f"**{us(value)}**" if value == min(values) else us(value) for value in values]


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells below {len(head)} heads: {row}")
        lines.append(f"| {' | '.join(row)} |")
    return [re.sub(r"\|  (?=\|)", "| ", line) for line in lines]
