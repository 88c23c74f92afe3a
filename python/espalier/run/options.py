"""The options of `espalier run` as ESPALIER_ variables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Optional

from espalier.interface import suggest
from espalier.mpi import kinds
from espalier.problem import Problem
from espalier.sizes import parse_bytes

FALLBACKS = ("error", "warn", "silent")
_OF_TESTS = "ESPALIER_TEST_"
WAITS = ("auto", "spin", "yield", "sleep")


def kind(name: Optional[str]) -> Optional[kinds.Kind]:
    return None if name is None else kinds.KINDS[suggest.one_of("--mpi", name, kinds.KINDS)]


def _file(path: Path) -> str:
    # Absolute, because the ranks may run in another folder.
    if not path.is_file():
        raise Problem(f"--rules {path}: there is no such file")
    return str(path.absolute())


def doubt_about_file(stats: str) -> Optional[str]:
    """Of the file that rank 0 is to write; a doubt alone, since it may run on a node that has the folder."""
    folder = Path(stats).parent
    if not stats.startswith("/") or (folder.is_dir() and os.access(folder, os.W_OK)):
        return None
    return f"--stats={stats}: there is no folder {folder} here that may be written; the rank that writes the file needs it"


def _pair(text: str) -> tuple[str, str]:
    match = re.match(r"^([A-Za-z][A-Za-z0-9_-]*)=(.*)$", text, re.DOTALL)
    if not match:
        raise Problem(f"--set {text}: write it as KEY=VALUE, such as --set tree=numa=flat")
    name = match[1].upper().replace("-", "_")
    name = name if re.match(r"ESPALIER(_|$)", name) else f"ESPALIER_{name}"
    _check_key(text, name)
    return name, match[2]


def _check_key(text: str, name: str) -> None:
    """By the library's own list. Without the library nothing is known, and `espalier run` says that later."""
    from espalier import core

    try:
        known = {value["key"] for value in core.describe({"what": "config"})["values"]}
    except Problem:
        return
    if name not in known and not name.startswith(_OF_TESTS):
        # What all names begin with would make all alike.
        keys = [_short(key) for key in known if key != "ESPALIER"]
        near = suggest.hint(_short(name), keys) or ";"
        raise Problem(f"--set {text}: there is no setting {name}{near} `espalier explain --config` lists all")


def _short(key: str) -> str:
    return key.removeprefix("ESPALIER_").lower()


def environment(
    stats: Optional[str] = None,
    fallback: Optional[str] = None,
    rules: Optional[Path] = None,
    shm: Optional[str] = None,
    wait: Optional[str] = None,
    sites: Optional[int] = None,
    arrivals: bool = False,
    flight: Optional[Path] = None,
    flight_at: Optional[int] = None,
    pairs: Iterable[str] = (),
) -> dict[str, str]:
    result: dict[str, str] = {}
    if stats is not None:
        result["ESPALIER_STATS"] = stats if stats == "1" else str(Path(stats).absolute())
    if (sites or arrivals) and stats is None:
        raise Problem(f"{'--sites' if sites else '--arrivals'} says what is counted: it goes with --stats, best with a file")
    if sites:
        result["ESPALIER_STATS_SITES"] = str(sites)
    if arrivals:
        result["ESPALIER_STATS_ARRIVALS"] = "on"
    if flight_at is not None and flight is None:
        raise Problem("--flight-at says when the records are written: it goes with --flight=FILE")
    if flight is not None:
        result["ESPALIER_FLIGHT"] = str(flight.absolute())
        result["ESPALIER_FLIGHT_AT"] = "end" if flight_at is None else str(flight_at)
    if fallback is not None:
        result["ESPALIER_FALLBACK"] = suggest.one_of("--fallback", fallback, FALLBACKS)
    if rules is not None:
        result["ESPALIER_RULES"] = _file(rules)
    if shm is not None:
        result["ESPALIER_SHM"] = shm if shm == "auto" else str(parse_bytes(shm))
    if wait is not None:
        result["ESPALIER_WAIT"] = suggest.one_of("--wait", wait, WAITS)
    result.update(_pair(text) for text in pairs)
    return result
