"""`espalier simulate`: what it asks for, and what it makes of the answer."""

import json
import os

import pytest
from conftest import LIB, ROOT

from espalier.models import parameters
from espalier.simulate import calibrate, run, show
from espalier.problem import Problem
from espalier.simulate.command import noise_of, numbers
from espalier.simulate.plans import variants_of

needs_program = pytest.mark.skipif(
    not run.program().exists(), reason="built without Boost.Context: no espalier-simulate"
)


@pytest.mark.parametrize(
    "text,found",
    [("4", [4]), ("1,2,16", [1, 2, 16]), ("4..7861", [4, *(1 << i for i in range(3, 13)), 7861]), ("8..8", [8])],
)
def test_numbers(text, found):
    assert numbers(text) == found


@pytest.mark.parametrize("text", ["", "x", "0", "8..4", "4..y"])
def test_numbers_that_are_none(text):
    with pytest.raises(Problem):
        numbers(text)


def test_noise():
    assert noise_of("100x4us") == {"rate_hz": 100.0, "duration_ns": 4000.0, "skew_ns": 0.0}
    for text in ("100", "x4us", "100x4"):
        with pytest.raises(Problem):
            noise_of(text)


def test_plans_are_written_as_rules():
    assert variants_of("reduce", "", ["flat:algorithm=tree tree=flat"]) == [
        {"name": "flat", "node": {"algorithm": "tree", "tree": "flat"}}
    ]
    assert variants_of("allreduce", "", ["d:network=tree tree='kary:3' node.tree=flat node.algorithm=tree"]) == [
        {"name": "d", "network": {"network": "tree", "tree": "kary:3"}, "node": {"tree": "flat", "algorithm": "tree"}}
    ]


@pytest.mark.parametrize("versus,plans", [("", []), ("mars", []), ("", ["flat"]), ("", ["a:segment=4KiB"]), ("", ["a:b"])])
def test_plans_that_are_none(versus, plans):
    with pytest.raises(Problem):
        variants_of("allreduce", versus, plans)


ROWS = {
    "model": "made up",
    "timeline": [],
    "rows": [
        {"variant": v, "bytes": 16, "nodes": n, "ranks_per_node": 1, "ns": ns, "lowest_ns": ns, "highest_ns": ns}
        for v, n, ns in (("host", 4, 3000.0), ("host", 8, 4500.0), ("sharp", 4, 1500.0), ("sharp", 8, 1500.0))
    ],
}


def test_table_and_plots(tmp_path):
    text = show.table({"collective": "reduce"}, ROWS)
    assert text.splitlines()[-1].split() == ["16B", "8", "1", "4.50", "1.50", "3.00"]
    show.plot({"collective": "reduce"}, ROWS, tmp_path / "a")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "a.svg").read_text()


@needs_program
def test_command(espalier, tmp_path):
    done = espalier(
        "simulate", "allreduce", "16", "--nodes", "4..64", "--versus", "host,sharp", "--out", tmp_path / "a", lib=LIB
    )
    assert done.returncode == 0, done.stderr
    assert "Frontera" in done.stdout
    found = json.loads((tmp_path / "a.json").read_text())
    times = {(row["variant"], row["nodes"]): row["ns"] for row in found["rows"]}
    assert times["host", 64] > times["host", 4] > times["sharp", 4]
    assert found["file"] == found["request"]["model"] == "frontera"  # not where it lies on this machine


@needs_program
def test_who_knows_of_nodes_is_as_fast_from_every_root(espalier):
    """HIER's Fig. 1: a tree over ranks crosses between nodes once more when the root is not the first rank."""
    flat, by_nodes = set(), set()
    for root in (0, 1):
        done = espalier(
            *("simulate", "bcast", "4", "--machine", "opteron", "--nodes", "4", "--ppn", "4", "--root", root, "--versus", ""),
            *("--plan", "flat:stage=none network=tree tree=knomial:2"),
            *("--plan", "hier:stage=messages network=tree tree=knomial:2"),
            lib=LIB,
        )
        assert done.returncode == 0, done.stderr
        columns = done.stdout.splitlines()[-1].split()
        flat.add(columns[3])
        by_nodes.add(columns[4])
    assert len(flat) == 2 and len(by_nodes) == 1


@needs_program
def test_timeline(espalier, tmp_path):
    done = espalier("simulate", "allreduce", "64", "--ppn", "8", "--timeline", "--out", tmp_path / "t", lib=LIB)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "t.json").read_text())["timeline"]


@needs_program
@pytest.mark.parametrize(
    "arguments,said",
    [
        (["alldance"], "is no collective"),
        (["allreduce", "--machine", "/no/such"], "there is no such file"),
        (["allreduce", "--timeline"], "--out"),
        ([], "simulate what?"),
    ],
)
def test_mistakes(espalier, arguments, said):
    done = espalier("simulate", *arguments, lib=LIB)
    assert done.returncode != 0
    assert said in done.stderr


@needs_program
@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core: nothing passes between cores")
def test_a_measured_model_can_be_simulated(espalier, tmp_path):
    file = tmp_path / "here.json"
    done = espalier("simulate", "--calibrate", file, lib=LIB)
    assert done.returncode == 0, done.stderr
    made = json.loads(file.read_text())
    frontera = json.loads(parameters.path_of("frontera").read_text())
    assert made["network"] == frontera["network"] and "frontera" in made["origin"]["network"]
    assert all(level["line_ns"] > 0 and level["copy_ns_per_byte"] > 0 for level in made["simulate"]["levels"])
    assert made["simulate"]["own_copy_ns_per_byte"] > 0 and made["simulate"]["wake_ns"] > 0
    cores = made["simulate"]["levels"][-1]["cores"]
    done = espalier("simulate", "allreduce", "8", "--machine", file, "--ppn", f"{cores},{2 * cores}", lib=LIB)
    assert done.returncode == 0, done.stderr


def test_a_machine_with_one_core_says_so(monkeypatch, tmp_path):
    """What the program that measures says is what the command says."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / run.MEASURE
    program.write_text("#!/bin/sh\necho '{\"error\": \"one usable core\"}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("ESPALIER_LIB", str(tmp_path / "lib"))
    with pytest.raises(Problem, match="one usable core"):
        calibrate.calibrate(tmp_path / "here.json", "frontera")
    assert not (tmp_path / "here.json").exists()
