"""`espalier tune --export`: the host by its own, tuned and tried."""

from __future__ import annotations

from pathlib import Path
from typing import Optional, Union

from espalier import terminal
from espalier.bench import build, hosts
from espalier.measured import host_jobs
from espalier.measured.asked import Asked
from espalier.measured.host_jobs import Job
from espalier.measured.point import Point
from espalier.measured.time_left import time_left
from espalier.problem import Problem
from espalier.sizes import print_bytes
from espalier.terminal import Column
from espalier.tune import export_target, host_alone, place
from espalier.tune.export_target import OfHost, OfUcc
from espalier.tune.host_alone import Choice, HostAlone

Target = Union[OfHost, OfUcc]

_VERIFY_SHARE = 0.15  # of the budget
_VERIFY_ROUNDS = 10
_POINTS_OF_A_JOB = 48


def run(host: hosts.Host, asked: Asked, path: Path, by_ucc: bool) -> None:
    target = export_target.of(host, by_ucc)
    asked_for = [point for point in asked.points if target.settings(point)]
    if not asked_for:
        raise Problem(f"{target.title} has no choice of algorithms for these collectives")
    build.trials(host)
    points = target.usable(asked_for)
    alone = HostAlone(host.kind, points, asked.budget * (1 - _VERIFY_SHARE), target.run, settings=target.settings)
    _measure(alone, target.title)
    choices = alone.choices()
    for line in alone.refused:
        print(f"left out: {line}")
    kept = _verified(target, asked, choices, path) if host_alone.chosen(choices) else choices
    environment = _write(target, kept, path)
    if not host_alone.chosen(kept):
        print(f"{len(points)} calls: nothing is faster than {target.title}'s own choice; {path} says so")
        return
    words = " ".join(f"{key}={value}" for key, value in environment.items())
    how = f"source {path}" if target.is_for_shells else f"export {words}"
    print(f"wrote {path}; {how}")


def _write(target: Target, choices: list[Choice], path: Path) -> dict[str, str]:
    """The settings by which the host reads it."""
    made = target.made(choices)
    place.write(path, made.text)
    return {key: value.replace("FILE", str(path.absolute())) for key, value in made.environment.items()}


def _measure(alone: HostAlone, title: str) -> None:
    from rich.progress import BarColumn, Progress, TextColumn

    out = terminal.console(errors=True)
    total = sum(1 for _ in alone.jobs())
    out.print(f"{title} by its own: {len(alone.points)} calls, {total} jobs, at most {time_left(alone.budget)}")
    with Progress(BarColumn(24), TextColumn("{task.completed}/{task.total} jobs"), console=out) as bar:
        task = bar.add_task("", total=total)
        for _ in alone.measure():
            bar.update(task, advance=1)


def _verified(target: Target, asked: Asked, choices: list[Choice], path: Path) -> list[Choice]:
    """The host as it comes, and with what was written, in jobs that had no part in the choice. What is no faster there goes back
    to the host's own choice."""
    choices = target.taken(choices, _write(target, choices, path))
    environment = _write(target, choices, path)
    parts = host_jobs.cut([choice.point for choice in host_alone.chosen(choices)], _POINTS_OF_A_JOB)
    seconds = max(2.0, asked.budget * _VERIFY_SHARE / (2 * max(1, len(parts))))
    factors: dict[Point, Optional[float]] = {}
    for part in parts:
        kept = target.run(Job(part, "", _VERIFY_ROUNDS, seconds, tuple(sorted(environment.items()))))
        own = target.run(Job(part, "", _VERIFY_ROUNDS, seconds))
        if kept.why_not:
            raise Problem(f"{target.title} does not run with what was written: {kept.why_not}", code=1)
        mine = [choice for choice in choices if choice.point in part]
        factors |= {choice.point: factor for choice, factor in host_alone.verified(mine, kept, own)}
    _show(host_alone.chosen(choices), factors)
    return [host_alone.confirmed(choice, factors.get(choice.point)) for choice in choices]


def _show(choices: list[Choice], factors: dict[Point, Optional[float]]) -> None:
    rows = []
    for choice in choices:
        point, factor = choice.point, factors.get(choice.point)
        assert choice.setting is not None
        size = print_bytes(point.size) if point.size else "-"
        is_kept = host_alone.confirmed(choice, factor).setting is not None
        rows.append([point.collective, size, str(point.ranks), choice.setting.title, f"{factor:.2f}" if factor else "?",
                     "yes" if is_kept else "no"])
    columns = [Column("collective"), Column("bytes", True), Column("ranks", True), Column("setting", wraps=True),
               Column("times as fast with it", True), Column("kept")]
    terminal.print_table(columns, rows)
