"""What stands behind an option or in an argument's place, for the shell. Without the library there is less, and no error."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Callable

from espalier.problem import Problem

Completer = Callable[[str], list[tuple[str, str]]]


def one_of(*names: str) -> Completer:
    def complete(incomplete: str) -> list[tuple[str, str]]:
        return [(name, "") for name in names]

    return complete


def listed(names: Callable[[], Iterable[str]]) -> Completer:
    """Several names with commas between: the last is completed, by those that are not there yet."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        before = incomplete.split(",")[:-1]
        return [(",".join([*before, name]), "") for name in names() if name not in before]

    return complete


def collective_names() -> list[str]:
    from espalier.explain import algorithms

    try:
        return algorithms.collectives()
    except Problem:
        from espalier.bench.collectives import ALL

        return list(ALL)


def collectives(incomplete: str) -> list[tuple[str, str]]:
    return [(name, "") for name in collective_names()]


def explained(incomplete: str) -> list[tuple[str, str]]:
    from espalier.explain.call import TOPICS

    return [*collectives(incomplete), *((topic, "") for topic in TOPICS)]


def machines(incomplete: str) -> list[tuple[str, str]]:
    """The models that come with Espalier; a file's name is the shell's own to complete."""
    from espalier.models import parameters

    return [(name, "") for name in parameters.names()]


def settings(incomplete: str) -> list[tuple[str, str]]:
    """KEY= of --set, in lower case as it is written there, or as the variable is named."""
    from espalier import core

    try:
        values = core.describe({"what": "config"})["values"]
    except Problem:
        return []
    full = incomplete.startswith("E")
    keys = [(value["key"] if full else value["key"].removeprefix("ESPALIER_").lower(), value["help"]) for value in values]
    return [(f"{key}=", meaning) for key, meaning in keys if key != "espalier"]


def plans(incomplete: str) -> list[tuple[str, str]]:
    """--plan NAME:algorithm=...: the algorithms on a node and, as network=..., between nodes."""
    from espalier.explain import algorithms

    name, colon, _ = incomplete.partition(":")
    try:
        uses = algorithms.uses("node") + algorithms.uses("network")
    except Problem:
        return []
    keys = {"node": "algorithm", "network": "network"}
    words = {f"{keys[use['scope']]}={use['algorithm']}": use["description"] for use in uses}
    return [(f"{name if colon else word.partition('=')[2]}:{word}", meaning) for word, meaning in words.items()]
