"""What a misspelt word may have meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from espalier.problem import Problem

_AS_GOOD = 0.06  # what a second guess may be less alike


def hint(word: str, known: Iterable[str]) -> str:
    """"; did you mean ...?" for what is near, else nothing."""
    names = list(known)
    near = difflib.get_close_matches(word.lower(), [name.lower() for name in names], n=2, cutoff=0.6)
    alike = [_likeness(word, name) for name in near]
    best = [name for name, ratio in zip(near, alike) if ratio > alike[0] - _AS_GOOD]
    written = {name.lower(): name for name in names}
    return f"; did you mean {' or '.join(written[name] for name in best)}?" if best else ""


def _likeness(word: str, name: str) -> float:
    return difflib.SequenceMatcher(None, word.lower(), name).ratio()


def unknown(said: str, word: str, known: Iterable[str]) -> Problem:
    """`said` ("--op smu"), what it may have meant, and all that there is."""
    names = list(known)
    near = hint(word, names)
    return Problem(f"{said}{near} There are {', '.join(names)}" if near else f"{said}: it is one of {', '.join(names)}")


def one_of(option: str, word: str, known: Iterable[str]) -> str:
    names = list(known)
    if word not in names:
        raise unknown(f"{option} {word}", word, names)
    return word
