"""One answer of `espalier explain`: what the library was asked, what it said, and how that is shown."""

from __future__ import annotations

from typing import Any, Callable, NamedTuple

from espalier import core
from espalier.interface import document

Json = dict[str, Any]


class Explained(NamedTuple):
    request: Json
    answer: Json
    show: Callable[[Json, Json], None]

    def print(self, as_json: bool) -> None:
        if as_json:
            document.print_json("explain", {"what": self.request["what"], "request": self.request, "answer": self.answer})
        else:
            self.show(self.request, self.answer)


def ask(request: Json, show: Callable[[Json, Json], None]) -> Explained:
    return Explained(request, core.describe(request), show)
