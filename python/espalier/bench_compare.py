"""What changed between two bench documents: like points, like state with like state."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from espalier.bench_stats import Key, Spread, Summary
from espalier.bench_table import micros, size

NOISE = 1.1
# Flag exchanges that differ by more than this are not the same machine, whatever both runs called the state.
SAME_MACHINE = 1.5


@dataclass(frozen=True)
class Change:
    old: Summary
    new: Summary
    what: str  # "Espalier", or "host" where only the host was measured
    before: Spread
    after: Spread

    @property
    def factor(self) -> float:
        """Above 1: faster than before."""
        return self.before.mid / self.after.mid

    @property
    def real(self) -> bool:
        """More than noise: beyond a tenth, and the middle halves of the rounds do not overlap."""
        apart = self.before.low > self.after.high or self.after.low > self.before.high
        return apart and not 1 / NOISE < self.factor < NOISE

    @property
    def comparable(self) -> bool:
        low, high = sorted((self.old.flag_ns, self.new.flag_ns))
        return low <= 0 or high <= SAME_MACHINE * low


def _change(old: Summary, new: Summary) -> Change:
    if old.espalier and new.espalier:
        return Change(old, new, "Espalier", old.espalier, new.espalier)
    return Change(old, new, "host", old.host, new.host)


def changes(old: list[Summary], new: list[Summary]) -> list[Change]:
    before: dict[Key, Summary] = {s.key: s for s in old}
    return [_change(before[s.key], s) for s in new if s.key in before]


def _row(change: Change) -> list[str]:
    key = change.new.key
    colour = "green" if change.factor > 1 else "red"
    word = "faster" if change.factor > 1 else "slower"
    factor = max(change.factor, 1 / change.factor)
    return [
        *(key.host, str(key.ranks), key.buffers, key.collective, size(change.new), key.state, change.what),
        *(micros(change.before.mid), micros(change.after.mid), f"[{colour}]{factor:.2f} x {word}[/]"),
    ]


def print_changes(found: list[Change], console: Console) -> None:
    like = [change for change in found if change.comparable]
    real = [change for change in like if change.real]
    strange = len(found) - len(like)
    console.print(f"{len(like)} points in both runs in the same state, {len(real)} changed beyond noise.")
    if strange:
        console.print(f"{strange} points left out: their flag exchanges differ too much for one machine.")
    if not real:
        return
    table = Table(title="Changes since the kept run", title_justify="left")
    for name in ("host", "ranks", "buffers", "collective", "bytes", "state", "time of", "before µs", "now µs", "change"):
        table.add_column(name, justify="right" if name in ("ranks", "bytes", "before µs", "now µs") else "left")
    for change in sorted(real, key=lambda c: c.factor):
        table.add_row(*_row(change))
    console.print(table)
