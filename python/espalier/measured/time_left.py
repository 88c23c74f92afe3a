"""The time that is left, for a bar of progress."""

from __future__ import annotations


def time_left(seconds: float) -> str:
    whole = int(seconds + 0.5)
    return f"{whole // 60}:{whole % 60:02d} left"
