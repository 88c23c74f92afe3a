"""`espalier run --top`: what a job's collectives do while it runs, once a second, from the counters that its ranks have in
files that they map (stats/parts.py)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from espalier.problem import Problem
from espalier.stats import parts, table
from espalier.terminal import Column, console

INTERVAL = 1.0
_MOST = 20  # lines
_COLUMNS = (
    *(Column("collective"), Column("bytes", right=True), Column("ranks", right=True), Column("calls/s", right=True)),
    *(Column("a call", right=True), Column("of time", right=True), Column("waiting", right=True)),
    *(Column("last to come"), Column("ran on")),
)

Key = tuple[int, str, int, str, str]  # ranks, collective, class of sizes, algorithm, transport


@dataclass
class Sum:
    """Of one kind of call: totals over the ranks of this machine."""

    calls: float = 0.0  # collective calls: each counts once
    seconds: dict[int, float] = field(default_factory=dict)  # by rank
    waited: float = 0.0
    last: dict[int, int] = field(default_factory=dict)


Sums = dict[Key, Sum]


def watch(words: list[str], environment: dict[str, str], file: Path) -> int:
    """Runs the command, whose ranks count in `file`; its exit code."""
    sys.stdout.flush()
    try:
        job = subprocess.Popen(words, env=environment)
    except OSError as error:
        raise Problem(f"'{words[0]}' cannot be started ({error.strerror})", 126) from error
    _show(job, file)
    return job.returncode if job.returncode >= 0 else 128 - job.returncode


@contextmanager
def counting(environment: dict[str, str]) -> Iterator[tuple[dict[str, str], Path]]:
    """With what ranks count by; in the file that the user asked for, or in one of a folder that goes afterwards."""
    asked = environment.get("ESPALIER_STATS", "")
    arrivals = {"ESPALIER_STATS_ARRIVALS": "on", **environment}
    if asked and asked.lower() not in ("1", "on", "yes", "true"):
        yield arrivals, Path(asked)
        return
    with tempfile.TemporaryDirectory(prefix="espalier-top-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / "run.json"
        yield {**arrivals, "ESPALIER_STATS": str(file)}, file


def _show(job: subprocess.Popen, file: Path) -> None:
    out = console(errors=True)
    before: Sums = {}
    at = time.monotonic()
    while _goes_on(job, INTERVAL):
        now = time.monotonic()
        sums = sums_of(file)
        if sums:
            if out.is_terminal:
                out.clear()
            for line in lines(before, sums, now - at):
                out.print(line, markup=False)
        before, at = sums, now


def _goes_on(job: subprocess.Popen, seconds: float) -> bool:
    while True:
        try:
            job.wait(seconds)
            return False
        except subprocess.TimeoutExpired:
            return True
        except KeyboardInterrupt:
            continue  # the job has it, too, and says when it ends


def sums_of(file: Path) -> Sums:
    """Nothing while no rank has come so far."""
    try:
        found = parts.parts_of(file)
    except (OSError, Problem):
        return {}
    sums: Sums = {}
    for part in found:
        for row in part.rows:
            key = (row["size"], row["collective"], row["size_class"], row["algorithm"], row["transport"])
            total = sums.setdefault(key, Sum())
            total.calls += row["calls"] / max(1.0, row["size"] * len(found) / part.ranks)
            total.seconds[part.rank] = total.seconds.get(part.rank, 0.0) + row["seconds"]
            total.waited += row["waited"]
            total.last[part.rank] = total.last.get(part.rank, 0) + row["came_last"]
    return sums


def lines(before: Sums, after: Sums, seconds: float) -> list[str]:
    """As a table, the kinds of calls of most time first."""
    rows = [(key, _since(before.get(key), total)) for key, total in after.items()]
    rows = [(key, new) for key, new in rows if new.calls > 0 or any(spent > 0 for spent in new.seconds.values())]
    rows.sort(key=lambda item: -sum(item[1].seconds.values()))
    calls = sum(new.calls for _, new in rows)
    head = f"espalier: {calls / seconds:,.0f} collective calls per second"
    cells = [[column.heading for column in _COLUMNS], *(_cells(key, new, seconds) for key, new in rows[:_MOST])]
    widths = [max(len(row[at]) for row in cells) for at in range(len(_COLUMNS))]
    aligned = [
        "  ".join(text.rjust(width) if column.right else text.ljust(width) for text, width, column in zip(row, widths, _COLUMNS))
        for row in cells
    ]
    return [head, *(line.rstrip() for line in aligned)] if rows else [f"{head}; no rank has left one since the last look"]


def _since(before: Optional[Sum], after: Sum) -> Sum:
    old = before or Sum()
    return Sum(
        after.calls - old.calls,
        {rank: spent - old.seconds.get(rank, 0.0) for rank, spent in after.seconds.items()},
        after.waited - old.waited,
        {rank: count - old.last.get(rank, 0) for rank, count in after.last.items()},
    )


def _cells(key: Key, new: Sum, seconds: float) -> list[str]:
    size, collective, size_class, _, transport = key
    first = 0 if size_class == 0 else 1 << (size_class - 1)
    spent = sum(new.seconds.values()) / max(1, len(new.seconds))
    latest = max(new.last, key=lambda rank: new.last[rank], default=None)
    came = f"rank {latest} ({new.last[latest]:,} times)" if latest is not None and new.last[latest] > 0 else ""
    total = sum(new.seconds.values())
    return [
        *(collective, table.sizes({"bytes_from": first, "bytes_to": first * 2 - 1 if first else 0}), str(size)),
        *(f"{new.calls / seconds:,.0f}", table.time(spent / new.calls) if new.calls >= 1 else ""),
        *(f"{100 * spent / seconds:.1f} %", f"{100 * new.waited / total:.0f} %" if new.waited > 0 and total > 0 else ""),
        *(came, transport),
    ]
