"""Simulated times as a table and as plots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from espalier import picture
from espalier.sizes import print_bytes

Json = dict[str, Any]
# Okabe and Ito's palette, which colour-blind readers can tell apart.
_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_MARKERS = ["o", "s", "^", "D", "v", "P", "x"]
_ACTS = {"work": "#999999", "copy": "#009E73", "fold": "#E69F00", "publish": "#0072B2", "await": "#56B4E9",
         "send": "#D55E00", "receive": "#CC79A7", "complete": "#F0E442", "aggregate": "#000000"}


def _key(row: Json) -> tuple[int, int, int]:
    return row["bytes"], row["ranks_per_node"], row["nodes"]


def _names(answer: Json) -> list[str]:
    return list(dict.fromkeys(row["variant"] for row in answer["rows"]))


def _by_key(answer: Json) -> dict[tuple[int, int, int], dict[str, Json]]:
    found: dict[tuple[int, int, int], dict[str, Json]] = {}
    for row in answer["rows"]:
        found.setdefault(_key(row), {})[row["variant"]] = row
    return found


def table(request: Json, answer: Json) -> str:
    """A line for each size and shape, a column for each variant, in microseconds; how much the last is faster than the
    first."""
    names = _names(answer)
    head = ["bytes", "nodes", "ranks/node", *names, *(["first/last"] if len(names) > 1 else [])]
    lines = [head]
    for (size, ranks, nodes), rows in sorted(_by_key(answer).items()):
        cells = [print_bytes(size) if size else "-", str(nodes), str(ranks)]
        cells += [f"{rows[name]['ns'] / 1000:.2f}" for name in names]
        if len(names) > 1:
            cells.append(f"{rows[names[0]]['ns'] / rows[names[-1]]['ns']:.2f}")
        lines.append(cells)
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = [f"{request['collective']}, us until the last rank is through, simulated: {answer['model']}"]
    text += ["  ".join(cell.rjust(width) for cell, width in zip(line, widths)) for line in lines]
    return "\n".join(text)


def _pyplot() -> Any:
    import matplotlib

    matplotlib.use("agg")
    matplotlib.rcParams.update({"svg.fonttype": "none", "axes.grid": True, "grid.color": "#dddddd",
                                "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False})
    import matplotlib.pyplot as plt

    return plt


def plot(request: Json, answer: Json, out: Path) -> None:
    """NAME.png and NAME.svg: the timeline where there is one, else times over what varies most."""
    plt = _pyplot()
    figure = _timeline(plt, answer) if answer["timeline"] else _times(plt, request, answer)
    picture.save_png(figure, Path(f"{out}.png"), dpi=150)
    figure.savefig(f"{out}.svg", bbox_inches="tight", dpi=150)
    plt.close(figure)


def _axis_of(answer: Json) -> str:
    return max(("nodes", "bytes", "ranks_per_node"), key=lambda axis: len({row[axis] for row in answer["rows"]}))


def _times(plt: Any, request: Json, answer: Json) -> Any:
    axis = _axis_of(answer)
    others = [name for name in ("bytes", "ranks_per_node", "nodes") if name != axis]
    figure, axes = plt.subplots(figsize=(7, 4.5))
    lines: dict[tuple[Any, ...], list[Json]] = {}
    for row in answer["rows"]:
        lines.setdefault((row["variant"], *(row[name] for name in others)), []).append(row)
    names = _names(answer)
    for number, (key, rows) in enumerate(lines.items()):
        rows.sort(key=lambda row: row[axis])
        varied = [f"{value} {name.replace('_', ' ')}" for name, value in zip(others, key[1:])
                  if len({row[name] for row in answer["rows"]}) > 1]
        at, colour = [row[axis] for row in rows], _COLOURS[number % len(_COLOURS)]
        axes.plot(at, [row["ns"] / 1000 for row in rows], color=colour, marker=_MARKERS[names.index(key[0]) % len(_MARKERS)],
                  markersize=4, label=", ".join([key[0], *varied]))
        axes.fill_between(at, [row["lowest_ns"] / 1000 for row in rows], [row["highest_ns"] / 1000 for row in rows],
                          color=colour, alpha=0.15, linewidth=0)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel({"nodes": "nodes", "bytes": "bytes per rank", "ranks_per_node": "ranks per node"}[axis])
    axes.set_ylabel("us, simulated")
    axes.set_title(f"{request['collective']}: {answer['model']}", fontsize=9)
    axes.legend(fontsize=8)
    return figure


def _timeline(plt: Any, answer: Json) -> Any:
    """A lane a rank; what it waits for takes its time until it has it."""
    names = list(dict.fromkeys(span["variant"] for span in answer["timeline"]))
    figure, all_axes = plt.subplots(len(names), 1, figsize=(9, 1 + 3 * len(names)), squeeze=False)
    for axes, name in zip(all_axes[:, 0], names):
        seen: set[str] = set()
        for span in answer["timeline"]:
            if span["variant"] != name:
                continue
            act = span["act"]
            axes.barh(span["rank"], (span["end_ns"] - span["begin_ns"]) / 1000, left=span["begin_ns"] / 1000,
                      color=_ACTS[act], height=0.8, linewidth=0, label=None if act in seen else act)
            seen.add(act)
        axes.set_ylabel("rank")
        axes.set_xlabel("us, simulated")
        axes.set_title(name, fontsize=9)
        axes.invert_yaxis()
        axes.legend(fontsize=7, ncol=len(seen), loc="upper center", bbox_to_anchor=(0.5, -0.2))
    figure.tight_layout()
    return figure
