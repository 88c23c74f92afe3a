"""`espalier explain algorithms`: every algorithm of every collective, from the library's table."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from espalier import core
from espalier.interface import suggest
from espalier.problem import Problem
from espalier.terminal import Column, print_table

HEADINGS = ("collective", "algorithm", "what it does", "source")
SCOPES = {"node": "within a node", "network": "between nodes"}


def collectives() -> list[str]:
    return list(core.describe({"what": "algorithms"})["collectives"])


def check(name: str, *topics: str) -> str:
    """A collective's name, or a Problem that says what may have been meant: also one of `topics`."""
    known = collectives()
    if name in known:
        return name
    near = suggest.hint(name, [*known, *topics])
    raise Problem(f"'{name}' is no collective that Espalier takes{near + ' Those' if near else '; those'} are {', '.join(known)}")


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


def show(*_: Any) -> None:
    for scope, title in SCOPES.items():
        columns = [Column(heading, wraps=heading in ("collective", "what it does", "source")) for heading in HEADINGS]
        print_table(columns, list(rows(scope)), f"Algorithms {title}")


def show_markdown(*_: Any) -> None:
    print(markdown())
