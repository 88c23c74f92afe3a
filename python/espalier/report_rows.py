"""What tables and plots show: one row for a collective, a size and a number of ranks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional, Sequence

from espalier.bench_stats import Spread, Summary
from espalier.bench_table import micros, ratio_words
from espalier.sizes import print_bytes

ORDER = ("barrier", "bcast", "reduce", "allreduce")


@dataclass(frozen=True)
class Row:
    collective: str  # in lower case
    ranks: int
    bytes: int
    host: Spread  # microseconds
    espalier: Optional[Spread]
    ratio: Optional[Spread]
    default: Optional[float] = None  # the host as it comes, where it was told to yield

    @property
    def size(self) -> str:
        return "" if self.collective == "barrier" else print_bytes(self.bytes)

    @property
    def host_words(self) -> str:
        return micros(self.host.mid)

    @property
    def espalier_words(self) -> str:
        return micros(self.espalier.mid) if self.espalier else ""

    @property
    def ratio_words(self) -> str:
        return ratio_words(self.ratio) if self.ratio else ""

    @property
    def default_words(self) -> str:
        return micros(self.default) if self.default else ""

    @property
    def mood(self) -> str:
        if not self.ratio:
            return "none"
        return "better" if self.ratio.mid > 1 else "even" if self.ratio.mid >= 0.9 else "worse"


def of_summary(s: Summary) -> Row:
    return Row(s.key.collective, s.key.ranks, s.key.bytes, s.host, s.espalier, s.ratio)


def ordered(rows: Sequence[Row]) -> list[Row]:
    place = lambda name: ORDER.index(name) if name in ORDER else len(ORDER)
    return sorted(rows, key=lambda row: (row.ranks, place(row.collective), row.bytes))


def overall(rows: Sequence[Row]) -> Optional[float]:
    """Geometric mean of the ratios."""
    ratios = [row.ratio.mid for row in rows if row.ratio]
    if not ratios:
        return None
    product = 1.0
    for ratio in ratios:
        product *= ratio ** (1 / len(ratios))
    return product
