"""HIER 4.4 measured: what shared memory within the nodes is worth, beside HIER's own estimate."""

from __future__ import annotations

from figures.text import table

# Table 1: speed-up of a collective whose node stage costs nothing, 16 nodes of 4 ranks.
IDEAL = {("bcast", "8B"): "1.276", ("bcast", "256KiB"): "1.046", ("reduce", "8B"): "1.020", ("reduce", "256KiB"): "1.057",
         ("reduce", "1MiB"): "1.044", ("allreduce", "8B"): "1.054", ("allreduce", "256KiB"): "1.040",
         ("allreduce", "1MiB"): "1.108",
         ("scan", "8B"): "1.058", ("scan", "256KiB"): "1.138", ("scan", "1MiB"): "1.172", ("barrier", "–"): "1.059"}
HEAD = ("host", "layout", "collective", "bytes", "messages", "shared memory", "by the medians", "beside the host")

Rows = dict[tuple[str, str], list[str]]


def pairs(output: str) -> list[Rows]:
    """The table \"node stages\" of each `bench/cluster --read` that ran, by collective and size."""
    found: list[Rows] = []
    inside = False
    for line in output.splitlines():
        if line.startswith("node stages"):
            inside = True
            found.append({})
        elif line.startswith("└"):
            inside = False
        elif inside and line.startswith("│"):
            cells = [cell.strip() for cell in line.strip("│ ").split("│")]
            if len(cells) != len(HEAD):
                raise ValueError(f"{len(cells)} columns instead of {len(HEAD)}: {line}")
            found[-1][cells[2], cells[3]] = cells
    return found


def median(cell: str) -> str:
    return cell.split(" ")[0]


def stages(output: str) -> list[list[str]]:
    (run,) = pairs(output)
    rows = [[key[0], key[1].replace("KiB", " KiB").replace("MiB", " MiB"), f"{median(cells[4])} → {median(cells[5])}", *cells[6:],
             IDEAL.get(key, "–")] for key, cells in run.items()]
    return [table(["4x2, MPICH", "", "µs, messages → shared memory", "ratio", "beside the host", "HIER, ideal"], rows)]


TABLES = {"hier-node-stages": stages}
