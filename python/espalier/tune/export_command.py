"""`espalier tune --export`: the host by its own, tuned and tried."""

from __future__ import annotations

from pathlib import Path

from espalier import terminal
from espalier.bench import hosts
from espalier.measured import host_jobs
from espalier.measured.asked import Asked
from espalier.measured.host_jobs import Job
from espalier.measured.time_left import time_left
from espalier.problem import Problem
from espalier.sizes import print_bytes
from espalier.terminal import Column
from espalier.tune import export, host_alone, place
from espalier.tune.host_alone import ROUNDS, HostAlone

_VERIFY_SHARE = 0.15  # of the budget


def run(host: hosts.Host, asked: Asked, path: Path) -> None:
    points = [point for point in asked.points if host_alone.settings_of(host.kind, point)]
    if not points:
        raise Problem(f"{host.title} has no setting for the algorithms of these collectives")
    alone = HostAlone(host.kind, points, asked.budget * (1 - _VERIFY_SHARE), lambda job: host_jobs.run(host, job))
    _measure(alone, host.title)
    choices = alone.choices()
    made = export.of(host.kind, choices)
    environment = {key: value.replace("FILE", str(path.absolute())) for key, value in made.environment.items()}
    place.write(path, made.text)
    for line in alone.refused:
        print(f"left out: {line}")
    if not host_alone.chosen(choices):
        print(f"{len(points)} calls: nothing is faster than {host.title}'s own choice; {path} says so")
        return
    _verify(host, asked, choices, environment)
    words = " ".join(f"{key}={value}" for key, value in environment.items())
    how = f"source {path}" if host.kind == "impi" else f"export {words}"
    print(f"wrote {path}; {how}")


def _measure(alone: HostAlone, title: str) -> None:
    from rich.progress import BarColumn, Progress, TextColumn

    out = terminal.console(errors=True)
    total = sum(1 for _ in alone.jobs())
    out.print(f"{title} by its own: {len(alone.points)} calls, {total} jobs, at most {time_left(alone.budget)}")
    with Progress(BarColumn(24), TextColumn("{task.completed}/{task.total} jobs"), console=out) as bar:
        task = bar.add_task("", total=total)
        for _ in alone.measure():
            bar.update(task, advance=1)


def _verify(host: hosts.Host, asked: Asked, choices: list[host_alone.Choice], environment: dict[str, str]) -> None:
    """The host as it comes, and with what was written, in jobs that had no part in the choice."""
    changed = [choice.point for choice in host_alone.chosen(choices)]
    parts = host_jobs.cut(changed, 48)
    seconds = max(2.0, asked.budget * _VERIFY_SHARE / (2 * len(parts)))
    rows = []
    for part in parts:
        settings = tuple(sorted(environment.items()))
        kept = host_jobs.run(host, Job(part, "", ROUNDS + 2, seconds, settings))
        own = host_jobs.run(host, Job(part, "", ROUNDS + 2, seconds))
        if kept.why_not:
            raise Problem(f"{host.title} does not run with what was written: {kept.why_not}", code=1)
        mine = [choice for choice in choices if choice.point in part]
        for choice, factor in host_alone.verified(mine, kept, own):
            point = choice.point
            assert choice.setting is not None
            size = print_bytes(point.size) if point.size else "-"
            rows.append([point.collective, size, str(point.ranks), choice.setting.title, f"{factor:.2f}" if factor else "?"])
    columns = [Column("collective"), Column("bytes", True), Column("ranks", True), Column("setting", wraps=True),
               Column("times as fast with it", True)]
    terminal.print_table(columns, rows)
