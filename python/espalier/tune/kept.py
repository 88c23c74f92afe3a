"""What a run has measured so far, a line a job, so that one that was cut off goes on where it was."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Optional

from espalier.measured.point import Point
from espalier.problem import Problem
from espalier.tune.campaign import Job
from espalier.tune.trials import Measured
from espalier.tune.verdict import Sample

Json = dict[str, Any]

_SCHEMA = "espalier-tune/1"


def folder() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(cache) / "espalier" / "tune"


def path_of(settings: Json) -> Path:
    """By everything that decides what is measured: another question has another file."""
    name = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]
    return folder() / f"{name}.jsonl"


def _line_of(job: Job, measured: Measured) -> Json:
    samples = [[*sample.point, sample.us, sample.block_us] for sample in measured.samples]
    return {"job": list(job), "samples": samples, "host": measured.host_version, "seconds": round(measured.seconds, 2)}


def _job_of(line: Json) -> tuple[Job, Measured]:
    samples = [Sample(Point(ranks, name, size), us, block) for ranks, name, size, us, block in line["samples"]]
    return Job(*line["job"]), Measured(samples, line["host"], line["seconds"])


class Kept:
    def __init__(self, path: Path, settings: Json):
        self.path = path
        self.settings = settings

    def read(self) -> Optional[dict[Job, Measured]]:
        """None: there is no run to go on with. A last line that was cut short is left out."""
        try:
            lines = self.path.read_text(encoding="utf-8").splitlines()
        except OSError:
            return None
        found: dict[Job, Measured] = {}
        for number, line in enumerate(lines):
            try:
                entry = json.loads(line)
                if number == 0:
                    if entry.get("schema") != _SCHEMA or entry.get("settings") != self.settings:
                        return None
                    continue
                job, measured = _job_of(entry)
            except (ValueError, KeyError, TypeError):
                break
            found[job] = measured
        return found or None

    def begin(self, done: dict[Job, Measured]) -> None:
        """Written anew: what follows on a line that was cut short could not be read."""
        lines = [{"schema": _SCHEMA, "settings": self.settings}, *(_line_of(job, each) for job, each in done.items())]
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        except OSError as error:
            raise Problem(f"cannot write {self.path}: {error.strerror}") from error

    def add(self, job: Job, measured: Measured) -> None:
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(_line_of(job, measured)) + "\n")

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)
