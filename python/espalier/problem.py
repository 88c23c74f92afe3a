"""Clear words on stderr: what happened, where, what to do."""

from __future__ import annotations

import sys
from typing import Callable

from espalier.plain import plain_lines


class Problem(Exception):
    """Ends the command with one line for the user and an exit code."""

    def __init__(self, text: str, code: int = 2):
        super().__init__(text)
        self.code = code


def note(text: str) -> None:
    print(f"espalier: {plain_lines(text)}", file=sys.stderr, flush=True)


def run_tool(name: str, main: Callable[[], None]) -> None:
    """The main program of a tool (tools/): a Problem ends it with one line and its code."""
    try:
        main()
    except Problem as problem:
        print(f"{name}: {plain_lines(str(problem))}", file=sys.stderr)
        sys.exit(problem.code)
