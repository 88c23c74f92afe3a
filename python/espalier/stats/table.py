"""The table of the statistics: the same as the library prints at MPI_Finalize (src/runtime/statistics/table.cpp)."""

from __future__ import annotations

from typing import Any

from espalier.sizes import print_bytes

RIGHT = ("ranks", "bytes", "calls", "slowest", "mean", "a call", "of run", "waited")
HEADINGS = ("ranks", "collective", *RIGHT[1:], "ran on", "algorithm", "waits", "why not")
LEGEND = (
    "bytes: of a rank, from .. to; slowest, mean: time in these calls, of the rank with most and of all that make them;",
    "of run: the mean's share of the time from MPI_Init to MPI_Finalize; waited: of the mean, for the last rank to come",
    "(ESPALIER_STATS_ARRIVALS=on); why not: why the host served them, or not what a rule asks for",
)
_STEPS = ("spin", "progress", "poke", "yield", "sleep")  # poke: what progress was called in older files


def title(report: dict[str, Any]) -> str:
    run = report.get("run_seconds")
    words = f"what ran ({report['ranks']} ranks, {report['host']}, {report['build']} build"
    level = report.get("reproducible", "run")
    if level != "run":
        words += f", reductions at the level {level}"
    return f"{words}, {time(run)})" if run else f"{words})"


def rows(report: dict[str, Any]) -> list[list[str]]:
    sizes = {entry["id"]: entry["size"] for entry in report["communicators"]}
    return [_cells(row, sizes[row["communicator"]], report.get("run_seconds") or 0) for row in report["rows"]]


def allocated(report: dict[str, Any]) -> str:
    found = report.get("allocated") or {}
    if not found.get("blocks"):
        return ""
    return (
        f"blocks of MPI_Alloc_mem that ranks can map: {found['blocks']}; reads of data where they lie there: {found['reads']}"
    )


def _cells(row: dict[str, Any], ranks: int, run: float) -> list[str]:
    calls, mean = row["calls"], row.get("mean_seconds", row["seconds"])
    slowest = row.get("slowest_seconds")
    return [
        *(str(ranks), row["collective"], sizes(row), str(calls)),
        *("" if slowest is None else time(slowest), time(mean), time(row["seconds"] / calls) if calls else ""),
        *(f"{100 * mean / run:.1f} %" if run else "", _waited(row, mean), row["transport"], row.get("algorithm") or ""),
        *(_waits(row), row.get("fallback") or row.get("passed_over") or ""),
    ]


def _waited(row: dict[str, Any], mean: float) -> str:
    """Empty where it was not counted."""
    waited = row.get("waited_seconds")
    return "" if waited is None or mean <= 0 else f"{100 * waited / mean:.0f} %"


def came_last(report: dict[str, Any]) -> str:
    """The ranks that came last most often, each with the calls in which it did."""
    words = []
    for row in sorted(report["rows"], key=lambda row: -(row.get("waited_seconds") or 0)):
        if row.get("mostly_last") and row.get("waited_seconds"):
            last = row["mostly_last"]
            words.append(f"rank {last['rank']} in {last['calls']:.0f} of {row['calls']} {row['collective']} {sizes(row)}")
    return f"came last most often: {'; '.join(words[:4])}" if words else ""


def sizes(row: dict[str, Any]) -> str:
    """Sizes of a class go up to below the next power of two."""
    low, high = row["bytes_from"], row["bytes_to"]
    return print_bytes(low) if low == high else f"{print_bytes(low)} .. <{print_bytes(high + 1)}"


def kind(row: dict[str, Any]) -> str:
    """The collective, and its sizes where it has any."""
    return f"{row['collective']} {sizes(row)}" if row["bytes_to"] else str(row["collective"])


def time(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds > 0 else "0"


def _waits(row: dict[str, Any]) -> str:
    steps = row.get("wait") or {}
    return " ".join(f"{name} {steps[name]}" for name in _STEPS if steps.get(name))
