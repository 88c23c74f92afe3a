"""Measures set-up by all hosts, writes the file and shows it."""

from __future__ import annotations

import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from espalier import __version__
from espalier.bench.setup.jobs import PARTS, Settings
from espalier.problem import Problem

if TYPE_CHECKING:
    from rich.console import Console

SCHEMA = "espalier-setup/1"
START_RANKS = (2, 16, 64, 200)
CHURN, QUICK_CHURN = 10_000, 1_000


def parts(text: str) -> tuple[str, ...]:
    found = tuple(part.strip() for part in text.split(",") if part.strip())
    for part in found:
        if part not in PARTS:
            raise Problem(f"--parts {part}: choose from {', '.join(PARTS)}")
    return found


def settings(given: SimpleNamespace) -> Settings:
    """Of the options of `espalier bench`."""
    from espalier.bench import options

    quick = given.quick
    ranks = options.numbers(given.ranks or ("2,4" if quick else "2,4,8,16"), "numbers of ranks", 1, 256)
    return Settings(
        ranks=ranks,
        start_ranks=ranks if given.ranks or quick else START_RANKS,
        rounds=given.rounds or (2 if quick else 3),
        passes=given.passes or (1 if quick else 3),
        seconds=given.seconds or (3 if quick else 8),
        communicators=options.numbers(given.communicators or ("100" if quick else "1000"), "communicators", 1, 1_000_000)[0],
        churn=QUICK_CHURN if quick else CHURN,
        parts=parts(given.parts),
        hosts=tuple(options.chosen_hosts(given)),  # last, as in options.settings()
    )


def measure(settings: Settings, console: Console) -> dict:
    from espalier.bench import machine
    from espalier.bench.setup import jobs, points

    jobs.check_ready(settings)
    described = machine.describe()  # before: the load must not be our own
    done: list[dict] = []
    failures: list[dict] = []
    todo = list(jobs.plan(settings))
    for number, job in enumerate(todo):
        console.print(f"  {number + 1}/{len(todo)} {job.title}", highlight=False)
        entry, failure = jobs.run(job, settings)
        done += [entry] if entry else []
        failures += [failure] if failure else []
    document = {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "espalier": __version__,
        "machine": described,
        "settings": {"rounds": settings.rounds, "passes": settings.passes, "seconds": settings.seconds,
                     "communicators": settings.communicators, "churn": settings.churn},
        "failures": failures,
    }  # fmt: skip
    return document | points.all_points(done)


def show(document: dict, console: Console) -> None:
    from espalier.bench import machine
    from espalier.bench.results import table as results
    from espalier.bench.setup import table

    console.print(f"{machine.in_words(document['machine'])}; {document['date']}", highlight=False)
    table.print_all(document, console)
    if machine.busy_note(document["machine"]):
        console.print(f"note: {machine.busy_note(document['machine'])}", highlight=False)
    results.print_failures(document["failures"], console)


def run(settings: Settings, target: Path, console: Console) -> dict:
    from espalier.bench import file

    document = measure(settings, console)
    file.save(document, target)
    show(document, console)
    return document
