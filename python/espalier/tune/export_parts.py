"""What the files of all hosts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from espalier.tune.host_alone import Choice


class Export(NamedTuple):
    text: str  # of the file
    environment: dict[str, str]  # with FILE where the file's path goes


def bytes_of_host(choice: Choice) -> int:
    """Hosts count an alltoall's block for one rank."""
    point = choice.point
    return point.size // point.ranks if point.collective == "alltoall" else point.size


def by_collective(choices: Sequence[Choice]) -> list[tuple[str, list[tuple[int, list[Choice]]]]]:
    """(collective, [(ranks, choices by size)])"""
    ordered = sorted(choices, key=lambda choice: (choice.point.collective, choice.point.ranks, choice.point.size))
    found = []
    for name, each in groupby(ordered, key=lambda choice: choice.point.collective):
        group = list(each)
        if any(choice.setting for choice in group):
            found.append((name, [(ranks, list(part)) for ranks, part in groupby(group, key=lambda choice: choice.point.ranks)]))
    return found
