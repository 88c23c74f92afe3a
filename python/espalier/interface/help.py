"""Help that fits the terminal: from 40 columns on, with `-h`, and with examples that stay on their lines."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from espalier.interface import ending

LEAST_COLUMNS = 40
_MOST_COLUMNS = 80
# Of a line, what option names may take; a longer name stands on a line of its own.
_NAMES_SHARE = 0.38

# click, or what typer has in its place since it does without click.
_BaseFormatter: Any = typer.Context.formatter_class


class _Formatter(_BaseFormatter):
    def write_dl(self, rows: Sequence[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl(rows, min(col_max, int(self.width * _NAMES_SHARE)), col_spacing)


def columns() -> int:
    """Of a line of help."""
    return max(LEAST_COLUMNS, min(_MOST_COLUMNS, shutil.get_terminal_size().columns))


def context_settings() -> dict[str, Any]:
    # What is written as wide as the terminal is folded by some: one column stays free.
    return {"help_option_names": ["-h", "--help"], "terminal_width": columns() - 2}


def examples(*lines: str) -> str:
    """For the end of a command's help, as a shell takes them."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


class Command(TyperCommand):
    """Every command of `espalier`."""

    def get_help(self, ctx: Any) -> str:
        ctx.formatter_class = _Formatter
        return super().get_help(ctx)


class Group(TyperGroup):
    """`espalier` itself."""

    def get_help(self, ctx: Any) -> str:
        ctx.formatter_class = _Formatter
        return super().get_help(ctx)

    def make_context(self, *words: Any, **more: Any) -> Any:
        with ending.conventional():  # help is printed here
            return super().make_context(*words, **more)

    def invoke(self, ctx: Any) -> Any:
        with ending.conventional():
            return super().invoke(ctx)
