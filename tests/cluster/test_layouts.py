"""Ranks lie where the layout says, and MPI_COMM_TYPE_SHARED puts together those of a node."""

import json
import re

import pytest
from conftest import LAYOUTS
from emulated_cluster import parse_layout
from jobs import Job

USUAL = ["8x2", "3+1+3", "4x2-cyclic"]  # the others are of the same kinds
LINE = re.compile(r"^rank (\d+): host (\S+), (\d+) of (\d+), sum (\d+)$", re.M)


def expected(layout):
    """What nodes.c must print, as tuples in rank order."""
    where = layout.node_of_ranks()
    lines = []
    for rank, node in enumerate(where):
        together = [other for other, its in enumerate(where) if its == node]
        total = sum(other + 1 for other in together)
        lines.append((rank, f"n{node}", together.index(rank), len(together), total))
    return lines


def seen(run):
    assert run.status == 0, str(run)
    return [(int(a), host, int(b), int(c), int(d)) for a, host, b, c, d in LINE.findall(run.out)]


@pytest.mark.every_host  # each has its own launcher
@pytest.mark.parametrize(
    "layout", [pytest.param(name, marks=[] if name in USUAL else pytest.mark.full) for name in LAYOUTS]
)
def test_node_sizes(cluster, host, layout):
    wanted = parse_layout(layout)
    run = Job(cluster, host, wanted).run("nodes")
    assert seen(run) == expected(wanted), str(run)


@pytest.mark.needs_espalier
@pytest.mark.parametrize("layout", ["3+1+3", pytest.param("4x2", marks=pytest.mark.full)])
def test_the_ranks_of_a_node_meet_in_shared_memory(cluster, host, layout, tmp_path):
    """Espalier serves the communicator of a node as if the other nodes were not there."""
    statistics = tmp_path / "statistics.json"
    run = Job(cluster, host, parse_layout(layout)).run("nodes", env={"ESPALIER_STATS": str(statistics)})
    assert seen(run) == expected(parse_layout(layout)), str(run)
    rows = json.loads(statistics.read_text())["rows"]
    served = [
        row for row in rows if row["collective"] == "allreduce" and row["transport"] == "shared memory" and row["calls"]
    ]
    assert served, f"no allreduce went through shared memory: {json.dumps(rows, indent=1)[:3000]}"


@pytest.mark.parametrize(
    "text, where",
    [
        ("2x1", [0, 1]),
        ("2x2", [0, 0, 1, 1]),
        ("3+1+3", [0, 0, 0, 1, 2, 2, 2]),
        ("2x2-cyclic", [0, 1, 0, 1]),
        ("3+1+2-cyclic", [0, 1, 2, 0, 2, 0]),
    ],
)
def test_layouts_say_where_ranks_lie(text, where):
    layout = parse_layout(text)
    assert layout.node_of_ranks() == where and str(layout) == text and layout.ranks == len(where)


@pytest.mark.parametrize("text", ["", "x2", "4x0", "3+0+3", "4x2-random", "-cyclic", "0x2"])
def test_what_is_no_layout_is_refused(text):
    with pytest.raises(ValueError):
        parse_layout(text)
