"""Where tuned rules lie: the library says what they are called on this machine, and where it looks."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, NamedTuple, Optional

from espalier import core
from espalier.problem import Problem

Json = dict[str, Any]


def facts(host_version: str) -> Json:
    """machine, host, espalier, name, folders, file: what `espalier_describe` says of tuned rules under this host MPI."""
    return core.describe({"what": "tuned", "host": host_version})


def path_of(found: Json, output: Optional[Path]) -> Path:
    """`output` may be a folder: the file has the name there by which the library finds it."""
    if output is not None:
        return output / found["name"] if output.is_dir() else output
    if not found["folders"]:
        raise Problem("ESPALIER_TUNED=off: no program would find the rules; name a file with --output")
    return Path(found["folders"][0]) / found["name"]


def write(path: Path, text: str) -> None:
    """In one step: a job that starts meanwhile reads the old file or the new one, and all its ranks do."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=".tuned-", delete=False, encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o644)
        os.replace(file.name, path)
    except OSError as error:
        raise Problem(f"cannot write {path}: {error.strerror}") from error


class Tuned(NamedTuple):
    path: Path
    host: str


def tuned_here() -> list[Tuned]:
    """The files of tuned rules for this machine and this Espalier, of any host MPI: the newest first. What is no such file is
    passed over."""
    here = facts("")
    found: list[tuple[float, Tuned]] = []
    for folder in here["folders"]:
        for path in Path(folder).glob("tuned-*.json"):
            try:
                said = json.loads(path.read_text(encoding="utf-8"))["tuned"]
                if (said["machine"], said["espalier"]) == (here["machine"], here["espalier"]):
                    found.append((path.stat().st_mtime, Tuned(path, said["host"])))
            except (OSError, ValueError, KeyError, TypeError):
                continue
    return [tuned for _, tuned in sorted(found, reverse=True)]
