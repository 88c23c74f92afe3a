"""What is known of a kind of launcher: how its command line reads, and which MPI it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Optional

from espalier.mpi import kinds


@dataclass(frozen=True)
class Family:
    """How a launcher's command line reads.

    kind: the MPI that it belongs to; None for one that starts ranks of any MPI.
    values: option -> how many words follow it; options that are in neither table are unknown.
    set_environment: options that set a variable of the job.
    colon: contexts of several programs are divided by ":".
    short_values: letters of short options that take a value, which may stand in the same word ("-n4").
    """

    name: str
    kind: Optional[kinds.Kind]
    values: Mapping[str, int]
    flags: frozenset[str]
    set_environment: frozenset[str] = frozenset()
    folder: frozenset[str] = frozenset()
    configuration: frozenset[str] = frozenset()
    colon: bool = True
    short_values: str = ""


def table(**counts: str) -> dict[str, int]:
    """_1="n np" to {"n": 1, "np": 1}."""
    return {name: int(key[1:]) for key, names in counts.items() for name in names.split()}
