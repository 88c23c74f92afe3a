"""A run as a page that stands alone, and as lines of a terminal: who waited for whom when, and what calls cost beside the
machine's limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

from espalier.report.run import arrivals, gantt_words, plots, roofline
from espalier.report.run.arrivals import Arrivals
from espalier.report.run.gantt import Gantt
from espalier.report.run.limits import Limits
from espalier.stats import table

NOT_COUNTED = (
    "Waiting was not counted; run with --stats=FILE --arrivals, for when ranks came and how near to its limits the machine was."
)


@dataclass(frozen=True)
class Run:
    """What is known of it. `no_limits`: why there are none."""

    title: str
    gantt: Optional[Gantt] = None
    arrivals: list[Arrivals] = field(default_factory=list)
    points: list[roofline.Point] = field(default_factory=list)
    limits: Optional[Limits] = None
    no_limits: str = ""
    left_out: int = 0  # kinds of calls that are not beside the limits
    has_statistics: bool = False


def title_of(report: dict[str, Any]) -> str:
    return table.title(report)


def verdict(run: Run) -> str:
    """The first that there is, of what is drawn below."""
    words = [arrivals.verdict(run.arrivals), gantt_words.verdict(run.gantt) if run.gantt else ""]
    return next(filter(None, words), NOT_COUNTED)


def left_out(run: Run) -> str:
    if not run.left_out:
        return ""
    return f"Left out: {run.left_out} kinds of calls whose waiting was not counted, such as those of the host and over nodes."


def page(run: Run) -> str:
    from espalier.report import page as report_page

    gantt = run.gantt
    return report_page.render(
        "run.html.j2",
        title=run.title,
        verdict=verdict(run),
        gantt=plots.gantt(gantt, "gantt") if gantt else "",
        gantt_verdict=gantt_words.verdict(gantt) if gantt else "",
        gantt_notes=_gantt_notes(gantt) if gantt else [],
        arrivals=plots.arrivals(run.arrivals, "arrivals"),
        arrivals_verdict=arrivals.verdict(run.arrivals),
        arrivals_headings=("collective", "ranks", "calls", "half below", "90\u00a0% below", "came last"),
        arrivals_right=(False, True, True, True, True, False),
        arrivals_rows=[(_cells(each), "") for each in run.arrivals],
        not_counted=NOT_COUNTED if run.has_statistics and not run.arrivals else "",
        roofline=plots.roofline(run.points, "roofline"),
        roofline_verdict=roofline.verdict(run.points),
        roofline_headings=roofline.HEADINGS,
        roofline_right=[heading in roofline.RIGHT for heading in roofline.HEADINGS],
        roofline_rows=[(cells, point.mood) for cells, point in zip(roofline.rows(run.points), run.points)],
        roofline_legend=[*(roofline.legend(run.limits, run.points) if run.limits else []), left_out(run)],
        no_limits=run.no_limits,
    )


def _cells(each: Arrivals) -> list[str]:
    return [
        *(each.name, str(each.ranks), str(each.calls), table.time(each.at_most(0.5)), table.time(each.at_most(0.9))),
        f"rank {arrivals.last_words(each)}" if each.last else "",
    ]


def _gantt_notes(gantt: Gantt) -> list[str]:
    notes = list(gantt.notes)
    if gantt.without_times:
        notes.append(f"{gantt.without_times} calls have no times and are not drawn; run with --flight, which times each call.")
    left = gantt_words.shown(gantt)[1]
    if left:
        notes.append(f"{left} more ranks are not drawn.")
    return notes


def lines(run: Run, columns: int) -> list[str]:
    text = [run.title]
    if run.gantt:
        text += ["", gantt_words.verdict(run.gantt), *gantt_words.lines(run.gantt, columns), *_gantt_notes(run.gantt)]
    if run.arrivals:
        text += ["", arrivals.verdict(run.arrivals), *arrivals.lines(run.arrivals)]
    elif run.has_statistics:
        text += ["", NOT_COUNTED]
    return text
