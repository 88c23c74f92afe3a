"""What a tuning has found, as a table and as a heat map."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from espalier import picture, terminal
from espalier.bench.collectives import NAMES
from espalier.digits import three_digits
from espalier.measured.point import DEFAULT, HOST, Point
from espalier.sizes import print_bytes
from espalier.terminal import Column
from espalier.tune.verdict import Verdict

Json = dict[str, Any]


def plan_in_words(side: str, plans: Sequence[Json]) -> str:
    if side in (HOST, DEFAULT):
        return "host" if side == HOST else "default"
    plan = plans[int(side) - 1]
    words = [plan["algorithm"], *(f"chunk {print_bytes(value)}" for key, value in plan.items() if key == "chunk")]
    trees = [str(plan[key]) for key in ("tree", "gather_tree", "release_tree") if key in plan]
    return ", ".join([*words, *trees])


def _us(value: Optional[float]) -> str:
    return "" if value is None else three_digits(value)


def table(verdicts: Sequence[Verdict], plans: dict[Point, list[Json]]) -> None:
    """The calls whose rule changes, the largest gain first."""
    changed = [each for each in verdicts if each.chosen != DEFAULT and each.gain]
    changed.sort(key=lambda each: each.gain.middle if each.gain else 1)
    rows = []
    for each in changed:
        assert each.gain is not None
        size = print_bytes(each.point.size) if each.point.size else "-"
        rows.append([each.point.collective, size, str(each.point.ranks), plan_in_words(each.chosen, plans[each.point]),
                     _us(each.us.get(each.chosen)), _us(each.us.get(DEFAULT)), _us(each.us.get(HOST)),
                     f"{1 / each.gain.middle:.2f}", f"{1 / each.gain.high:.2f}"])
    columns = [Column("collective"), Column("bytes", True), Column("ranks", True), Column("now served by", wraps=True),
               Column("us", True), Column("default", True), Column("host", True), Column("times as fast", True),
               Column("at least", True)]
    if rows:
        terminal.print_table(columns, rows)


def summary(verdicts: Sequence[Verdict]) -> str:
    by_why: dict[str, int] = {}
    for each in verdicts:
        if each.chosen == DEFAULT:
            by_why[each.why] = by_why.get(each.why, 0) + 1
    hosts = sum(1 for each in verdicts if each.chosen == HOST)
    changed = sum(1 for each in verdicts if each.chosen != DEFAULT)
    stays = ", ".join(f"{count} {why}" for why, count in sorted(by_why.items(), key=lambda item: -item[1]))
    by_host = f" ({hosts} by the host)" if hosts else ""
    if any("budget" in why or "too few" in why for why in by_why):
        stays += "; a longer --budget measures what is left, or fewer calls: --ranks, --collectives, --sizes"
    others = f"the default stays for {len(verdicts) - changed}" + (f": {stays}" if stays else "")
    return f"{len(verdicts)} calls measured: {changed} are served in another way{by_host}; {others}"


def document(verdicts: Sequence[Verdict], plans: dict[Point, list[Json]], tuned: Json) -> Json:
    """What --json writes."""
    rows = [{
        "collective": each.point.collective, "bytes": each.point.size, "ranks": each.point.ranks, "why": each.why,
        "rounds": each.rounds, "served_by": plan_in_words(each.chosen, plans[each.point]),
        "ratio": list(each.gain) if each.gain else None,
        "us": {plan_in_words(side, plans[each.point]): round(us, 4) for side, us in each.us.items()},
    } for each in verdicts]
    return {"schema": "espalier-tuning/1", "tuned": tuned, "calls": rows}


def plot(verdicts: Sequence[Verdict], plans: dict[Point, list[Json]], title: str, path: Path) -> None:
    """A field a call. Its colour: how many times as fast as the host it is now (of a described machine, as the default). Words:
    what serves it from now on, and how many times as fast that is as the default."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import LogNorm

    all_ranks = sorted({each.point.ranks for each in verdicts})
    figure, all_axes = plt.subplots(1, len(all_ranks), figsize=(2.2 + 3.6 * len(all_ranks), 5.5), squeeze=False, sharey=True,
                                    layout="constrained")
    beside = HOST if any(HOST in each.us for each in verdicts) else DEFAULT
    image: Any = None
    for axes, ranks in zip(all_axes[0], all_ranks):
        image = _field(axes, [each for each in verdicts if each.point.ranks == ranks], plans, beside, LogNorm(0.5, 50))
        axes.set_title(f"{ranks} ranks", fontsize=9)
    figure.suptitle(title, fontsize=9)
    bar = figure.colorbar(image, ax=list(all_axes[0]), shrink=0.7, label=f"times as fast as the {plan_in_words(beside, [])}")
    bar.set_ticks([0.5, 1, 2, 5, 10, 20, 50], labels=["0.5", "1", "2", "5", "10", "20", "50"])
    if path.suffix == ".svg":
        figure.savefig(path, bbox_inches="tight")
    else:
        picture.save_png(figure, path, dpi=120)
    plt.close(figure)


def _field(axes: Any, verdicts: Sequence[Verdict], plans: dict[Point, list[Json]], beside: str, scale: Any) -> Any:
    names = [name for name in NAMES if any(each.point.collective == name for each in verdicts)]
    sizes = sorted({each.point.size for each in verdicts if each.point.size}) or [0]
    field = [[math.nan for _ in sizes] for _ in names]
    for each in verdicts:
        row, column = names.index(each.point.collective), sizes.index(each.point.size) if each.point.size else 0
        if each.us.get(each.chosen) and each.us.get(beside):
            field[row][column] = each.us[beside] / each.us[each.chosen]
        if each.chosen != DEFAULT and each.gain is not None:
            words = "host" if each.chosen == HOST else str(plans[each.point][int(each.chosen) - 1]["algorithm"])
            axes.text(column, row, f"{words} {1 / each.gain.middle:.2g}", ha="center", va="center", fontsize=6)
    image = axes.imshow(field, cmap="YlGn", norm=scale, aspect="auto")
    axes.set_xticks(range(len(sizes)), [print_bytes(size) if size else "-" for size in sizes], fontsize=7)
    axes.set_yticks(range(len(names)), names, fontsize=7)
    return image
