"""RG's section VI, one optimisation at a time: docs/performance-ablations.md."""

from __future__ import annotations

from figures.outputs import Times
from figures.text import table

SHORT = {"8 B": "8B", "512 B": "512B", "2 KiB": "2KiB", "4 KiB": "4KiB"}
LONG = {"8 KiB": "8KiB", "32 KiB": "32KiB", "64 KiB": "64KiB", "1 MiB": "1MiB"}
SIZES = {**SHORT, **LONG}
NOT_COMPARED = "–"

# What is different, its variant, and what RG measured on 40 ranks.
REDUCE = [
    ("III-A.2: leaders first", "first", "1.1 to 1.25 below 64 KiB"),
    ("III-A.3: left skew", "left", "1.1 to 1.25 below 64 KiB"),
    ("III-A.1: K = 2 (RG: 3 up to 4 KiB)", "k 2", "1.03 from 512 B to 8 KiB"),
    ("III-A.1: K = 3 (RG: 2 above 4 KiB)", "k 3", "up to 1.17 from 8 KiB on"),
    ("III-A.1: K = 4", "k 4", ""),
    ("III-A.2: no sockets, `knomial:8`", "unaware 8", "slightly faster below 512 B"),
    ("III-A.2: no sockets, `knomial:4`", "unaware 4", "as `knomial:8` below 512 B"),
    ("III-A.2: no sockets, `knomial:3`", "unaware 3", "1.2 times `knomial:8` below 512 B"),
    ("III-A.2: no sockets, `knomial:2`", "unaware 2", "1.15 times `knomial:8` below 512 B; long vectors up to 1.8"),
    ("III-D: no data in the flag line", "no inline", "a small benefit of it"),
    ("III-E: no copy avoidance", "copied", "up to 1.08"),
]
BCAST = [
    ("III-A: `knomial:2` instead of flat", "k 2", "flat is the best in most cases"),
    ("III-A: `knomial:4` instead of flat", "k 4", ""),
    ("III-A: `knomial:8` instead of flat", "k 8", ""),
    ("III-B: a flag for each child", "own flags", "slower"),
    ("III-D: no data in the flag line", "no inline", "no benefit of it"),
]


def slower(t: Times, variant: str, base: str, size: str) -> str:
    """As a multiple of the base; where the variant was not asked for at that size: nothing."""
    try:
        return f"{t.ratio(variant, base, bytes=size):.2f}"
    except ValueError:
        return NOT_COMPARED


def rows_of(t: Times, ablations: list[tuple[str, str, str]]) -> list[list[str]]:
    return [[title, *(slower(t, variant, "RG", size) for size in SIZES.values()), published]
            for title, variant, published in ablations]


def reduce(output: str) -> list[list[str]]:
    t = Times(output)
    rows = rows_of(t, REDUCE)
    return [table(["reduce, slower than RG's configuration by", *SIZES, "RG, measured"], rows)]


def bcast(output: str) -> list[list[str]]:
    t = Times(output)
    rows = rows_of(t, BCAST)
    waits = [slower(t, "waits", "in a row", size) for size in SIZES.values()]
    rows.append(["III-C: the root waits for all readers, ten calls in a row", *waits, "no difference seen"])
    return [table(["bcast, slower than RG's configuration by", *SIZES, "RG, measured"], rows)]


def measured(output: str) -> list[list[str]]:
    """bench/ablations prints its own table."""
    return [[line for line in output.splitlines() if line.startswith("|")]]


TABLES = {"rg-ablations-reduce": reduce, "rg-ablations-bcast": bcast, "rg-ablations-measured": measured}
