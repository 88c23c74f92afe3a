"""What is tuned: an MPI on this machine, by jobs; or a machine that is only described, by simulation."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from espalier import __version__
from espalier.bench import hosts, machine as bench_machine
from espalier.measured.asked import Asked
from espalier.measured.point import Point, bytes_of_rules
from espalier.models import machine, parameters
from espalier.problem import Problem, note
from espalier.simulate import calibrate, run as simulate_run
from espalier.tune import candidates, kept, simulated, trials
from espalier.tune.trials import Measured, Work

Json = dict[str, Any]

_NETWORK_OF = "frontera"  # a model needs a network; none of the calls here comes to it


@dataclass(frozen=True)
class Subject:
    title: str
    cores: int
    points: list[Point]
    measure: Callable[[Work], Measured]
    model: Callable[[], Optional[Path]]  # that chooses the candidates
    settings: Json  # all that decides what is measured
    said: Json  # of how it was measured, for the file of rules
    is_described: bool = False
    with_host: bool = True

    @property
    def origin(self) -> str:
        return f"{'modelled' if self.is_described else 'measured'}: {self.title}"

    def candidates(self) -> dict[Point, list[Json]]:
        """Where rules cannot tell sizes apart all have the candidates of the longest."""
        model = self.model()
        found: dict[Point, list[Json]] = {}
        for point in sorted(self.points, key=lambda point: -point.size):
            alike = next((each for each in found if bytes_of_rules(point) is None and each[:2] == point[:2]), None)
            found[point] = found[alike] if alike else candidates.of_point(point, model, point.ranks / self.cores)
        return {point: found[point] for point in self.points}


def cores_of(described: Optional[str]) -> int:
    if described is None:
        return len(hosts.cores())
    return machine.cores_of(machine.load(machine.path_of(described)))


def _measured_model() -> Optional[Path]:
    """Of this machine, measured once; None where nothing can simulate."""
    if not simulate_run.program().exists() or not simulate_run.program(simulate_run.MEASURE).exists():
        note("there is no espalier-simulate (built without Boost.Context): candidates are chosen without the cost model")
        return None
    path = kept.folder() / f"model-{__version__}.json"
    here = bench_machine.in_words(bench_machine.describe())
    if path.exists() and json.loads(path.read_text(encoding="utf-8")).get("name", "").startswith(here):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        calibrate.calibrate(path, _NETWORK_OF)
    except Problem as problem:  # one usable core
        note(f"candidates are chosen without the cost model: {problem}")
        return None
    return path


def real(host: hosts.Host, asked: Asked, model: Optional[str]) -> Subject:
    trials.program(host)  # what cannot be built is told before anything is measured
    hosts.preload(host)
    settings: Json = {
        "host": str(host.mpirun), "points": [list(point) for point in asked.points], "espalier": __version__,
        "cores": hosts.cores(), "model": model, "rules": os.environ.get("ESPALIER_RULES", ""),
    }
    return Subject(
        f"{host.title} on {len(hosts.cores())} cores", len(hosts.cores()), asked.points,
        lambda work: trials.run(host, work), lambda: parameters.path_of(model) if model else _measured_model(),
        settings, {"launcher": Path(host.mpirun).name, "ranks": list(asked.ranks), "budget_seconds": asked.budget},
    )


def described(name: str, asked: Asked) -> Subject:
    path = machine.path_of(name)
    made_up = simulated.Machine(path)
    points = [point for point in asked.points if simulated.runs(point)]
    settings: Json = {"machine": made_up.document, "points": [list(point) for point in points], "espalier": __version__}
    return Subject(
        made_up.name, made_up.cores, points, made_up.measure, lambda: path, settings,
        {"ranks": list(asked.ranks), "budget_seconds": asked.budget}, is_described=True, with_host=False,
    )
