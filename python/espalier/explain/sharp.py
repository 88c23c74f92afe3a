"""What `espalier explain --run` says: why a run's calls were not done by aggregation nodes, or around a notified ring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from espalier import terminal
from espalier.explain.explained import Explained
from espalier.problem import Problem
from espalier.stats.command import load

# What a rule may want that a job may not have, by who did it.
WANTED = {"sharp": "aggregation nodes", "notified-ring": "a notified ring"}
_BY_COLLECTIVE = {"allgather": ["notified-ring"], "allgatherv": ["notified-ring"], "allreduce": ["sharp", "notified-ring"]}


def passed_over(report: dict[str, Any], collective: str) -> Iterator[tuple[str, int, str]]:
    """Algorithm and calls of what aggregation nodes, or a notified ring, did of a collective ("": they did), and of what they
    did not, with the reason."""
    calls: dict[tuple[str, str], int] = {}
    for row in report["rows"]:
        if row["collective"] != collective:
            continue
        why = "" if row["algorithm"] in WANTED else row.get("passed_over")
        if why is not None:
            calls[row["algorithm"], why] = calls.get((row["algorithm"], why), 0) + row["calls"]
    for (algorithm, why), number in calls.items():
        yield algorithm, number, why


def with_run(found: Explained, file: Path) -> Explained:
    """The answer, and what was passed over in a run of which `file` has the statistics."""
    collective = found.request["collective"]
    try:
        calls = list(passed_over(load(file), collective))
    except (KeyError, TypeError) as error:
        raise Problem(f"{file}: a part of the statistics is missing or of the wrong kind ({error})") from error
    rows = [{"algorithm": algorithm, "calls": number, "why": why or None} for algorithm, number, why in calls]

    def show(request: dict[str, Any], answer: dict[str, Any]) -> None:
        found.show(request, answer)
        print(f"in {file}")
        terminal.print_facts(_facts(collective, calls))

    return Explained(found.request, {**found.answer, "run": {"file": str(file), "rows": rows}}, show)


def _facts(collective: str, calls: list[tuple[str, int, str]]) -> Iterator[tuple[str, str]]:
    wanted = " or ".join(WANTED[algorithm] for algorithm in _BY_COLLECTIVE.get(collective, ["sharp"]))
    for algorithm, number, why in calls:
        done = f"{number} calls by {algorithm}"
        yield collective, f"{done}: no use of {wanted}: {why}" if why else done
    if not calls:
        yield collective, f"nothing that {wanted} might have done"
