"""What there is of cores."""

from __future__ import annotations

from typing import Any, Optional, Union

from espalier import core


def ranges(numbers: Any) -> str:
    """[0, 1, 2, 5] to "0-2,5"; text stays as it is."""
    if isinstance(numbers, str):
        return numbers
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][1] + 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in parts)


def cores(domain: dict) -> int:
    """The innermost domains of the machine; a machine without any is one core."""
    children = domain.get("children", [])
    if children:
        return sum(cores(child) for child in children)
    return 1 if domain["level"] == "core" else max(1, _count(domain["cpus"]))


def _count(cpus: Union[str, list[int]]) -> int:
    if not isinstance(cpus, str):
        return len(cpus)
    pairs = [part.split("-") for part in cpus.split(",") if part]
    return sum(int(pair[-1]) - int(pair[0]) + 1 for pair in pairs)


def _cpus_of_cores(domain: dict) -> list[str]:
    children = domain.get("children", [])
    return [cpus for child in children for cpus in _cpus_of_cores(child)] if children else [ranges(domain["cpus"])]


def cpus_of_ranks(answer: dict) -> list[str]:
    """By rank: one core after the other, as the library places them where no masks are given. Empty: not known."""
    ranks = len(answer["gather"]["children"])
    known = _cpus_of_cores(answer["topology"]) if "topology" in answer else [""]
    return [known[rank % len(known)] for rank in range(ranks)]


def usable_cores(synthetic: Optional[str] = None) -> int:
    """Of this process, within its quota; of a made-up machine: all."""
    request = {"what": "topology", "synthetic": synthetic, "affinity": None, "tree": None, "root": 0}
    found = cores(core.describe({**request, "ranks": 1})["topology"])
    quota = None if synthetic else core.describe({**request, "ranks": found}).get("budget", {}).get("quota")
    return found if quota is None else max(1, min(found, int(quota)))
