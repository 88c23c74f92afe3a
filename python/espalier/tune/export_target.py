"""Whose algorithms `--export` tunes: those of a host MPI, or of UCC below one."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from espalier.bench import build, hosts
from espalier.measured import host_jobs
from espalier.measured.host_jobs import Job, Measured
from espalier.measured.host_settings import Setting
from espalier.measured.point import Point
from espalier.problem import Problem
from espalier.tune import export, export_ucc, host_alone
from espalier.tune.export_parts import Export
from espalier.tune.host_alone import Choice


@dataclass(frozen=True)
class OfHost:
    host: hosts.Host

    @property
    def title(self) -> str:
        return self.host.title

    @property
    def is_for_shells(self) -> bool:
        """What is written is read by a shell, not by the host."""
        return self.host.kind == "impi"

    def settings(self, point: Point) -> list[Setting]:
        return host_alone.settings_of(self.host.kind, point)

    def run(self, job: Job) -> Measured:
        return host_jobs.run(self.host, job)

    def made(self, choices: Sequence[Choice]) -> Export:
        return export.of(self.host.kind, choices, _library(self.host) if self.host.kind == "mpich" else None)

    def usable(self, points: list[Point]) -> list[Point]:
        return points

    def taken(self, choices: list[Choice], environment: dict[str, str]) -> list[Choice]:
        """What is written is no more than a wish in no host but UCC's."""
        return choices


@dataclass(frozen=True)
class OfUcc:
    """Open MPI hands its collectives to UCC, and takes them itself where that refuses, without a word: so it is asked."""

    host: hosts.Host
    algorithms: export_ucc.Algorithms
    is_for_shells = True

    @property
    def title(self) -> str:
        return f"UCC under {self.host.title}"

    def settings(self, point: Point) -> list[Setting]:
        return export_ucc.settings(self.algorithms, point)

    def run(self, job: Job) -> Measured:
        environment = export_ucc.BASE | dict(job.settings)
        measured = host_jobs.run(self.host, job._replace(settings=tuple(sorted(environment.items()))))
        return measured._replace(why_not=measured.why_not or export_ucc.refusal(measured.output))

    def made(self, choices: Sequence[Choice]) -> Export:
        return export_ucc.ucc(choices)

    def usable(self, points: list[Point]) -> list[Point]:
        """Those of collectives that UCC serves here."""
        groups = {point[:2]: point for point in reversed(points)}  # the shortest of each collective and number of ranks
        good = {key for key, point in groups.items() if self._is_served((point,), {})}
        found = [point for point in points if point[:2] in good]
        if not found:
            raise Problem(
                f"{self.host.title} has UCC serve none of these collectives: it has no component coll_ucc (ompi_info says so), or"
                " UCC does not start there; see what a program prints with OMPI_MCA_coll_ucc_enable=1"
                " OMPI_MCA_coll_ucc_priority=100 OMPI_MCA_coll_ucc_verbose=3"
            )
        return found

    def taken(self, choices: list[Choice], environment: dict[str, str]) -> list[Choice]:
        """Without those that UCC does not serve with what was written."""
        return [
            choice if choice.setting is None or self._is_served((choice.point,), environment)
            else host_alone.confirmed(choice, None)
            for choice in choices
        ]

    def _is_served(self, points: tuple[Point, ...], environment: dict[str, str]) -> bool:
        settings = tuple(sorted((environment | export_ucc.VERBOSE).items()))
        measured = self.run(Job(points, "", 1, 1.0, settings))
        told = export_ucc.served(measured.output)
        return not measured.why_not and all(export_ucc.is_served(point, told) for point in points)


def of(host: hosts.Host, by_ucc: bool) -> OfHost | OfUcc:
    if not by_ucc:
        return OfHost(host)
    if host.kind != "openmpi":
        raise Problem(f"--ucc: UCC serves collectives of Open MPI, and {host.title} is none; name its launcher with --mpirun")
    return OfUcc(host, export_ucc.ask())


def _library(host: hosts.Host) -> Path:
    """The one that programs of this host are linked with, as the loader finds it."""
    done = subprocess.run(["ldd", str(build.trials(host))], capture_output=True, text=True)
    found = re.search(r"libmpi\S*\.so\S* => (\S+)", done.stdout)
    if not found:
        raise Problem(f"{host.title}'s library is not found (ldd {build.trials(host)})")
    return Path(found[1])
