"""What was measured, and the interval in which each median lies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Optional

from espalier.measured.interval import Interval, interval
from espalier.measured.point import Point

CONFIDENCE = 0.9  # a finding has to be a good deal slower anyway


class Key(NamedTuple):
    """A call in one of the ways in which it was measured."""

    point: Point
    way: str = ""  # "": plain; "shifted": buffers 8 bytes off; "derived": a datatype of one double


class Sample(NamedTuple):
    key: Key
    root: int
    us: float


class Times:
    """Microseconds of one call, by key and by root."""

    def __init__(self, samples: Iterable[Sample]):
        self._by_key: dict[Key, list[Sample]] = {}
        for sample in samples:
            self._by_key.setdefault(sample.key, []).append(sample)
        self._of: dict[Key, Optional[Interval]] = {}

    def __contains__(self, key: Key) -> bool:
        return self.of(key) is not None

    def calls(self) -> list[Key]:
        return sorted(self._by_key)

    def of(self, key: Key) -> Optional[Interval]:
        """None: there are too few rounds, or none."""
        if key not in self._of:
            self._of[key] = interval([sample.us for sample in self._by_key.get(key, ())], CONFIDENCE)
        return self._of[key]

    def us(self, ranks: int, collective: str, size: int) -> Optional[Interval]:
        return self.of(Key(Point(ranks, collective, size)))

    def by_root(self, key: Key) -> dict[int, list[float]]:
        found: dict[int, list[float]] = {}
        for sample in self._by_key.get(key, ()):
            found.setdefault(sample.root, []).append(sample.us)
        return found

    def sizes(self, ranks: int, collective: str) -> list[int]:
        return sorted({key.point.size for key in self._by_key if key.point[:2] == (ranks, collective) and not key.way})

    def ranks(self) -> list[int]:
        return sorted({key.point.ranks for key in self._by_key})

    def collectives(self) -> list[str]:
        return list(dict.fromkeys(key.point.collective for key in sorted(self._by_key)))
