"""Where in the program the calls of a run came from: addresses in files as functions and lines, by what is installed for that."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Callable, Optional

from espalier.plain import plain
from espalier.stats import table

RIGHT = ("bytes", "calls", "slowest", "mean")
HEADINGS = ("collective", *RIGHT, "ranks", "called by")
LEGEND = (
    "called by: frames of the program, innermost first; calls: of one rank there; ranks: how many made such calls there;",
    "slowest, mean: time in these calls; the host's calls are not timed",
)
_SECONDS = 60


@dataclass(frozen=True)
class Place:
    function: str
    line: str  # "file.c:12"; empty where it is not known

    def __str__(self) -> str:
        return f"{self.function} ({self.line})" if self.line else self.function


def rows(report: dict[str, Any]) -> list[list[str]]:
    sites = report.get("sites") or []
    places = names([frame for site in sites for frame in site["frames"]])
    sizes = {entry["id"]: entry["size"] for entry in report["communicators"]}
    return [_cells(site, sizes[site["communicator"]], places) for site in sites]


def _cells(site: dict[str, Any], ranks: int, places: dict[tuple[str, int], Place]) -> list[str]:
    frames = [str(places[key(frame)]) for frame in site["frames"]]
    return [
        *(site["collective"], table.sizes(site), str(round(site["calls"] / site["ranks"]))),
        *(_time(site, "slowest_seconds"), _time(site, "mean_seconds")),
        *(f"{site['ranks']} of {ranks}" + (" (host)" if site["by_host"] else ""), " < ".join(frames) or "not known"),
    ]


def _time(site: dict[str, Any], name: str) -> str:
    return "" if site["by_host"] else table.time(site[name])


def key(frame: dict[str, Any]) -> tuple[str, int]:
    return frame["file"], frame["address"]


def names(frames: Sequence[dict[str, Any]]) -> dict[tuple[str, int], Place]:
    """By key(). Each file is asked once, for all its addresses."""
    found = {key(frame): _unresolved(frame) for frame in frames}
    for file in dict.fromkeys(frame["file"] for frame in frames):
        addresses = sorted({frame["address"] for frame in frames if frame["file"] == file})
        for address, place in zip(addresses, _resolved(file, addresses)):
            if place is not None:
                found[file, address] = place
    return found


def _unresolved(frame: dict[str, Any]) -> Place:
    name = Path(frame["file"]).name or "no file"
    return Place(f"{frame['symbol']} in {name}" if frame["symbol"] else f"{name}+{frame['address']:#x}", "")


def _resolved(file: str, addresses: list[int]) -> list[Optional[Place]]:
    """None for what no program knows more of. The file may be another machine's, or have changed since."""
    if file.startswith("/") and Path(file).is_file():
        for program, command in _PROGRAMS.items():
            found = _asked(command(file), addresses) if shutil.which(program) else None
            if found is not None and any(found):
                return found
    return [None] * len(addresses)


_PROGRAMS: dict[str, Callable[[str], list[str]]] = {
    "addr2line": lambda file: ["addr2line", "-C", "-f", "-e", file],
    "llvm-symbolizer": lambda file: ["llvm-symbolizer", "--output-style=GNU", "--no-inlines", f"--obj={file}"],
}


def _asked(command: list[str], addresses: list[int]) -> Optional[list[Optional[Place]]]:
    words = [f"{address:#x}" for address in addresses]
    try:
        done = subprocess.run(
            command, input="\n".join(words) + "\n", capture_output=True, text=True, errors="replace", timeout=_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    return list(_pairs(lines)) if done.returncode == 0 and len(lines) == 2 * len(addresses) else None


def _pairs(lines: list[str]) -> Iterator[Optional[Place]]:
    for function, line in zip(lines[::2], lines[1::2]):
        path, _, number = line.partition(" (")[0].rpartition(":")
        known = path not in ("", "??") and number not in ("?", "0")
        function = plain(function)
        yield Place(function, f"{plain(Path(path).name)}:{number}" if known else "") if function != "??" else None
