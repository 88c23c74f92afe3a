"""`espalier stats`: the file that ESPALIER_STATS=FILE wrote, as a table; of a run that did not end well, or still goes
on, what its ranks have counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import typer

from espalier.interface.help import examples
from espalier.plain import plain, plain_values
from espalier.problem import Problem
from espalier.sizes import print_bytes
from espalier.stats.parts import parts_of, report_of
from espalier.terminal import Column, print_lines, print_table

SCHEMA = 1
_STEPS = ("spin", "progress", "poke", "yield", "sleep")  # poke: what progress was called in older files


def stats(
    file: Path = typer.Argument(..., metavar="FILE", help="The JSON file; - reads it from stdin."),
    as_json: bool = typer.Option(False, "--json", help="Print the file's JSON, also of a run that did not end well."),
) -> None:
    """Print what a run did, or had done when it was ended: per communicator, collective and size."""
    report = load(file)
    if as_json:
        return print(json.dumps(report, indent=1))
    report = plain_values(report)
    try:
        _print(report)
    except (KeyError, TypeError, AttributeError) as error:
        raise Problem(
            f"{file}: a part of the statistics is missing or of the wrong kind ({error})"
        ) from error


stats.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples("espalier run --stats=run.json -- mpirun -n 4 ./app", "espalier stats run.json")
}


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
    if not isinstance(report, dict) or report.get("schema") != SCHEMA:
        raise Problem(
            f"{file} is no statistics file of schema {SCHEMA}; it is written by: espalier run --stats=FILE -- ..."
        )
    return report


def _sizes(row: dict[str, Any]) -> str:
    low, high = row["bytes_from"], row["bytes_to"]
    return print_bytes(low) if low == high else f"{print_bytes(low)} … {print_bytes(high)}"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns" if seconds else "0"


def _waits(row: dict[str, Any]) -> str:
    steps = row.get("wait") or {}
    return " ".join(f"{name} {steps[name]}" for name in _STEPS if steps.get(name))


def _print(report: dict[str, Any]) -> None:
    head = [f"{report['ranks']} ranks, {report['host']}, {report['build']} build"]
    if "counted" in report:
        head += [f"the run did not reach MPI_Finalize, or still goes on: what {report['counted']} of its ranks have counted"]
    print_lines(head)
    by_number = {entry["id"]: entry for entry in report["communicators"]}
    for number in dict.fromkeys([*by_number, *(row["communicator"] for row in report["rows"])]):
        rows = [row for row in report["rows"] if row["communicator"] == number]
        if rows:
            print()
            _print_table(_title(number, by_number.get(number)), rows)
    if not report["rows"]:
        print("no collective was called")


def _title(number: int, communicator: Any) -> str:
    if communicator is None:
        return f"communicator {number}"
    name = f" {communicator['name']}" if communicator.get("name") else ""
    return f"communicator {number}{name}: {communicator['size']} ranks, {communicator['transport']}"


def _print_table(title: str, rows: list[dict[str, Any]]) -> None:
    right = ("bytes", "calls", "time", "per call")
    headings = ("collective", "bytes", "calls", "time", "per call", "ran on", "algorithm", "waits", "why the host, or not sharp")
    columns = [Column(heading, right=heading in right, wraps=heading == headings[-1]) for heading in headings]
    print_table(columns, [_cells(row) for row in rows], title)


def _cells(row: dict[str, Any]) -> list[str]:
    calls = row["calls"]
    cells = [row["collective"], _sizes(row), str(calls), _time(row["seconds"])]
    cells += [_time(row["seconds"] / calls) if calls else "", row["transport"], row.get("algorithm") or ""]
    return [*cells, _waits(row), row.get("fallback") or row.get("passed_over") or ""]
