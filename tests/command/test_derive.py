"""Machines that are described, and rules that are derived for them."""

import json
from pathlib import Path

import pytest
from conftest import LIB

from espalier.models import machine, parameters
from espalier.problem import Problem
from espalier.simulate import candidates, derive, run

needs_program = pytest.mark.skipif(
    not run.program().exists(), reason="built without Boost.Context: no espalier-simulate"
)


def xml(tmp_path: Path, objects: str) -> Path:
    file = tmp_path / "made.xml"
    file.write_text(f'<topology version="2.0"><object type="Machine" cpuset="0x000000ff">{objects}</object></topology>')
    return file


def objects(kind: str, masks: list[int]) -> str:
    return "".join(f'<object type="{kind}" cpuset="0x{mask:08x}"/>' for mask in masks)


CORES = objects("Core", [3 << 2 * i for i in range(4)])  # of two threads each


def test_xml_gives_the_shape(tmp_path):
    file = xml(tmp_path, CORES + objects("L3Cache", [0x0F, 0xF0]) + objects("NUMANode", [0x0F, 0xF0]))
    model = machine.from_xml(file)
    assert [(level["name"], level["cores"]) for level in model["simulate"]["levels"]] == [("numa", 2), ("machine", 4)]
    assert machine.cores_of(model) == 4
    assert "assumed" in model["origin"]["simulate.levels"]


def test_xml_of_one_domain(tmp_path):
    levels = machine.from_xml(xml(tmp_path, CORES))["simulate"]["levels"]
    assert [(level["name"], level["cores"]) for level in levels] == [("machine", 4)]


def test_what_is_no_machine(tmp_path):
    (tmp_path / "bad.xml").write_text("<topology")
    (tmp_path / "empty.xml").write_text("<topology/>")
    for name in ("bad.xml", "empty.xml"):
        with pytest.raises(Problem):
            machine.from_xml(tmp_path / name)
    with pytest.raises(Problem):
        machine.path_of(str(tmp_path / "none.xml"))


@pytest.mark.parametrize("name,cores", [("epyc-9654", 192), ("xeon-8490h", 120), ("grace-144", 144), ("altra-max-128", 128)])
def test_models_of_todays_machines_say_what_is_assumed(name, cores):
    model = machine.load(parameters.path_of(name))
    assert machine.cores_of(model) == cores
    assert all("assumed" in model["origin"][key] for key in ("network", "node", "simulate.levels"))


def point(size: int, **times: float) -> derive.Point:
    named = {json.dumps({"algorithm": "tree", "tree": tree}): ns for tree, ns in times.items()}
    return derive.Point("reduce", size, 100.0, "tree", named)


def test_choices_join_sizes_that_one_plan_serves_as_well():
    points = [point(8, a=100, b=90), point(64, a=100, b=102), point(512, a=100, b=200)]
    first, second = derive.choices(points)
    assert first.plan["tree"] == "b" and [each.size for each in first.points] == [8, 64]
    assert second.plan["tree"] == "a" and [each.size for each in second.points] == [512]


def test_the_default_is_never_ahead_of_itself():
    assert point(8, a=200).behind == 1
    assert point(8, a=50).behind == 2


def test_rules_serve_up_to_the_size_before_the_next(tmp_path):
    where = derive.Where(parameters.path_of("skylake-6138f"), 1, 40)
    first, second = derive.rules(where, "reduce", [point(8, a=1, b=2), point(512, a=2, b=1)])
    assert first["bytes"] == [0, 511] and second["bytes"] == [512, None]
    assert first["ranks"] == [40, 40] and first["evidence"].startswith("modelled: RG's SKL")


def test_rules_count_all_that_a_rank_sends():
    where = derive.Where(Path("any"), 1, 40)
    assert derive.size_in_rules("alltoall", 8, where) == 320
    assert derive.size_in_rules("allgather", 8, where) == 8
    assert derive.size_in_rules("scatter", 8, where) == 8, "of scatter a block, as docs/rules.md says"


def test_every_collective_has_candidates():
    for collective in ("barrier", "bcast", "reduce", "allreduce", "allgather", "allgatherv", "alltoall", "alltoallv",
                       "gather", "gatherv", "scatter", "scatterv", "scan", "exscan", "reduce_scatter"):
        for size in (0, 8, 1 << 20):
            for plans in (candidates.of_node(collective, size, 40), candidates.of_network(collective, size)):
                assert plans and len({json.dumps(plan) for plan in plans}) == len(plans)


RULES = Path(__file__).parents[2] / "src/plan/default_rules.json"


@pytest.mark.parametrize("between_nodes", [False, True])
def test_what_the_builtin_rules_take_is_among_the_candidates(between_nodes):
    """Else the rule could not be compared with the best plan."""
    missing = []
    for rule in json.loads(RULES.read_text())["rules"]:
        key = "network" if between_nodes else "algorithm"
        most_ranks, crowd = (rule.get("ranks") or [0, None])[1], (rule.get("ranks_per_core") or [0, None])[0]
        # Copies by the kernel are not modelled.
        is_simulated = (rule.get(key) not in (None, "sharp", "single-copy") and not crowd
                        and (most_ranks is None or most_ranks > 8))
        names = rule["collective"] if isinstance(rule["collective"], list) else [rule["collective"]]
        for name in names if is_simulated else []:
            sizes = (8, 512, 8192, 65536, 1 << 20)
            plans = [plan for size in sizes
                     for plan in (candidates.of_network(name, size) if between_nodes else candidates.of_node(name, size, 40))]
            if rule[key] not in {plan[key] for plan in plans}:
                missing.append((name, rule[key]))
    # Of ranks in any order, which simulation does not have.
    assert set(missing) <= {("scan", "transpose"), ("exscan", "transpose")}


@needs_program
def test_derived_rules_can_be_used(tmp_path, espalier):
    where = derive.Where(parameters.path_of("skylake-6138f"), 1, 40)
    rules = derive.rules(where, "reduce", [derive.point(where, "reduce", size) for size in (8, 65536)])
    file = tmp_path / "rules.json"
    file.write_text(json.dumps({"schema": 1, "rules": rules}))
    done = espalier("explain", "reduce", "64KiB", "-n", "40", "--cores", "40", lib=LIB, ESPALIER_RULES=str(file))
    assert done.returncode == 0, done.stderr
    assert str(file) in done.stdout and "modelled" in done.stdout


@needs_program
def test_explain_of_a_described_machine(espalier):
    done = espalier("explain", "bcast", "256KiB", "--machine", "frontera", "--nodes", "16", "--ranks-per-node", "2", lib=LIB)
    assert done.returncode == 0, done.stderr
    assert "modelled" in done.stdout and "machine" in done.stdout
    done = espalier("explain", "barrier", "--machine", "skylake-6138f", lib=LIB)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("barrier, 40 ranks"), "one for each core"
    done = espalier("explain", "barrier", "--machine", "skylake-6138f", "--synthetic", "core:4 pu:1", lib=LIB)
    assert done.returncode != 0 and "--synthetic" in done.stderr
