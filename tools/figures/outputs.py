"""What the commands of a page print: tables of `espalier simulate`, and of `espalier explain --published`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

HEAD = re.compile(r"^(\w+), us until the last rank is through, simulated: (.*)$")


@dataclass(frozen=True)
class Time:
    collective: str
    machine: str  # the model's own words
    bytes: str  # as printed: 8B, 4KiB; "-" of a barrier
    nodes: int
    ranks: int  # on each node
    variant: str
    us: float


def cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


def simulated(output: str) -> list[Time]:
    """Every time that `espalier simulate` printed; its own ratio at the end of a line is left out."""
    found: list[Time] = []
    head: re.Match[str] | None = None
    names: list[str] = []
    for line in output.splitlines():
        if match := HEAD.match(line):
            head, names = match, []
        elif head and not names:
            names = cells(line)
            if names[:3] != ["bytes", "nodes", "ranks/node"]:
                raise ValueError(f"no head of a table: {line!r}")
        elif head and len(row := cells(line)) == len(names):
            variants = [name for name in names[3:] if name != "first/last"]
            found += [Time(head[1], head[2], row[0], int(row[1]), int(row[2]), name, float(text))
                      for name, text in zip(variants, row[3:])]
    return found


@dataclass(frozen=True)
class Times:
    """The times of a block's commands, asked for by what they are of."""

    output: str

    def of(self, **wanted: Any) -> list[float]:
        rows = simulated(self.output)
        hits = [row for row in rows if all(value in row.machine if key == "machine" else value == getattr(row, key)
                                           for key, value in wanted.items())]
        if not hits:
            raise ValueError(f"the commands print no time of {wanted}")
        return [row.us for row in hits]

    def us(self, **wanted: Any) -> float:
        """The one time that this is true of."""
        found = self.of(**wanted)
        if len(set(found)) > 1:
            raise ValueError(f"the commands print {len(found)} times of {wanted}")
        return found[0]

    def ratio(self, above: str, below: str, **wanted: Any) -> float:
        return self.us(variant=above, **wanted) / self.us(variant=below, **wanted)
