"""What `espalier explain --run` says: why a run's calls were not done by aggregation nodes, or around a notified ring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


def print_passed_over(file: Path, collective: str) -> None:
    from espalier import terminal

    try:
        found = list(passed_over(load(file), collective))
    except (KeyError, TypeError) as error:
        raise Problem(f"{file}: a part of the statistics is missing or of the wrong kind ({error})") from error
    print(f"in {file}")
    facts = []
    wanted = " or ".join(WANTED[algorithm] for algorithm in _BY_COLLECTIVE.get(collective, ["sharp"]))
    for algorithm, calls, why in found:
        done = f"{calls} calls by {algorithm}"
        facts.append((collective, f"{done}: no use of {wanted}: {why}" if why else done))
    if not found:
        facts.append((collective, f"nothing that {wanted} might have done"))
    for line in terminal.facts(facts):
        print(f"  {line}")
