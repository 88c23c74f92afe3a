"""Reads the table of MPI functions, functions.def, which says how it is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FAMILIES = ("collective", "starts", "completes", "tests", "probe", "message", "window", "creates", "own", "called")
OPTIONS = ("large", "init", "nonblocking", "fortran", "cptr", "emulated")
DIRECTIONS = ("const", "out", "inout")
ENTRIES = ("ranks", "peers", "peers_of_root", "peers_unless_in_place", "sources", "destinations")

FUNCTION = re.compile(r"\s*(MPIX?_\w+)\s*\(([^()]*)\)\s*:\s*([a-z ]+?)\s*$", re.MULTILINE)
PARAMETER = re.compile(r"(?:(\w+)\s+)?(\w+)\s+(\w+)(?:\[(\w*)\])?")


class TableError(Exception):
    """What is wrong with the table, in words for its editor."""


@dataclass(frozen=True)
class Parameter:
    kind: str
    name: str
    direction: str = ""  # "": by value, or a buffer that is written
    is_array: bool = False
    entries: str = ""  # of an array of counts or displacements, how many it has


@dataclass(frozen=True)
class Function:
    name: str  # as MPI spells it
    parameters: tuple[Parameter, ...]
    family: str
    options: frozenset[str] = frozenset()

    @property
    def member(self) -> str:
        """Its name without MPI's prefix."""
        return self.name.split("_", 1)[1]

    @property
    def lower(self) -> str:
        """The name of what serves it."""
        return self.member.lower()


def read_parameter(text: str) -> Parameter:
    match = PARAMETER.fullmatch(text.strip())
    if not match:
        raise TableError(f'"{text.strip()}" is no parameter: write [const|out|inout] kind name')
    direction, kind, name, entries = match.groups()
    if direction is not None and direction not in DIRECTIONS:
        raise TableError(f'"{text.strip()}": "{direction}" is none of {", ".join(DIRECTIONS)}')
    if entries and entries not in ENTRIES:
        raise TableError(f'"{text.strip()}": "{entries}" is none of {", ".join(ENTRIES)}')
    return Parameter(kind, name, direction or "", entries is not None, entries or "")


def read_function(name: str, parameters: str, words: str) -> Function:
    family, *options = words.split()
    if family not in FAMILIES:
        raise TableError(f'{name}: "{family}" is no family: {", ".join(FAMILIES)}')
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise TableError(f'{name}: "{unknown[0]}" is no option: {", ".join(OPTIONS)}')
    found = tuple(read_parameter(text) for text in parameters.split(",") if text.strip())
    return Function(name, found, family, frozenset(options))


def without_comments(text: str) -> str:
    return re.sub(r"#.*", "", text)


def parse(text: str) -> list[Function]:
    text = without_comments(text)
    functions = []
    at = 0
    while text[at:].strip():
        match = FUNCTION.match(text, at)
        if not match:
            raise TableError(f"no function: {text[at:].strip().splitlines()[0]}")
        functions.append(read_function(*match.groups()))
        at = match.end()
    names = [function.name for function in functions]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise TableError(f"{twice[0]} stands there twice")
    return functions


def read(path: Path) -> list[Function]:
    return parse(path.read_text(encoding="utf-8"))
