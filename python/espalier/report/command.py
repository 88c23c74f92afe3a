"""`espalier report`: a page of plots and tables from a bench result, or from what a run has left."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Optional

import typer

from espalier import text_file
from espalier.interface import outputs
from espalier.interface.help import examples
from espalier.problem import Problem

if TYPE_CHECKING:
    from espalier.bench.results.stats import Summary
    from espalier.report.run.page import Run


def _host_part(group: list, name: str) -> dict:
    """What one host and Espalier under it did in a section."""
    from espalier.bench.results import special
    from espalier.report import plots, rows as report_rows

    key = group[0].key
    title = special.title_of(key.host) + (" as it comes" if key.variant == "default" else "")
    rows = report_rows.ordered([report_rows.of_summary(s) for s in group])
    return {
        "host": title,
        "flag_ns": sum(s.flag_ns for s in group) / len(group),
        "rows": rows,
        "overall": report_rows.overall(rows),
        "ratios": plots.ratios(rows, name, title),
    }


_BUFFERS = {
    "written": "send buffers written before every call",
    "reused": "send buffers reused",
    "allocated": "all buffers from MPI_Alloc_mem, written before every call",
}


def _section(number: int, summaries: list) -> dict:
    from espalier.bench.results import table as bench_table
    from espalier.report import plots

    key = summaries[0].key
    hosts: dict[tuple, list] = {}
    for s in summaries:
        hosts.setdefault((s.key.variant, s.key.host), []).append(s)
    parts = [_host_part(group, f"r{number}-{at}") for at, (_, group) in enumerate(sorted(hosts.items()))]
    return {
        "title": f"{key.ranks} ranks{bench_table.place_words(key.place)}{bench_table.mode_words(key.mode)}, {key.state}",
        "note": _BUFFERS[key.buffers],
        "times": plots.times_of_hosts({part["host"]: part["rows"] for part in parts}, f"t{number}"),
        "parts": parts,
    }


def _sections(summaries: list[Summary]) -> list[dict]:
    """One for each (ranks, place, mode, buffers, state)."""
    groups: dict[tuple, list] = {}
    for s in summaries:
        groups.setdefault((s.key.ranks, s.key.place, s.key.mode, s.key.buffers != "written", s.key.state), []).append(s)
    return [_section(number, group) for number, (_, group) in enumerate(sorted(groups.items()))]


def page(document: dict) -> str:
    """The page of a bench document."""
    from espalier.bench import collectives, machine
    from espalier.bench.results import special, stats, table as bench_table, verdict
    from espalier.report import page as report_page, rows as report_rows, verdict as report_verdict

    summaries = stats.summarise(document)
    groups = [(special.title_of(s.key.host), [report_rows.of_summary(s)]) for s in summaries if s.key.variant != "default"]
    parts = {mode: stats.of_mode(document, mode) for mode in stats.modes(document)}
    return report_page.render(
        "bench.html.j2",
        document=document,
        machine=machine.in_words(document["machine"]),
        verdict=report_verdict.of_rows(groups),
        goals=[(bench_table.mode_words(mode), verdict.verdict(part)) for mode, part in parts.items()],
        means_of_bytes=collectives.BYTES,
        tables=[table for part in parts.values() for table in special.tables(part)],
        quota=special.quota_words(document),
        left_out=special.left_out(document),
        wrong_hosts=special.wrong_hosts(document),
        sections=_sections(summaries),
        commands=sorted({job["command"] for job in document["jobs"] if job.get("pass", 0) == 0}),
        versions=sorted({job["run"]["host_version"] for job in document["jobs"] if job.get("run")}),
        failures=document.get("failures", []),
    )


def report(
    file: Path = typer.Argument(
        ..., help="A result of `espalier bench --json`; of a run its statistics (--stats=FILE) or flight records (--flight=FILE)."
    ),
    output: Optional[Path] = typer.Option(None, "--output", "-o", help="The page (default: FILE with .html)."),
    points: Optional[Path] = typer.Option(
        None, "--points", help="Of a bench: write no page, but the points alone: a file to keep, a tenth as long."
    ),
    flight: Optional[Path] = typer.Option(
        None, "--flight", metavar="FILE", help="Beside statistics: draw these flight records, too."
    ),
    stretch: Optional[str] = typer.Option(
        None, "--stretch", metavar="FROM:TO", help="Of flight records: calls by their numbers (120:140), or times (1.5ms:3ms)."
    ),
    limits: Optional[str] = typer.Option(
        None, "--limits", metavar="MODEL", help="Limits of a model (`espalier simulate --calibrate`), in place of this machine's."
    ),
    text: bool = typer.Option(False, "--text", help="Of a run: print it to the terminal in place of a page."),
) -> None:
    """Draw a bench result, or what a run's ranks waited for, as one page that stands alone (docs/statistics.md)."""
    from espalier.report.run import command as of_run

    if points and output:
        raise Problem("--output says where the page goes, and with --points there is none; give one of them")
    outputs.check_tree("--points" if points else "--output", points or output)
    if of_run.is_of_run(file):
        if points:
            raise Problem(f"{file} is of a run: --points takes a result of `espalier bench`")
        return _report_run(file, output, of_run.load(file, flight, stretch, limits), text)
    if flight or stretch or limits or text:
        raise Problem(f"{file} is neither statistics nor flight records of a run, which the options are for (docs/statistics.md)")
    _report_bench(file, output, points)


def _target(file: Path, output: Optional[Path]) -> Path:
    return output or text_file.plain_name(file).with_suffix(".html")


def _report_run(file: Path, output: Optional[Path], run: Run, text: bool) -> None:
    from espalier.bench import file as bench_file
    from espalier.report.run import command, page as run_page

    if text:
        return command.show(run)
    target = _target(file, output)
    bench_file.write(run_page.page(run), target)
    print(f"written: {target}")


def _report_bench(file: Path, output: Optional[Path], points: Optional[Path]) -> None:
    from espalier.bench import file as bench_file

    document = bench_file.load(file)
    target = points or _target(file, output)
    if points:
        bench_file.save(bench_file.points_alone(document), target)
    else:
        bench_file.write(page(document), target)
    print(f"written: {target}")


report.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier bench --quick --json quick.json",
        "espalier report quick.json -o quick.html",
        "espalier report run.json --flight last --stretch 1.5ms:3ms",
    )
}
