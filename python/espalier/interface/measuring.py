"""Options that all commands which measure have in common."""

from __future__ import annotations

import typer

from espalier.completion import words

MPICC = typer.Option(None, metavar="PATH", help="Its compiler (default: the mpicc beside it).")
RANKS = typer.Option(None, metavar="N,N", help="Numbers of ranks (default: 2, half of the cores, all, twice as many).")
BUDGET = typer.Option("5m", metavar="TIME", help="How long it may measure: 90s, 5m, 1h.")
WHEN_BUSY = typer.Option(
    None,
    metavar="ask|wait|go",
    autocompletion=words.one_of("ask", "wait", "go"),
    help="Where others use the machine: ask (on a terminal the default), wait up to 5 minutes, or go on.",
)
