"""`espalier stats`: the file that ESPALIER_STATS=FILE wrote, as a table; of a run that did not end well, or still goes
on, what its ranks have counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Optional

import typer

from espalier.interface import outputs
from espalier.interface.help import examples
from espalier.plain import plain, plain_values
from espalier.problem import Problem, note
from espalier.stats import sites, table
from espalier.stats.parts import parts_of, report_of
from espalier.terminal import Column, fits, print_lines, print_table

SCHEMA = 1


def stats(
    file: Path = typer.Argument(..., metavar="FILE", help="The JSON file; - reads it from stdin."),
    as_json: bool = typer.Option(False, "--json", help="Print the file's JSON, also of a run that did not end well."),
    html: Optional[Path] = typer.Option(None, "--html", metavar="PAGE", help="Write a page instead, that stands alone."),
) -> None:
    """Print what a run did, or had done when it was ended: per communicator, collective and size."""
    outputs.check_tree("--html", html)
    report = load(file)
    if as_json:
        return print(json.dumps(report, indent=1))
    report = plain_values(report)
    try:
        _write(report, html) if html else _print(report)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Problem(f"{file}: a part of the statistics is missing or of the wrong kind ({error})") from error


stats.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier run --stats=run.json -- mpirun -n 4 ./app", "espalier stats run.json", "espalier stats run.json --html run.html"
    )
}


def _write(report: dict[str, Any], path: Path) -> None:
    from espalier.bench import file as bench_file
    from espalier.stats import page

    bench_file.write(page.page(report), path)
    note(f"wrote {path}")


def load(file: Path) -> dict[str, Any]:
    """What the ranks left goes before the file: it is of a later run."""
    if str(file) != "-" and (parts := parts_of(file)):
        return report_of(parts)
    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text(encoding="utf-8")
        report = json.loads(text)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(f"{plain(file)} cannot be read ({getattr(error, 'strerror', None) or error})") from error
    except json.JSONDecodeError as error:
        raise Problem(
            f"{file}:{error.lineno}: not JSON ({error.msg})"
        ) from error
    if isinstance(report, dict) and str(report.get("schema")).startswith("espalier-flight/"):
        from espalier.who import flight

        return flight.statistics_of(report)
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise Problem(
            f"{file} is no statistics file of schema {SCHEMA}; it is written by: espalier run --stats=FILE -- ..."
        )
    return report


def _print(report: dict[str, Any]) -> None:
    head = [table.title(report)]
    if "counted" in report:
        head += [f"the run did not reach MPI_Finalize, or still goes on: what {report['counted']} of its ranks have counted"]
    print_lines(head)
    rows = table.rows(report)
    if not rows:
        return print("no collective was called")
    columns = [Column(heading, right=heading in table.RIGHT, wraps=heading == "why not") for heading in table.HEADINGS]
    _print_table(columns, rows)
    print_lines([*table.LEGEND, *filter(None, [table.came_last(report), table.allocated(report)])])
    if report.get("sites"):
        _print_sites(report)


def _print_sites(report: dict[str, Any]) -> None:
    print_lines(["", "where the calls came from"])
    columns = [Column(heading, right=heading in sites.RIGHT, wraps=heading == "called by") for heading in sites.HEADINGS]
    print_table(columns, sites.rows(report))
    print_lines(sites.LEGEND)


def _print_table(columns: list[Column], rows: list[list[str]]) -> None:
    """A list of rows begins with the collective, since all have a number of ranks."""
    if fits(columns, rows):
        return print_table(columns, rows)
    order = [1, 0, *range(2, len(columns))]
    print_table([columns[at] for at in order], [[row[at] for at in order] for row in rows])
