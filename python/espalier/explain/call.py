"""The call that `espalier explain` is asked about: its words checked, and what was left out filled in."""

from __future__ import annotations

from typing import Any, Optional

from espalier.explain import algorithms
from espalier.interface import suggest
from espalier.problem import Problem
from espalier.sizes import parse_bytes
from espalier.topo import machine

OPERATORS = tuple("sum prod min max land band lor bor lxor bxor minloc maxloc replace no_op".split())
TYPES = {
    "byte": 1,
    "char": 1,
    "short": 2,
    "int": 4,
    "long": 8,
    "float": 4,
    "double": 8,
    "long_double": 16,
    "double_complex": 16,
}
TOPICS = ("window", "memory", "algorithms")
_EXAMPLE = "espalier explain allreduce 64KiB"


def checked_collective(name: Optional[str]) -> str:
    if name is None:
        raise Problem(f"which collective? {_EXAMPLE}; or one of {', '.join(TOPICS)}, --config, --published")
    if name[:1].isdigit():
        raise Problem(f"'{name}' is a size; the collective comes before it: {_EXAMPLE.replace('64KiB', name)}")
    return algorithms.check(name, *TOPICS)


def ranks_of(ranks: Optional[int], cores: Optional[int], synthetic: Optional[str]) -> int:
    """As asked; else one for each usable core."""
    return ranks or cores or machine.usable_cores(synthetic)


def request(
    collective: str,
    size: Optional[str],
    ranks: int,
    cores: Optional[int],
    datatype: Optional[str],
    operator: str,
    synthetic: Optional[str],
) -> dict[str, Any]:
    suggest.one_of("--op", operator, (*OPERATORS, "user"))
    if size is None and collective != "barrier":
        raise Problem(f"how many bytes per rank? espalier explain {collective} 64KiB")
    count = parse_bytes(size or "0")
    if datatype is not None:
        _check_type(datatype, count)
    return {
        "what": "plan",
        "collective": collective,
        "bytes": count,
        "ranks": ranks,
        "ranks_per_core": ranks / cores if cores else None,
        "commutative": operator != "user",
        "synthetic": synthetic,
    }


def _check_type(datatype: str, count: int) -> None:
    extent = TYPES[suggest.one_of("--type", datatype, TYPES)]
    if count % extent:
        raise Problem(f"{count} bytes are no whole number of {datatype} ({extent} bytes each)")
