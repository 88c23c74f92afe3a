"""Tables of docs/cost-model.md: HIER's Table 1 beside the model, and the emulated cluster beside it."""

from __future__ import annotations

from figures.outputs import cells
from figures.text import table

Row = list[str]


def published(output: str) -> list[list[Row]]:
    """The rows of each `espalier explain --published` that ran, without their heads."""
    found: list[list[Row]] = []
    for line in output.splitlines():
        if line.startswith("collective"):
            found.append([])
        elif line.startswith("model:"):
            continue
        elif found and line and not line.startswith(" ") and "; times in" not in line and not line.startswith("/"):
            row = cells(line)
            if len(row) >= 9:
                found[-1].append(row)
    return found


def table_one(output: str) -> list[list[str]]:
    """Beside HIER's numbers the model of HIER's algorithms, then Espalier's own rules."""
    (rows,) = published(output)
    there = table(["", "size", "HIER: total", "node", "ideal", "model: total", "node", "ideal"], [row[:8] for row in rows])
    own = table(["", "size", "total", "node", "ideal", "between nodes"], [[*row[:2], *row[8:12]] for row in rows])
    return [there, own]


def spaced(size: str) -> str:
    """64KiB as the page has it: 64 KiB."""
    unit = size.lstrip("0123456789")
    return f"{size.removesuffix(unit)} {unit}" if unit != size else size


def emulated(output: str) -> list[list[str]]:
    of_hosts = published(output)
    rows = []
    for lines in zip(*of_hosts):
        pairs = [f"{line[2]}, {line[5]}" for line in lines]
        rows.append([lines[0][0], spaced(lines[0][1]), *pairs])
    return [table(["", "", "MPICH: measured, model", "Open MPI", "Intel MPI"], rows)]


TABLES = {"cost-table-1": table_one, "cost-emulated": emulated}
