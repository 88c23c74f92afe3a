"""Which calls of a job Espalier has served, and which not and why: from the statistics of its run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from espalier.doctor.check import Check
from espalier.problem import Problem
from espalier.stats import table
from espalier.stats.command import load

_NONE = "no statistics came back: it ended without MPI_Finalize, calls no collective, or rank 0 is on another machine"


def checks(statistics: Path) -> Iterator[Check]:
    try:
        report = load(statistics)
    except Problem:
        yield Check("calls", None, _NONE, "espalier run --stats=FILE -- ..., with a FILE that rank 0 can write")
        return
    if not report["rows"]:
        yield Check("calls", True, "no collective that Espalier knows was called")
    for row in report["rows"]:
        yield _of_row(row, report)


def _of_row(row: dict[str, Any], report: dict[str, Any]) -> Check:
    ranks = next(entry["size"] for entry in report["communicators"] if entry["id"] == row["communicator"])
    what = f"{row['collective']} of {table.sizes(row)}" if row["collective"] != "barrier" else "barrier"
    calls = f"{row['calls']} call{'s' if row['calls'] != 1 else ''} of {what}, {ranks} ranks"
    if row["fallback"]:
        return Check("by the host", None, f"{calls}: {row['fallback']}", "docs/troubleshooting.md has what to do for each reason")
    passed = f"; not as a rule asks: {row['passed_over']}" if row.get("passed_over") else ""
    return Check("served", True, f"{calls}: {row['algorithm']} through {row['transport']}{passed}")
