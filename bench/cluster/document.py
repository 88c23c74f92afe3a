"""The file of a run: JSON of one schema, described in bench/cluster/README.md."""

from __future__ import annotations

import datetime
from pathlib import Path

from espalier import __version__
from espalier.bench import file, machine as bench_machine
from espalier.problem import Problem

from cluster import model, summary
from cluster.settings import Settings

SCHEMA = "espalier-cluster-bench/1"


def make(settings: Settings, machine: dict, group: str, jobs: list[dict], failures: list[dict]) -> dict:
    """`group`: "" or why there was no CPU control group."""
    document = {
        "schema": SCHEMA,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "espalier": __version__,
        "machine": machine,
        "settings": settings.described(),
        "no_control_group": group,
        "failures": failures,
        "messages": model.of_jobs(jobs),
        "jobs": jobs,
    }
    return document | {"points": [summary.described(point) for point in summary.points(document)]}


def load(path: Path) -> dict:
    document = file.read_json(path)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Problem(f"{path} is no result of bench-cluster (schema {SCHEMA}); `make bench-cluster` writes one")
    return document


def save(document: dict, path: Path) -> None:
    file.save(document, path)


def heading(document: dict) -> str:
    settings = document["settings"]
    rate = f"{settings['rate_mbit']:g} Mbit/s a wire" if settings["rate_mbit"] else "no limit of rate"
    machine = bench_machine.in_words(document["machine"])
    return f"{machine}; {document['date']}; {settings['delay_us']:g} µs delay one way, {rate}"
