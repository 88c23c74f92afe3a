"""The notified ring of allgather, allgatherv and allreduce across emulated nodes: every result checked, by every transport."""

import json
import os
import re

import hosts
import pytest
from emulated_cluster import parse_layout

pytestmark = pytest.mark.needs_espalier

SUBJECTS = "blocks,sizes" if os.environ.get("ESPALIER_TEST_FULL") == "1" else "blocks,in_place"
SERVED = ("allgather", "allgatherv", "allreduce")
RING = {f"ESPALIER_NETWORK_{name.upper()}": "notified-ring" for name in SERVED} | {"ESPALIER_FALLBACK": "error"}
OTHERS = [(name, kind, layout) for layout in ("3+1+3", "4x2", "8x2", "4x2-cyclic")
          for name, kind in [(name, kind) for name in hosts.THREE for kind in ("message", "rma")] + [("impi", "notify")]]


@pytest.mark.parametrize("name, kind, layout", [("openmpi", "message", "4x2")] + [
    pytest.param(*row, marks=pytest.mark.full) for row in OTHERS if row != ("openmpi", "message", "4x2")])
def test_results_are_right(run_on, name, kind, layout, tmp_path):
    file = tmp_path / "statistics.json"
    env = {**RING, "ESPALIER_WINDOW_TRANSPORT": kind, "ESPALIER_SEGMENT": "4000", "ESPALIER_STATS": str(file)}
    run = run_on(hosts.HOSTS[name], layout, "checked", "--only", SUBJECTS, env=env, timeout=400)
    line = re.search(r"^(\d+) passed, 0 failed, (\d+) ranks$", run.out, re.M)
    assert run.status == 0 and line and int(line[1]) > 50 and int(line[2]) == parse_layout(layout).ranks, str(run)
    rows = [row for row in json.loads(file.read_text())["rows"] if row["collective"] in SERVED
            and row["calls"] and row["transport"] == "shared memory and messages"]
    assert {row["collective"] for row in rows} == set(SERVED) and {row["algorithm"] for row in rows} == {"notified-ring"}
