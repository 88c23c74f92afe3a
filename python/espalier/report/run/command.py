"""The part of `espalier report` that is about a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

from espalier.problem import Problem
from espalier.report.run import arrivals, gantt, limits, page, roofline, source
from espalier.report.run.page import Run
from espalier.terminal import Column, console, print_lines, print_table
from espalier.who.seen import Seen


def is_of_run(file: Path) -> bool:
    return source.is_statistics(file) or source.is_flight(file)


def load(file: Path, flight: Optional[Path], stretch: Optional[str], model: Optional[str]) -> Run:
    """`flight`: flight records to draw beside the statistics of `file`."""
    if source.is_flight(file):
        return _of_flight(source.flight(file), stretch)
    report = source.statistics(file)
    drawn = gantt.chosen(gantt.of_ranks(source.flight(flight)), stretch) if flight else None
    if stretch and drawn is None:
        raise Problem("--stretch chooses calls of flight records; name them: --flight FILE")
    try:
        return _of_statistics(report, drawn, model)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Problem(f"{file}: a part of the statistics is missing or of the wrong kind ({error})") from error


def _of_flight(ranks: list[Seen], stretch: Optional[str]) -> Run:
    first = ranks[0]
    title = f"the last calls of {len(ranks)} of {first.ranks} ranks ({first.host}, {first.build} build)"
    return Run(title, gantt.chosen(gantt.of_ranks(ranks), stretch))


def _of_statistics(report: dict[str, Any], drawn: Optional[gantt.Gantt], model: Optional[str]) -> Run:
    came = arrivals.of_report(report)
    known: dict[str, Any] = {"gantt": drawn, "arrivals": came, "has_statistics": True}
    if not came:
        return Run(page.title_of(report), **known)
    try:
        found = limits.load(model)
    except Problem as problem:
        if model is not None:
            raise
        return Run(page.title_of(report), **known, no_limits=str(problem))
    points, left_out = roofline.of_report(report, found)
    return Run(page.title_of(report), **known, points=points, limits=found, left_out=left_out)


def show(run: Run) -> None:
    print_lines(page.lines(run, console().width))
    if not run.points or run.limits is None:
        return print_lines(["", run.no_limits] if run.no_limits else [])
    print_lines(["", roofline.verdict(run.points)])
    print_table([Column(heading, right=heading in roofline.RIGHT) for heading in roofline.HEADINGS], roofline.rows(run.points))
    print_lines([*roofline.legend(run.limits, run.points), *filter(None, [page.left_out(run)])])
