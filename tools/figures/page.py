"""The blocks of a page: commands, and tables that they fill.

A block stands between `<!-- figures: NAME -->` and `<!-- end: figures -->` (`<!-- figures: NAME slow -->` where its commands
take more than some seconds). Its indented lines are the commands, run as they stand; each of its tables is made anew of what
they print; all else is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

BLOCK = re.compile(r"^<!-- figures: (?P<name>[\w-]+)(?P<slow> slow)? -->\n(?P<body>.*?)^<!-- end: figures -->$", re.M | re.S)
TABLE = re.compile(r"(?:^\|.*\n)+", re.M)


@dataclass(frozen=True)
class Block:
    page: Path
    name: str
    slow: bool
    body: str

    @property
    def commands(self) -> str:
        return "".join(f"{line[4:]}\n" for line in self.body.splitlines() if line.startswith("    "))

    @property
    def tables(self) -> list[list[str]]:
        return [found[0].splitlines() for found in TABLE.finditer(self.body)]


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = [Block(page, match["name"], bool(match["slow"]), match["body"]) for match in BLOCK.finditer(text)]
    if len({block.name for block in found}) != len(found):
        raise ValueError(f"{page}: two blocks of one name")
    return found


def with_tables(block: Block, made: list[list[str]]) -> str:
    """The block's text with other tables."""
    if len(made) != len(block.tables):
        raise ValueError(f"{block.name}: the page has {len(block.tables)} tables, {len(made)} were made")
    waiting = iter(made)
    return TABLE.sub(lambda _: "\n".join(next(waiting)) + "\n", block.body)


def write(block: Block, made: list[list[str]]) -> bool:
    """Puts other tables into the page; whether that changed it."""
    text = block.page.read_text(encoding="utf-8")
    new = text.replace(block.body, with_tables(block, made))
    block.page.write_text(new, encoding="utf-8")
    return new != text


# --- comparing -----------------------------------------------------------------------------------------------------------

NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?")


def unit(text: str) -> float:
    """The weight of a printed number's last digit."""
    return 10.0 ** -len(text.partition(".")[2])


def differences(printed: list[str], made: list[str]) -> list[str]:
    """Lines of two tables that differ: in their words, or in a number by more than one in its last printed digit."""
    found = [f"{len(printed)} lines on the page, {len(made)} made"] if len(printed) != len(made) else []
    for old, new in zip(printed, made):
        numbers = [(a.replace(",", ""), b.replace(",", "")) for a, b in zip(NUMBER.findall(old), NUMBER.findall(new))]
        words = NUMBER.sub("#", old.replace("**", "")) == NUMBER.sub("#", new.replace("**", ""))
        if not words or any(abs(float(a) - float(b)) > 1.001 * max(unit(a), unit(b)) for a, b in numbers):
            found.append(f"on the page: {old}\nmade now:    {new}")
    return found
