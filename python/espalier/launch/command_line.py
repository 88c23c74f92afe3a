"""Reads a job's command line: launcher, programs, and the variables that either gives the job."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable, NamedTuple, Optional

from espalier.launch import launchers, wrappers
from espalier.launch.launchers import Family


@dataclass(frozen=True)
class Setting:
    """A variable that the command line sets. `word` is the index of the word that ends with its value."""

    name: str
    value: str
    word: int


class Option(NamedTuple):
    """One of the launcher's. `word`: the index of the word that ends with its value."""

    name: str
    value: str
    word: int


@dataclass
class Program:
    """One program of the job. `context`: index of the first word behind the launcher or the ":" that divides programs;
    `end`: behind the launcher's last option; `start`: of the program's name; `first`: libraries that it needs to be loaded
    before all others; `own`: variables for the program alone, not for its launcher."""

    context: int
    words: list[str]
    settings: list[Setting] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    cleared: bool = False
    folder: Optional[str] = None
    end: int = 0
    start: int = 0
    first: tuple[str, ...] = ()
    own: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.words[0]

    def environment(self, base: Mapping[str, str]) -> dict[str, str]:
        """What the program will see of `base`. After `env -i` the loader finds its libraries by the caches alone."""
        result = {} if self.cleared else dict(base)
        for name in self.removed:
            result.pop(name, None)
        result.update({setting.name: setting.value for setting in self.settings})
        return result


@dataclass
class CommandLine:
    """`launcher_word`: index of the launcher; None for a program that is started on its own."""

    words: list[str]
    launcher: Optional[Path] = None
    launcher_word: Optional[int] = None
    family: Optional[Family] = None
    programs: list[Program] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    configured: Optional[str] = None
    options: list[Option] = field(default_factory=list)


def find(name: str, environment: Mapping[str, str], folder: Optional[str] = None) -> Optional[Path]:
    """The executable file that a launcher or shell would start."""
    base = Path(folder) if folder else Path()
    if "/" in name:
        path = base / name
        return path.absolute() if path.is_file() and os.access(path, os.X_OK) else None
    found = shutil.which(name, path=environment.get("PATH", os.defpath))
    return Path(found).absolute() if found else None


FamilyOf = Callable[[Path], Optional[Family]]


def read(
    words: list[str],
    environment: Mapping[str, str],
    family_of: FamilyOf,
    starts_others: Callable[[Path], bool] = lambda _: False,
) -> CommandLine:
    """`starts_others`: the program is no MPI program itself, so that a launcher among its words is what it starts."""
    line = CommandLine(words)
    first = Program(0, words)
    at = _unwrap_into(first, words, 0, len(words))
    if at is None:
        return line
    if not launchers.is_launcher(words, at):
        hidden = _launcher_behind(words, at, first.environment(environment), starts_others)
        if hidden is None:
            first.words, first.start = words[at:], at
            line.programs.append(first)
            return line
        at = hidden
    line.launcher_word = at
    line.launcher = find(words[at], first.environment(environment))
    line.family = family_of(line.launcher) if line.launcher else None
    if line.family is not None:
        _read_contexts(line, launchers.first_option(words, at), first, environment)
    return line


def options_of(words: list[str], family: Family) -> list[Option]:
    """Those of a launcher that runs, by the words that it was started with: its file may be another machine's."""
    line = CommandLine(words, family=family)
    _read_contexts(line, launchers.first_option(words, 0), Program(0, words), {})
    return line.options


def _launcher_behind(
    words: list[str], at: int, environment: Mapping[str, str], starts_others: Callable[[Path], bool]
) -> Optional[int]:
    """Of a wrapper that is not known here: `some-wrapper --option mpirun ...`."""
    behind = [place for place in range(at + 1, len(words)) if launchers.is_launcher(words, place)]
    if not behind or find(words[behind[0]], environment) is None:
        return None
    path = find(words[at], environment)
    return behind[0] if path is not None and starts_others(path) else None


def _unwrap_into(program: Program, words: list[str], start: int, end: int) -> Optional[int]:
    unwrapped = wrappers.unwrap(words, start, end)
    for word in unwrapped.settings:
        name, value = words[word].split("=", 1)
        program.settings.append(Setting(name, value, word))
    program.removed += unwrapped.removed
    program.cleared = program.cleared or unwrapped.cleared
    program.folder = unwrapped.folder or program.folder
    return unwrapped.start


def _read_contexts(line: CommandLine, start: int, outer: Program, environment: Mapping[str, str]) -> None:
    """Programs divided by ":", each behind its own options; what the first one's options set holds for all."""
    words, shared = line.words, outer
    assert line.family is not None
    while start < len(words):
        end = words.index(":", start) if line.family.colon and ":" in words[start:] else len(words)
        program = Program(
            start, [], list(shared.settings), list(shared.removed), shared.cleared, shared.folder
        )
        at = _read_options(line, program, start, end, environment)
        if shared is outer:
            shared = Program(
                start, [], list(program.settings), list(outer.removed), outer.cleared, program.folder
            )
        begin = _unwrap_into(program, words, at, end) if at < end else None
        if begin is not None:
            program.words, program.start = words[begin:end], begin
            line.programs.append(program)
        start = end + 1


def _read_options(
    line: CommandLine, program: Program, at: int, end: int, environment: Mapping[str, str]
) -> int:
    """Steps over the launcher's options from `at` on; returns where the program (or its wrapper) stands."""
    words = line.words
    while at < end and words[at].startswith("-") and len(words[at]) > 1:
        program.end = at
        if words[at] == "--":
            return at + 1
        count = min(_values_of(line, at, end, environment), end - at - 1)
        _note_option(line, program, at, count)
        at += 1 + count
    program.end = at
    return at


def _parted(word: str, family: Family) -> tuple[str, Optional[str]]:
    """An option's name, and its value if that stands in the same word: "--nodes=4", "-n4"."""
    if family.short_values and not word.startswith("--"):
        if word[1] in family.short_values:
            return word[1], word[2:] or None
        return word[1:], ""  # letters without values
    name, equals, value = word.lstrip("-").partition("=")
    return name, value if equals else None


def _values_of(line: CommandLine, at: int, end: int, environment: Mapping[str, str]) -> int:
    """How many words behind the option at `at` belong to it."""
    word, family = line.words[at], line.family
    assert family is not None
    name, value = _parted(word, family)
    if value is not None:
        return 0
    following = line.words[at + 1] if at + 1 < end else ""
    if len(name) == 1 and name in family.short_values:
        return 1
    if name in family.values:
        # Hydra takes "-genv NAME VALUE" and "-genv NAME=VALUE".
        if name in family.set_environment and "=" in following:
            return 1
        return family.values[name]
    if name in family.flags:
        return 0
    line.unknown.append(word)
    # An option of some other version: a word that can be started is the program, any other is the option's value.
    return int(bool(following) and not following.startswith("-") and find(following, environment) is None)


def _note_option(line: CommandLine, program: Program, at: int, count: int) -> None:
    words, family = line.words, line.family
    assert family is not None
    name, attached = _parted(words[at], family)
    value = attached or (words[at + 1] if count else "")
    line.options.append(Option(name, value, at + count))
    if name in family.configuration:
        line.configured = value
    elif name in family.folder:
        program.folder = value
    elif name in family.set_environment:
        if count == 2:
            program.settings.append(Setting(value, words[at + 2], at + 2))
        elif "=" in value and not value.startswith(("-", "^")):  # which are other rules of Flux
            variable, text = value.split("=", 1)
            program.settings.append(Setting(variable, text, at + count))
