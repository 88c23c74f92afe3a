"""`espalier doctor`: looks at everything that Espalier needs on this machine, and says what to do where it is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable

import typer

from espalier.doctor.checks import Check, all_checks

_MARKS = {True: "[green]ok[/green]", None: "[yellow]less[/yellow]", False: "[red]no[/red]"}


def doctor(
    command: list[str] = typer.Argument(
        None, metavar="[[--] COMMAND...]", help="A job to run once: which of its calls Espalier gets, and which not."
    ),
) -> None:
    """Check libraries, memory, processors and MPIs, or one job; exit code 1 when something needed is missing."""
    if not command:
        return _print(all_checks())
    from espalier.doctor import job

    _print(job.checks(list(command)))


doctor.typer_settings = {"context_settings": {"allow_interspersed_args": False}}  # type: ignore[attr-defined]


def _print(checks: Iterable[Check]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from espalier.terminal import console

    table = Table.grid(padding=(0, 2, 0, 0))
    failed = False
    for check in checks:
        failed = failed or check.good is False
        table.add_row(_MARKS[check.good], check.name, _words(check, escape))
    console().print(table)
    if failed:
        raise typer.Exit(1)


def _words(check: Check, escape: Callable[[str], str]) -> str:
    todo = f"\n[bold]→ {escape(check.todo)}[/bold]" if check.todo and check.good is not True else ""
    return escape(check.found) + todo
