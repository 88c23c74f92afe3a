"""What changed between two bench documents: like points, like state with like state."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from espalier.bench.results import each, limits
from espalier.bench.results.stats import Key, Spread, Summary, blocks, modes, of_mode, summarise
from espalier.bench.results.table import micros, mode_words, size, timing_words
from espalier.sizes import print_bytes

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
        *(key.host, str(key.ranks), key.place, key.buffers, key.collective, size(change.new)),
        *(key.state, timing_words(key), change.what),
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
    table = Table(title="Changes since the kept run" + mode_words(real[0].new.key.mode), title_justify="left")
    names = "host,ranks,place,buffers,collective,bytes,state,timed,time of,before µs,now µs,change"
    for name in names.split(","):
        right = name in ("ranks", "bytes", "before µs", "now µs")
        table.add_column(name, justify="right" if right else "left", no_wrap=name == "change")
    for change in sorted(real, key=lambda c: c.factor):
        table.add_row(*_row(change))
    console.print(table)


def yardsticks(old: dict, new: dict) -> list[tuple[str, float, float]]:
    """What the machine could do then and now, in microseconds: without it a change of times says little."""
    found = []
    before = {(y.bytes, y.state): y for y in limits.yardsticks(old)}
    for y in limits.yardsticks(new):
        was = before.get((y.bytes, y.state))
        if was and was.pipe and y.pipe:
            found.append((f"C({print_bytes(y.bytes)}) {y.state}", was.pipe.mid, y.pipe.mid))
    switches = limits.switch_rounds(old)
    for (ranks, host), now in limits.switch_rounds(new).items():
        if (ranks, host) in switches:
            found.append((f"S, {ranks} ranks under {host}", switches[ranks, host].mid, now.mid))
    return found


def neighbours(old: dict, new: dict) -> list[tuple[str, float, float]]:
    """The p95 of single calls beside a computing process."""
    before, now = each.beside_neighbour(old), each.beside_neighbour(new)
    names = {"host": "host", "espalier": "Espalier"}
    return [
        (f"{words}: {host}, {names[side]}", before[words, host, side]["p95"], entry["p95"])
        for (words, host, side), entry in now.items()
        if (words, host, side) in before
    ]


def _print_pairs(title: str, found: list[tuple[str, float, float]], console: Console) -> None:
    if not found:
        return
    table = Table(title=title, title_justify="left")
    for name in ("", "before µs", "now µs", "now / before"):
        table.add_column(name, justify="right" if name else "left")
    for name, before, now in found:
        table.add_row(name, micros(before), micros(now), f"{now / before:.2f}")
    console.print(table)


def print_all(old: dict, new: dict, console: Console) -> None:
    for mode in modes(new):
        _print_mode(of_mode(old, mode), of_mode(new, mode), console)


def _print_mode(old: dict, new: dict, console: Console) -> None:
    print_changes(changes(summarise(old) + blocks(old), summarise(new) + blocks(new)), console)
    _print_pairs("The machine then and now", yardsticks(old, new), console)
    _print_pairs("p95 beside a computing process, then and now", neighbours(old, new), console)
