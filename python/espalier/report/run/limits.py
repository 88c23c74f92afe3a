"""How fast a call could be on a machine at best: a cache line has to pass between two cores, and bytes have to be copied. The
figures are those of a model file, as `espalier simulate --calibrate` measures them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Optional

from espalier.models import machine as models, parameters
from espalier.problem import Problem

Json = dict[str, Any]


@dataclass(frozen=True)
class Limit:
    """For so many ranks on the machine."""

    ranks: int
    line: float  # seconds until another rank sees a store
    per_byte: float  # seconds for a byte that one rank copies out of another's cache
    per_byte_together: float  # where all ranks copy at once
    shares_cores: bool

    def seconds(self, moved: float, together: bool = True) -> float:
        """At least. `moved`: bytes that the busiest rank takes from others."""
        return self.line + moved * (self.per_byte_together if together else self.per_byte)


@dataclass(frozen=True)
class Limits:
    name: str
    model: Json

    def of(self, ranks: int) -> Limit:
        part = self.model["simulate"]
        levels = part["levels"]
        cores = int(levels[-1]["cores"])
        level = next((each for each in levels if int(each["cores"]) >= ranks), levels[-1])
        copies, all_at_once = float(level["copy_ns_per_byte"]), float(part.get("controller_ns_per_byte", 0))
        line = float(level["line_ns"]) if ranks <= cores else max(float(level["line_ns"]), float(part.get("wake_ns", 0)))
        # Where ranks take turns on cores the copies of those that share one follow on each other.
        turns = -(-ranks // cores)
        together = max(copies * turns, all_at_once * ranks)
        return Limit(ranks, line * 1e-9, copies * 1e-9, together * 1e-9, ranks > cores)


def load(model: Optional[str]) -> Limits:
    """Of a model file or one of Espalier's by name; None: measured here and now, which takes a second."""
    if model is None:
        return _measured()
    path = parameters.path_of(model)
    found = models.load(path)
    models.cores_of(found)
    return Limits(str(found.get("name") or path.name), found)


def _measured() -> Limits:
    from espalier.bench import machine
    from espalier.simulate import run

    try:
        found = run.ask({"calibrate": True}, run.MEASURE)
    except Problem as problem:
        raise Problem(f"this machine's limits are not measured ({problem}); name a model of it: --limits FILE") from problem
    return Limits(f"{machine.in_words(machine.describe())}, measured for this page", found)
