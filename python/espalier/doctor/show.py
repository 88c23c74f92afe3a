"""The findings of `espalier doctor` on the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Optional

from espalier import terminal
from espalier.doctor import heat_map
from espalier.doctor.check import Check
from espalier.doctor.latencies import Latencies

_COLOURS = {"ok": "green", "less": "yellow", "no": "red"}
_LEAST_COLUMNS = 72  # for the three columns beside each other


def show(checks: Iterable[Check], latencies: Optional[Latencies] = None) -> None:
    from rich.markup import escape
    from rich.padding import Padding
    from rich.table import Table

    out = terminal.console()
    table = Table.grid(padding=(0, 2, 0, 0))
    for check in checks:
        mark = f"[{_COLOURS[check.state]}]{check.state}[/]"
        todo = f"\n[bold]→ {escape(check.todo)}[/bold]" if check.todo and check.good is not True else ""
        words = escape(check.found) + todo
        if out.width >= _LEAST_COLUMNS:
            table.add_row(mark, escape(check.name), words)
        else:
            out.print(f"{mark} {escape(check.name)}")
            out.print(Padding(words, (0, 0, 0, 2)))
    if table.row_count:
        out.print(table)
    lines = list(heat_map.text(latencies, out.width)) if latencies else []
    if lines:
        out.print("\nNanoseconds from core to core, by CPU:", highlight=False)
    for line in lines:
        out.print(line, highlight=False, markup=False, no_wrap=True)
