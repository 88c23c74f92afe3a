"""What commands print with: a console for tables and trees, tables that become lists where they do not fit, aligned lines."""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from rich.console import Console

# Blanks at the end of a line, also between the codes that end a style.
_PADDING = re.compile(r"(?:[ ]|\x1b\[[\d;]*m)+(?=\n)")
_OF_A_FILE = 200  # columns: never folds a line of a table or tree away when the output goes to a file
_LEAST_WRAPPED = 24  # columns of a text that is folded beside others
_GAP = 2


class _Unpadded:
    """A file without the blanks that fill the columns of a table."""

    def __init__(self, file: IO[str]):
        self._file = file

    def write(self, text: str) -> int:
        self._file.write(_PADDING.sub(lambda found: found[0].replace(" ", ""), text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@cache
def _console_class() -> type[Console]:
    """rich is loaded with the first console, and not for help."""
    from rich.console import Console

    class ConsoleOfPipes(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    return ConsoleOfPipes


def console(file_columns: int = _OF_A_FILE, errors: bool = False) -> Console:
    """`file_columns`: at least so many where the output goes to a file; `errors`: to stderr. NO_COLOR and COLUMNS count."""
    file: Any = _Unpadded(sys.stderr if errors else sys.stdout)
    make = _console_class()
    plain = make(file=file, highlight=False, emoji=False)
    return plain if plain.is_terminal else make(file=file, highlight=False, emoji=False, width=max(plain.width, file_columns))


@dataclass(frozen=True)
class Column:
    heading: str
    right: bool = False
    wraps: bool = False  # a text that may be folded


def print_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    title: str = "",
    styles: Sequence[str] = (),
    out: Optional[Console] = None,
) -> None:
    """A table where it fits, else each row as a list. `styles`: one for each row."""
    out = out or console()
    if not fits(columns, rows, out):
        return _print_lists(columns, rows, title, out)
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(title) or None, title_justify="left", box=None, pad_edge=False, padding=(0, _GAP, 0, 0))
    for column in columns:
        table.add_column(column.heading, justify="right" if column.right else "left", no_wrap=not column.wraps)
    for row, style in zip(rows, styles or [""] * len(rows)):
        table.add_row(*(escape(cell) for cell in row), style=style or None)
    out.print(table)


def fits(columns: Sequence[Column], rows: Sequence[Sequence[str]], out: Optional[Console] = None) -> bool:
    return _least_width(columns, rows) <= (out or console()).width


def _least_width(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    from rich.cells import cell_len

    total = -_GAP
    for number, column in enumerate(columns):
        lines = [line for cell in (column.heading, *(row[number] for row in rows)) for line in cell.split("\n")]
        width = max(map(cell_len, lines))
        total += _GAP + (min(width, _LEAST_WRAPPED) if column.wraps else width)
    return total


def _print_lists(columns: Sequence[Column], rows: Sequence[Sequence[str]], title: str, out: Console) -> None:
    """What a row begins with is its heading."""
    names = [" ".join(column.heading.split()) for column in columns[1:]]
    lines = _wrapped(title, "", "  ", out.width) if title else []
    for first, *others in rows:
        lines += _wrapped(first, "", "  ", out.width)
        named = ((name, value or None) for name, value in zip(names, others))
        lines += [f"  {line}" for line in facts(named, out.width - 2)]
    for line in lines:
        out.print(line, markup=False, highlight=False, soft_wrap=True)


def facts(pairs: Iterable[tuple[str, Optional[str]]], columns: Optional[int] = None) -> list[str]:
    """Aligned "name  value" lines of at most so many columns; None is left out."""
    kept = [(name, value) for name, value in pairs if value is not None]
    width = max((len(name) for name, _ in kept), default=0)
    if columns:
        width = min(width, columns // 2 - _GAP)
    return [line for name, value in kept for line in _fact(name, value, width, columns)]


def _fact(name: str, value: str, width: int, columns: Optional[int]) -> list[str]:
    """A name that is too long stands on a line of its own."""
    later = " " * (width + _GAP)
    lines = [name] if len(name) > width else []
    for part in value.split("\n"):
        first = later if lines else f"{name:<{width}}{' ' * _GAP}"
        lines += _wrapped(part, first, later, columns)
    return [line.rstrip() for line in lines]


def _wrapped(text: str, first: str, later: str, columns: Optional[int]) -> list[str]:
    if columns is None:
        return [first + text]
    return textwrap.wrap(text, columns, initial_indent=first, subsequent_indent=later, break_on_hyphens=False) or [first]


def line_columns() -> Optional[int]:
    """Of a line on the terminal; None where the output goes to a file."""
    out = console()
    return out.width if out.is_terminal else None


def print_facts(pairs: Iterable[tuple[str, Optional[str]]], indent: int = 2) -> None:
    columns = line_columns()
    for line in facts(pairs, columns and columns - indent):
        print(f"{' ' * indent}{line}")


def print_lines(lines: Iterable[str]) -> None:
    """Texts, folded between words where the terminal ends."""
    columns = line_columns()
    for text in lines:
        for line in _wrapped(text, "", "  ", columns):
            print(line.rstrip())
