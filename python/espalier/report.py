"""`espalier report`: a page of plots and tables from a bench result."""

from __future__ import annotations

from pathlib import Path
from typing import Optional

import typer


def _sections(summaries) -> list[dict]:
    """One for each (ranks, buffers, host, setting, state)."""
    from espalier import bench_hosts, report_plots, report_rows

    groups: dict[tuple, list] = {}
    for s in summaries:
        groups.setdefault((s.key.ranks, s.key.buffers != "written", s.key.host, s.key.variant, s.key.state), []).append(s)
    sections = []
    for number, ((ranks, reused, host, variant, state), group) in enumerate(sorted(groups.items())):
        known = bench_hosts.HOSTS.get(host)
        title = known.title if known else host
        rows = report_rows.ordered([report_rows.of_summary(s) for s in group])
        sections.append(
            {
                "title": f"{title}{' as it comes' if variant == 'default' else ''}, {ranks} ranks, {state}",
                "note": "send buffers reused" if reused else "send buffers written before every call",
                "flag_ns": sum(s.flag_ns for s in group) / len(group),
                "host": title,
                "rows": rows,
                "overall": report_rows.overall(rows),
                "times": report_plots.times(rows, f"t{number}", title),
                "ratios": report_plots.ratios(rows, f"r{number}", title),
            }
        )
    return sections


def page(document: dict) -> str:
    """The page of a bench document."""
    from espalier import bench_machine, bench_stats, bench_verdict, report_page

    summaries = bench_stats.summarise(document)
    return report_page.render(
        "bench.html.j2",
        document=document,
        machine=bench_machine.in_words(document["machine"]),
        goals=bench_verdict.verdict(summaries, document["machine"].get("cores", 0)),
        sections=_sections(summaries),
        commands=sorted({job["command"] for job in document["jobs"] if job.get("pass", 0) == 0}),
        versions=sorted({job["run"]["host_version"] for job in document["jobs"] if job.get("run")}),
        failures=document.get("failures", []),
    )


def report(
    file: Path = typer.Argument(..., help="What `espalier bench --json FILE` wrote."),
    output: Optional[Path] = typer.Option(None, "--output", "-o", help="The page (default: FILE with .html)."),
) -> None:
    """Draw the plots of a bench result as one page that stands alone."""
    from espalier import bench_file

    target = output or file.with_suffix(".html")
    bench_file.write(page(bench_file.load(file)), target)
    print(f"written: {target}")
