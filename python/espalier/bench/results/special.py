"""Tables of what is not a point: the limits of the machine, a neighbour, sessions, what was left out."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

from espalier.bench.hosts import HOSTS
from espalier.bench.results import each, limits, stats
from espalier.bench.results.table import micros, mode_words, spread_words
from espalier.sizes import print_bytes


def title_of(host: str) -> str:
    return HOSTS[host].title if host in HOSTS else host


def yardstick_rows(document: dict) -> list[list[str]]:
    """bytes, state, M, C, the quickest cut."""
    return [
        [print_bytes(y.bytes), y.state, spread_words(y.memcpy), spread_words(y.pipe) if y.pipe else "", y.cut]
        for y in limits.yardsticks(document)
    ]


def switch_rows(document: dict) -> list[list[str]]:
    cores = document["machine"].get("cores", 1)
    return [
        [str(ranks), str(-(-ranks // cores)), title_of(host), spread_words(spread)]
        for (ranks, host), spread in limits.switch_rounds(document).items()
    ]


def distance_rows(document: dict) -> list[list[str]]:
    """what, ranks, host, state, Espalier, limit, how often the bound."""
    return [
        [
            *(d.what, str(d.ranks), title_of(d.host), d.state, micros(d.espalier_us), f"{d.limit_us:.3g}"),
            f"{d.times.mid:.2f} ({d.times.low:.2f}–{d.times.high:.2f})",
        ]
        for d in limits.distances(document)
    ]


def neighbour_rows(document: dict) -> list[list[str]]:
    sides = {"host": "", "espalier": ", Espalier"}
    return [
        [words, title_of(host) + sides[side], str(e["calls"]), *(micros(e[name]) for name in ("median", "p95", "p99", "most"))]
        for (words, host, side), e in each.beside_neighbour(document).items()
    ]


def session_rows(document: dict) -> list[list[str]]:
    """One line for each (host, ranks) and what was found there."""
    found: Counter = Counter()
    for job in document["jobs"]:
        run = job.get("run") or {}
        if "shared_session" in run:
            kind = "one for all" if run["shared_session"] else "one for each" if run["own_sessions"] else "several"
            found[title_of(job["host"]), kind, "yes" if run["autogroup"] else "no"] += 1
    return [[host, kind, autogroup, str(jobs)] for (host, kind, autogroup), jobs in sorted(found.items())]


def left_out(document: dict) -> list[str]:
    """Points that no job measured, because their buffers need more memory than allowed."""
    found = set()
    for job in document["jobs"]:
        for p in (job.get("run") or {}).get("left_out", []):
            found.add((job["ranks"], p["collective"], p["bytes"]))
    return [f"{ranks} ranks {collective} {print_bytes(size)}" for ranks, collective, size in sorted(found)]


def wrong_hosts(document: dict) -> list[str]:
    """Whose own persistent calls of what are not measured."""
    found: dict[str, set[str]] = {}
    for job in document["jobs"]:
        if job.get("host_wrong"):
            found.setdefault(f"{title_of(job['host'])}, {job['ranks']} ranks", set()).update(job["host_wrong"])
    return [f"{where}: {' '.join(sorted(names))}" for where, names in found.items()]


def quota_words(document: dict) -> str:
    about = document.get("quota") or {}
    if about.get("made"):
        return f"CPU quota of one core: {about['how']}"
    return f"no CPU quota: {about.get('why', 'not asked for')}"


YARDSTICKS = ("bytes", "state", "M: memcpy, µs (quartiles)", "C: in and out, µs (quartiles)", "quickest cut")
SWITCHES = ("ranks", "k: ranks a core", "under", "S(k), µs (quartiles)")
DISTANCES = ("what", "ranks", "under", "state", "Espalier µs", "limit µs", "times the bound of the goal (quartiles)")
NEIGHBOUR = ("", "8 B allreduce", "calls", "median µs", "p95 µs", "p99 µs", "most µs")
SESSIONS = ("host", "sessions of the ranks", "autogroups", "jobs")


def tables(document: dict) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """(title, columns, rows) of those that have rows; the document is of one mode."""
    calls = mode_words(stats.modes(document)[0])
    found = [
        ("What the machine can", YARDSTICKS, yardstick_rows(document)),
        ("One round in which every rank of a core is switched to once", SWITCHES, switch_rows(document)),
        (f"Distance to the limits{calls}", DISTANCES, distance_rows(document)),
        (f"Beside a computing process on one of the two cores{calls}", NEIGHBOUR, neighbour_rows(document)),
        ("Sessions", SESSIONS, session_rows(document)),
    ]
    return [entry for entry in found if entry[2]]


def print_all(document: dict, console: Console) -> None:
    for title, columns, rows in tables(document):
        table = Table(title=title, title_justify="left")
        for name in columns:
            table.add_column(name, justify="right" if "µs" in name or name in ("ranks", "bytes", "calls") else "left")
        for row in rows:
            table.add_row(*row)
        console.print(table)
    console.print(quota_words(document), highlight=False)
    missing = left_out(document)
    if missing:
        console.print(f"left out, their buffers need more than --memory allows: {', '.join(missing)}", highlight=False)
    if wrong_hosts(document):
        console.print(f"left out, persistent calls that the host gets wrong: {'; '.join(wrong_hosts(document))}", highlight=False)
