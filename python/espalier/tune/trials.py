"""One job of bench/trials: the default, candidates and the host in one process, in turns."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional

from espalier.bench import build, hosts, process
from espalier.measured.point import CONTROL, DEFAULT, HOST, Point, bytes_of_rules
from espalier.problem import Problem
from espalier.tune.verdict import Sample

Json = dict[str, Any]

MOST_TRIALS = 16  # bench/trials/points.h
_LAUNCH_SECONDS = 90  # what a job may take beyond its time: start, trial calls, the last round
# Lengths of blocks that differ round to what is near the size that was asked for.
_NEAR = (0.75, 1.25)


class Work(NamedTuple):
    """What a job measures. All points have one number of ranks."""

    ranks: int
    sides: dict[Point, list[str]]
    plans: dict[Point, list[Json]]
    rounds: int
    seconds: float


class Measured(NamedTuple):
    samples: list[Sample]
    host_version: str
    seconds: float


def _users_rules() -> list[Json]:
    """Those of ESPALIER_RULES, which the file of the trials takes the place of."""
    path = os.environ.get("ESPALIER_RULES")
    if not path:
        return []
    try:
        return list(json.loads(Path(path).read_text(encoding="utf-8"))["rules"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Problem(f"ESPALIER_RULES={path} cannot be read ({error}): unset it, or mend it first") from error


def rules_of(work: Work) -> str:
    """Trial 0 has no rule here: the rules in force serve it."""
    found = []
    for point, sides in work.sides.items():
        size = bytes_of_rules(point)
        for side in sides:
            if side in (HOST, DEFAULT, CONTROL):
                continue
            rule: Json = {"trial": int(side), "collective": point.collective}
            if size is not None:
                rule["bytes"] = [int(size * _NEAR[0]), int(size * _NEAR[1])]
            found.append({**rule, **work.plans[point][int(side) - 1]})
    # The last one makes it a table of trials where there are no candidates.
    found += [{"trial": MOST_TRIALS, "algorithm": "host"}, *_users_rules()]
    lines = ",\n  ".join(json.dumps(rule) for rule in found)
    return f'{{"schema": 1, "rules": [\n  {lines}\n ]}}\n'


def points_of(work: Work) -> str:
    return "".join(f"{point.collective} {point.size} {' '.join(sides)}\n" for point, sides in work.sides.items())


def read(text: str, ranks: int) -> tuple[list[Sample], str, Optional[Json]]:
    """What the program has written: samples, the host's version, and the end, if it came to it."""
    samples: list[Sample] = []
    version, end = "", None
    for line in text.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # cut short
        if entry["kind"] == "trials":
            point = Point(ranks, entry["collective"], entry["bytes"])
            sides = entry["sides"]
            samples.append(Sample(point, dict(zip(sides, entry["us"])), dict(zip(sides, entry.get("block_us", [])))))
        elif entry["kind"] == "run":
            version = entry["host_version"]
        elif entry["kind"] == "end":
            end = entry
    return samples, version, end


def program(host: hosts.Host) -> Path:
    return build.trials(host)


def run(host: hosts.Host, work: Work) -> Measured:
    with tempfile.TemporaryDirectory(prefix="espalier-tune-") as name:
        folder = Path(name)
        (folder / "rules.json").write_text(rules_of(work), encoding="utf-8")
        (folder / "points").write_text(points_of(work), encoding="utf-8")
        words = ["--points", str(folder / "points"), "--out", str(folder / "out"), "--rounds", str(work.rounds)]
        words += ["--seconds", f"{work.seconds:.1f}", "--cpus", ",".join(map(str, hosts.cores()))]
        settings = hosts.environment(host, work.ranks, default=True) | hosts.preloaded(hosts.preload(host))
        settings |= {"ESPALIER_RULES": str(folder / "rules.json"), "ESPALIER_TUNED": "off"}
        settings |= {} if os.environ.get("ESPALIER_RULES") else {"ESPALIER_FALLBACK": "error"}  # no trial is the host's by chance
        command, settings = hosts.job(host, work.ranks, [str(program(host)), *words], settings)
        outcome = process.run(command, settings, _LAUNCH_SECONDS + 3 * work.seconds)
        out = folder / "out"
        samples, version, end = read(out.read_text(encoding="utf-8") if out.exists() else "", work.ranks)
    if not outcome.fine or end is None:
        failure = outcome.failure()
        why = f"a job of {work.ranks} ranks {failure['why']}: {process.telling(failure['last_lines'])}"
        raise Problem(f"{why}\n  {outcome.command}", code=1)
    if end["wrong"]:
        raise Problem(f"{end['wrong']} wrong elements in the results of a job of {work.ranks} ranks: please report it\n"
                      f"  {outcome.command}", code=1)
    return Measured(samples, version, outcome.seconds)


def together(sides: Sequence[str]) -> list[str]:
    """In the order of the program: the host, the default, the others."""
    return sorted(sides, key=lambda side: (-1, "") if side == HOST else (int(side), side))
