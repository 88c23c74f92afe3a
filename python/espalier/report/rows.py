"""What tables and plots show: one row for a collective, a size and a number of ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from espalier.bench.collectives import ALL, place_of
from espalier.bench.results.stats import Spread, Summary, geometric_mean
from espalier.bench.results.table import micros, ratio_words, served_words, spread_words
from espalier.sizes import print_bytes

ORDER = ALL


@dataclass(frozen=True)
class Row:
    collective: str  # in lower case
    ranks: int
    bytes: int
    host: Spread  # microseconds
    espalier: Optional[Spread]
    ratio: Optional[Spread]
    default: Optional[float] = None  # the host as it comes, where it was told to yield
    served: str = ""  # "host" or "partly host", where Espalier left it to the host

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
    def host_spread(self) -> str:
        return spread_words(self.host)

    @property
    def espalier_spread(self) -> str:
        return spread_words(self.espalier) if self.espalier else ""

    @property
    def least_words(self) -> str:
        return micros(self.host.least) + (f" / {micros(self.espalier.least)}" if self.espalier else "")

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
    return Row(s.key.collective, s.key.ranks, s.key.bytes, s.host, s.espalier, s.ratio, served=served_words(s))


def ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: (row.ranks, place_of(row.collective), row.bytes))


def overall(rows: Sequence[Row]) -> Optional[float]:
    """Geometric mean of the ratios."""
    return geometric_mean([row.ratio.mid for row in rows if row.ratio])
