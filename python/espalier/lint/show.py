"""Findings as a table, a plot and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from espalier import picture, terminal
from espalier.digits import three_digits
from espalier.lint.findings import Finding
from espalier.lint.run import Found
from espalier.measured.point import Point
from espalier.measured.times import Key
from espalier.sizes import print_bytes
from espalier.terminal import Column

Json = dict[str, Any]

_PANELS = 6  # of a plot
_COLOUR, _OTHER, _GREEN = "#0072B2", "#D55E00", "#009E73"


def remedy_in_words(remedy: Json) -> str:
    if remedy["us"] is None:
        return f"{remedy['title']}: could not be tried ({remedy['why_not']})"
    change = f"{three_digits(remedy['factor'])} times as fast" if remedy["factor"] >= 1 else "slower"
    return f"{remedy['title']}: {three_digits(remedy['us'])} us, {change}{', removes it' if remedy['removes'] else ''}"


def _untold(finding: Finding) -> str:
    if finding.is_gone_alone:
        return f"none: in a job that makes no other call it takes {three_digits(finding.alone_us or 0)} us"
    return "not tried" if finding.alone_us is None else "none found"


def table(findings: Sequence[Finding]) -> None:
    if not findings:
        return
    rows = []
    for finding in findings:
        told = "\n".join(remedy_in_words(remedy) for remedy in finding.remedies[:3]) or _untold(finding)
        rows.append([finding.call, finding.kind, three_digits(finding.us), three_digits(finding.factor), finding.what, told])
    columns = [Column("call"), Column("kind"), Column("us", True), Column("times too long", True), Column("beside", wraps=True),
               Column("remedy", wraps=True)]
    terminal.print_table(columns, rows)


def summary(found: Found) -> str:
    removed = sum(any(remedy["removes"] for remedy in finding.remedies) for finding in found.findings)
    tried = sum(bool(finding.remedies) for finding in found.findings)
    measured = f"{len(found.times.calls())} calls measured in {found.seconds:.0f} s, {len(found.findings)} findings"
    remedies = f"; of {tried} for which remedies were tried {removed} are removed by one" if tried else ""
    lines = [f"{found.host_version}: {measured}{remedies}"]
    lines += [f"not measured: {each}" for each in found.not_measured]
    return "\n".join(lines)


def _key_document(key: Key) -> Json:
    return {"collective": key.point.collective, "bytes": key.point.size, "ranks": key.point.ranks, "way": key.way}


def document(found: Found) -> Json:
    times = []
    for key in found.times.calls():
        us = found.times.of(key)
        if us is not None:
            times.append({**_key_document(key), "us": [round(value, 4) for value in us]})
    findings = [{**_key_document(each.key), "kind": each.kind, "us": round(each.us, 4), "expected_us": round(each.expected, 4),
                 "factor": round(each.factor, 3), "what": each.what, "remedies": each.remedies,
                 "alone_us": None if each.alone_us is None else round(each.alone_us, 4)} for each in found.findings]
    return {"schema": "espalier-lint/1", "host": found.host_version, "cores": found.cores, "findings": findings, "times": times,
            "not_measured": found.not_measured}


def plot(found: Found, path: Path) -> None:
    """A panel for each collective and number of ranks that has a finding: times over sizes, with the findings marked."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys(finding.key.point[:2] for finding in found.findings))[:_PANELS]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, all_axes = plt.subplots(rows, columns, figsize=(4.2 * columns, 3.4 * rows), squeeze=False)
    for axes in all_axes.flat[len(panels):]:
        axes.set_visible(False)
    for axes, (ranks, name) in zip(all_axes.flat, panels):
        _panel(axes, found, ranks, name)
    figure.suptitle(found.host_version, fontsize=9)
    figure.tight_layout()
    if path.suffix == ".svg":
        figure.savefig(path, bbox_inches="tight")
    else:
        picture.save_png(figure, path, dpi=120)
    plt.close(figure)


def _panel(axes: Any, found: Found, ranks: int, name: str) -> None:
    sizes = found.times.sizes(ranks, name)
    measured = [(max(size, 1), us) for size in sizes if (us := found.times.of(Key(Point(ranks, name, size)))) is not None]
    at = [size for size, _ in measured]
    axes.plot(at, [us.middle for _, us in measured], color=_COLOUR, marker="o", markersize=3)
    axes.fill_between(at, [us.low for _, us in measured], [us.high for _, us in measured], color=_COLOUR, alpha=0.2, linewidth=0)
    mine = [finding for finding in found.findings if finding.key.point[:2] == (ranks, name)]
    axes.plot([max(each.key.point.size, 1) for each in mine], [each.us for each in mine], "x", color=_OTHER, label="too long")
    helped = [(max(each.key.point.size, 1), each.remedies[0]["us"]) for each in mine if each.remedies and each.remedies[0]["us"]]
    if helped:
        axes.plot([size for size, _ in helped], [us for _, us in helped], "v", color=_GREEN, markersize=4, label="best remedy")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_title(f"{name}, {ranks} ranks", fontsize=9)
    axes.set_xlabel("bytes per rank", fontsize=8)
    axes.set_ylabel("us", fontsize=8)
    if sizes:
        axes.set_xticks(at[::4], [print_bytes(size) for size in at[::4]], fontsize=7)
    axes.legend(fontsize=7)
