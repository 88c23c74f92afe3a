"""Numbers as people read them."""

from __future__ import annotations


def three_digits(value: float) -> str:
    """Three digits, and all before the point: 0.0851, 12.4, 2,940,000."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"
