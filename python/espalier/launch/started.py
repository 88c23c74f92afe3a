"""What a program that is no MPI program itself starts: a wrapper that is not known here, a shell's -c, a shell script."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Callable, Optional

from espalier.elf import file
from espalier.launch import command_line, containers, launchers
from espalier.launch.command_line import Program
from espalier.mpi import identify
from espalier.mpi.identify import Finding

_SHELL = re.compile(r"^(ba|da|z|k|a)?sh$")
_LONGEST_SCRIPT = 64 << 10
_MOST_WORDS = 200
_SEPARATOR = re.compile(r"^[;&|()<>]+$")


def finding(
    program: Program,
    path: Path,
    environment: Mapping[str, str],
    family_of: command_line.FamilyOf,
) -> Optional[Finding]:
    """Of the first MPI program among the words that follow. None: there is none that can be seen."""
    if containers.is_container(path):
        return None
    for words in _command_lines(program.words, path):
        found = _of_words(words, program, environment, family_of)
        if found is not None:
            return Finding(found.kind, f"{path} seems to start this: {found.why}", found.library, True, found.first)
    return None


def _command_lines(words: list[str], path: Path) -> Iterator[list[str]]:
    if _SHELL.match(path.name):
        command = _behind_c(words)
        if command is not None:
            yield from _lines(command)
        elif len(words) > 1:
            yield from _script(Path(next((word for word in words[1:] if not word.startswith("-")), "")))
        return
    yield words[1 : 1 + _MOST_WORDS]
    if not file.is_elf(path) and _shell_reads(path):
        yield from _script(path)


def _behind_c(words: list[str]) -> Optional[str]:
    for at, word in enumerate(words[1:-1], 1):
        if re.match(r"^-[a-z]*c$", word):
            return words[at + 1]
        if not word.startswith("-"):
            return None
    return None


def _shell_reads(path: Path) -> bool:
    interpreter = identify.interpreter(path)
    return not interpreter or bool(_SHELL.match(Path(interpreter[0]).name))


def _script(path: Path) -> Iterator[list[str]]:
    try:
        with open(path, errors="replace") as script:
            yield from _lines(script.read(_LONGEST_SCRIPT))
    except OSError:
        return


def _lines(text: str) -> Iterator[list[str]]:
    """The commands of a shell's text, as far as they can be read without being the shell."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        try:
            words = list(lexer)
        except ValueError:  # a quotation over several lines
            continue
        begin = 0
        for at in [*(at for at, word in enumerate(words) if _SEPARATOR.match(word)), len(words)]:
            if begin < at:
                yield words[begin : min(at, begin + _MOST_WORDS)]
            begin = at + 1


def _of_words(
    words: list[str], outer: Program, environment: Mapping[str, str], family_of: command_line.FamilyOf
) -> Optional[Finding]:
    for at, word in enumerate(words):
        if word.startswith("-") or not word:
            continue
        path = command_line.find(word, environment, outer.folder) if _may_be_a_program(word) else None
        if path is None:
            continue
        if launchers.is_launcher(words, at):
            return _of_launcher(words[at:], environment, family_of)
        found = _of_program(path, environment, outer.folder)
        if found is not None:
            return found
    return None


def _may_be_a_program(word: str) -> bool:
    return re.match(r"^[\w./@%+:,-]+$", word) is not None


def _of_launcher(
    words: list[str], environment: Mapping[str, str], family_of: command_line.FamilyOf
) -> Optional[Finding]:
    line = command_line.read(words, environment, family_of)
    for program in line.programs:
        path = command_line.find(program.name, environment, program.folder)
        found = path and _of_program(path, program.environment(environment), program.folder)
        if found:
            return found
    if line.family is None or line.family.kind is None:
        return None
    return Finding(line.family.kind, f"the launcher {line.launcher} belongs to {line.family.kind.name}")


def _of_program(path: Path, environment: Mapping[str, str], folder: Optional[str]) -> Optional[Finding]:
    found = identify.program(path, environment, folder, None)
    return found if found.kind is not None else None


def starts_others(environment: Mapping[str, str]) -> Callable[[Path], bool]:
    """Whether a program is none that loads an MPI itself. What a container starts does not lie on this machine."""
    return lambda path: (
        not containers.is_container(path) and identify.program(path, environment, None, None).kind is None
    )
