"""`espalier explain algorithms`: every algorithm of every collective, from the library's table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from espalier import core

HEADINGS = ("collective", "algorithm", "what it does", "source")
SCOPES = {"node": "within a node", "network": "between nodes"}


def collectives() -> list[str]:
    return list(core.describe({"what": "algorithms"})["collectives"])


def of(scope: str, collective: str) -> list[str]:
    """The names of a collective's algorithms, without `host`, which each has."""
    return [use["algorithm"] for use in uses(scope) if collective in use["collectives"]]


def uses(scope: str) -> list[dict[str, Any]]:
    return [use for use in core.describe({"what": "algorithms"})["algorithms"] if use["scope"] == scope]


def rows(scope: str) -> Iterator[tuple[str, str, str, str]]:
    for use in uses(scope):
        needs = f"; where {use['requires']}" if use["requires"] else ""
        yield ", ".join(use["collectives"]), use["algorithm"], use["description"] + needs, use["source"]


def markdown() -> str:
    """The tables of docs/algorithms.md."""
    lines: list[str] = []
    for scope, title in SCOPES.items():
        lines += [f"**Algorithms {title}**", "", "| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
        last = ""
        for names, algorithm, description, source in rows(scope):
            lines.append(f"| {'' if names == last else names} | `{algorithm}` | {description} | {source} |")
            last = names
        lines.append("")
    return "\n".join(lines[:-1])


def print_table() -> None:
    from rich.table import Table

    from espalier import terminal

    for scope, title in SCOPES.items():
        table = Table(title=f"Algorithms {title}", title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
        for heading in HEADINGS:
            table.add_column(heading)
        for row in rows(scope):
            table.add_row(*row)
        terminal.console().print(table)
