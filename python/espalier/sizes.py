"""Byte counts as people write them."""

from __future__ import annotations

import re

from espalier.problem import Problem

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3}


def parse_bytes(text: str) -> int:
    """ "64KiB", "64k", "1.5MiB", "4096" (units are powers of 1024) to bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmg])(?:i?b)?|b)?\s*", text, re.IGNORECASE)
    if not match:
        raise Problem(f"'{text}' is no number of bytes; write it as 4096, 64KiB or 1.5MiB")
    value = float(match[1]) * 1024 ** _POWERS[(match[2] or "").lower()]
    if value != int(value):
        raise Problem(f"'{text}' is no whole number of bytes")
    return int(value)


def print_bytes(count: int) -> str:
    for power, unit in ((3, "GiB"), (2, "MiB"), (1, "KiB")):
        step = 1024**power
        if count >= step:
            return f"{count // step}{unit}" if count % step == 0 else f"{count / step:.1f}{unit}"
    return f"{count}B"
