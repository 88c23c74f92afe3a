"""One line of `espalier doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional


@dataclass(frozen=True)
class Check:
    """`good`: True is fine, None works with a loss, False does not work."""

    name: str
    good: Optional[bool]
    found: str
    todo: str = ""

    @property
    def state(self) -> str:
        return {True: "ok", None: "less", False: "no"}[self.good]
