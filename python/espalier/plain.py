"""Text from a file, a program or the system, made fit for a terminal."""

from __future__ import annotations

import unicodedata
from typing import Any

_LONGEST = 8192
# Controls, invisible formats (which turn the direction of writing), halves of surrogate pairs.
_NOT_SHOWN = ("Cc", "Cf", "Cs")


def plain(text: object) -> str:
    """What precedes the first NUL, on one line, without control characters; cut where it is very long."""
    line = plain_lines(str(text).split("\0", 1)[0]).translate({ord(c): " " for c in "\n\t"}).strip()
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def plain_lines(text: str) -> str:
    """Control characters but line feeds and tabs as \\x1b."""
    return "".join(c if c in "\n\t" or c.isprintable() or not _is_control(c) else _escaped(c) for c in text)


def plain_values(value: Any) -> Any:
    """plain() for all text in a document that json.loads has made."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [plain_values(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): plain_values(item) for key, item in value.items()}
    return value


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in _NOT_SHOWN


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
