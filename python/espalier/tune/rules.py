"""Rules made of verdicts: the text of the file that the library finds by itself, or that ESPALIER_RULES names."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Optional

from espalier.digits import three_digits
from espalier.measured.point import DEFAULT, HOST, Point, bytes_of_rules
from espalier.sizes import print_bytes
from espalier.tune.verdict import Verdict

Json = dict[str, Any]


class Place(NamedTuple):
    """What the evidence of each rule says of where it was measured."""

    date: str
    where: str  # "measured: MPICH 5.0.2", or "modelled: NAME"
    ranks_per_core: dict[int, float]  # by ranks


def plan_of(side: str, plans: Sequence[Json]) -> Json:
    return {"algorithm": "host"} if side == HOST else plans[int(side) - 1]


def _half_way(low: int, high: int) -> int:
    """Between two sizes that were measured, where neither is nearer in factors."""
    return round(math.sqrt(max(low, 1) * high))


def _ends(sizes: Sequence[int], first: int, last: int) -> list[Optional[int]]:
    """The bytes for which the sizes `first` to `last` (places in `sizes`) speak: half way to their neighbours; the shortest for
    all that are shorter, the longest to twice its own."""
    low = 0 if first == 0 else _half_way(sizes[first - 1], sizes[first]) + 1
    high = 2 * sizes[last] if last + 1 == len(sizes) else _half_way(sizes[last], sizes[last + 1])
    return [low, high]


def _written(plan: Json) -> Json:
    return {key: print_bytes(value) if key == "chunk" and isinstance(value, int) else value for key, value in plan.items()}


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):+.0f}%"


def evidence_of(verdict: Verdict) -> str:
    size = print_bytes(verdict.point.size) + " " if verdict.point.size else ""
    gain, us = verdict.gain, verdict.us
    assert gain is not None
    host = f", host {three_digits(us[HOST])}" if HOST in us and verdict.chosen != HOST else ""
    return (f"{size}{three_digits(us[verdict.chosen])} us, default {three_digits(us[DEFAULT])} ({_percent(gain.middle)}, "
            f"{_percent(gain.low)} to {_percent(gain.high)} in {verdict.rounds} rounds){host}")


def _rule(group: Sequence[Verdict], plan: Json, ends: Optional[list[Optional[int]]], place: Place) -> Json:
    point = group[0].point
    rule: Json = {"collective": point.collective}
    if ends is not None:
        rule["bytes"] = ends
    shares: list[Any] = [1.01, None] if place.ranks_per_core[point.ranks] > 1 else [0, 1]
    rule |= {"ranks": point.ranks, "nodes": 1, "ranks_per_core": shares}
    said = "; ".join(evidence_of(verdict) for verdict in group)
    return {**rule, **_written(plan), "evidence": f"{place.where}, {point.ranks} ranks, {place.date}: {said}"}


def _whole(verdicts: Sequence[Verdict], plans: dict[Point, list[Json]], place: Place) -> list[Json]:
    """One rule for all sizes, which rules cannot tell apart: the same plan at one size at least, and no size at which it was
    not measured to be no slower."""
    sides = {verdict.chosen for verdict in verdicts} - {DEFAULT}
    if len(sides) != 1:
        return []
    side = sides.pop()
    others = [verdict for verdict in verdicts if verdict.chosen == DEFAULT]
    if any(verdict.gain is None or verdict.gain.high > 1 or side not in verdict.us for verdict in others):
        return []
    chosen = [verdict for verdict in verdicts if verdict.chosen == side]
    return [_rule(chosen, plan_of(side, plans[chosen[0].point]), None, place)]


def _by_size(verdicts: Sequence[Verdict], plans: dict[Point, list[Json]], place: Place) -> list[Json]:
    sizes = [bytes_of_rules(verdict.point) or 0 for verdict in verdicts]
    found: list[Json] = []

    def plan_at(i: int) -> Optional[Json]:
        side = verdicts[i].chosen
        return None if side == DEFAULT else plan_of(side, plans[verdicts[i].point])

    for plan, places in groupby(range(len(verdicts)), key=plan_at):
        if plan is not None:
            at = list(places)
            found.append(_rule([verdicts[i] for i in at], plan, _ends(sizes, at[0], at[-1]), place))
    return found


def of_verdicts(verdicts: Iterable[Verdict], plans: dict[Point, list[Json]], place: Place) -> list[Json]:
    """Where the default stays there is no rule."""
    ordered = sorted(verdicts, key=lambda verdict: (verdict.point.collective, verdict.point.ranks, verdict.point.size))
    found: list[Json] = []
    for _, each in groupby(ordered, key=lambda verdict: (verdict.point.collective, verdict.point.ranks)):
        group = list(each)
        if bytes_of_rules(group[0].point) is not None:
            found += _by_size(_one_for_each_size(group), plans, place)
        elif any(verdict.chosen != DEFAULT for verdict in group):
            found += _whole(group, plans, place)
    return found


def _one_for_each_size(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Several short sizes may be one to the rules: eight ranks of an alltoall send 64 bytes at least."""
    by_size = {bytes_of_rules(verdict.point): verdict for verdict in verdicts}
    return list(by_size.values())


def text_of(rules: Sequence[Json], tuned: Json) -> str:
    """The file: one rule a line, as `explain` quotes it."""
    lines = ",\n  ".join(json.dumps(rule) for rule in rules)
    body = f"\n  {lines}\n " if rules else ""
    return f'{{"schema": 1,\n "comment": "Made by `espalier tune`.",\n "tuned": {json.dumps(tuned)},\n "rules": [{body}]}}\n'
