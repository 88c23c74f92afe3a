"""The file of a run, and its table."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

from espalier import __version__
from espalier.bench import file
from espalier.bench.results.stats import Spread
from espalier.problem import Problem
from espalier.sizes import print_bytes

from ablations.configurations import ABLATIONS, SIZES, Ablation
from ablations.measure import Times

SCHEMA = "espalier-ablations/1"
Json = dict[str, Any]


def point(title: str, collective: str, size: int, turns: list[dict[str, Times]]) -> Json:
    """How many times as long as RG's configuration: the ratio is taken within a turn."""
    key = collective, size
    ratio = Spread.of([turn[title][key] / turn["RG"][key] for turn in turns])
    base = Spread.of([turn["RG"][key] for turn in turns])
    return {"ablation": title, "collective": collective, "bytes": size, "rg_us": round(base.mid, 3),
            "ratio": {"low": round(ratio.low, 3), "median": round(ratio.mid, 3), "high": round(ratio.high, 3)}}


def make(host: str, described: Json, turns: list[dict[str, Times]]) -> Json:
    wanted = [(one.title, collective, size) for one in ABLATIONS for collective in one.collectives for size in one.sizes]
    points = [point(*each, turns) for each in wanted]
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"schema": SCHEMA, "date": now.isoformat(timespec="seconds"), "espalier": __version__, "machine": described,
            "host": host, "ranks": 2, "turns": len(turns), "points": points}


def load(path: Path) -> Json:
    document = file.read_json(path)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise Problem(f"{path} is no result of bench/ablations (schema {SCHEMA})")
    return document


def printed(ratio: dict[str, float]) -> str:
    return f"{ratio['median']:.2f} ({ratio['low']:.2f}–{ratio['high']:.2f})"


def cells(one: Ablation, collective: str, document: Json) -> list[str]:
    found = {point["bytes"]: point["ratio"] for point in document["points"]
             if (point["ablation"], point["collective"]) == (one.title, collective)}
    return [printed(found[size]) if size in found else "–" for size in SIZES]


def table(document: Json) -> list[str]:
    """Markdown; in parentheses the quartiles over the turns."""
    head = ["slower than RG's configuration by", "collective", *(print_bytes(size) for size in SIZES), "RG, 40 ranks"]
    rows = [[one.title, collective, *cells(one, collective, document), one.published if collective == one.collectives[0] else ""]
            for one in ABLATIONS for collective in one.collectives]
    lines = [f"| {' | '.join(row)} |".replace("|  |", "| |") for row in (head, *rows)]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]
