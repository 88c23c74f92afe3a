"""Clear words on stderr: what happened, where, what to do."""

from __future__ import annotations

import sys


class Problem(Exception):
    """Ends the command with one line for the user and an exit code."""

    def __init__(self, text: str, code: int = 2):
        super().__init__(text)
        self.code = code


def note(text: str) -> None:
    print(f"espalier: {text}", file=sys.stderr, flush=True)
