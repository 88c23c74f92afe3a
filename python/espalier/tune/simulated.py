"""A machine that is only described, in the place of jobs: the same search and the same verdict on simulated times."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from espalier.measured.point import CONTROL, DEFAULT, Point, bytes_of_rules
from espalier.models import machine
from espalier.simulate import derive
from espalier.simulate.run import ask
from espalier.tune.trials import Measured, Work
from espalier.tune.verdict import Sample

Json = dict[str, Any]

# Interruptions of each core: what is no faster than these disturb is within the noise here, too.
NOISE = {"rate_hz": 1000.0, "duration_ns": 2000.0, "skew_ns": 200.0}


class Machine:
    """`model`: a model file."""

    def __init__(self, model: Path):
        self.model = model
        self.document = machine.load(model)
        self.cores = machine.cores_of(self.document)
        self.name = self.document["name"]

    def measure(self, work: Work) -> Measured:
        """Each round has a seed of its own for its disturbances, the same for every side."""
        begin = time.monotonic()
        samples: list[Sample] = []
        for number in range(work.rounds):
            for point, sides in work.sides.items():
                samples.append(Sample(point, self._round(point, sides, work.plans[point], number + 1), {}))
                if number > 0 and time.monotonic() - begin > work.seconds:
                    return Measured(samples, self.name, 0)
        return Measured(samples, self.name, 0)

    def _round(self, point: Point, sides: list[str], plans: list[Json], seed: int) -> dict[str, float]:
        where = derive.Where(self.model, 1, point.ranks)
        size = derive.size_of_rules(point.collective, bytes_of_rules(point) or point.size, where)
        answer = ask({
            "model": str(self.model), "collective": point.collective, "bytes": [size], "nodes": [1],
            "ranks_per_node": [point.ranks], "noise": NOISE, "seed": seed,
            "variants": [_variant(side, plans) for side in sides],
        })
        return {row["variant"]: row["ns"] / 1000 for row in answer["rows"]}


def _variant(side: str, plans: list[Json]) -> Json:
    return {"name": side} if side in (DEFAULT, CONTROL) else {"name": side, "node": plans[int(side) - 1]}


def runs(point: Point) -> bool:
    """What differs from its sibling only in the lengths of blocks runs that one's text (docs/simulation.md)."""
    return point.collective not in ("gatherv", "scatterv", "alltoallv", "allgatherv", "reduce_scatter")
