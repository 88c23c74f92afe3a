"""explain for calls over nodes: what it asks the library, what it prints, and the model beside published numbers."""

import json
import re

import pytest
from conftest import RECORDED, ROOT

from espalier.explain import nodes
from espalier.models import parameters
from espalier.problem import Problem

OPTERON = ROOT / "python" / "espalier" / "models" / "opteron.json"


def asked(describer):
    return json.loads((describer / "request.json").read_text())


def replace(describer, **changes):
    recorded = json.loads((RECORDED / "network.json").read_text())
    (describer / "network.json").write_text(json.dumps({**recorded, **changes}))


def lines_of(result):
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_asks_for_the_network_and_names_every_rule(espalier, describer):
    result = espalier(
        "explain", "allreduce", "64KiB", "--nodes", 16, "--ranks-per-node", 4, "--cores", 2, lib=describer
    )
    assert asked(describer) == {
        "what": "network",
        "collective": "allreduce",
        "bytes": 65536,
        "commutative": True,
        "ranks_per_core": 2.0,
        "nodes": 16,
        "ranks_per_node": 4,
        "node_stage": "shared",
        "consecutive": True,
        "model": str(OPTERON),
    }
    lines = lines_of(result)
    assert lines[0] == "allreduce, 64KiB per rank, 16 nodes of 4 ranks"
    rules = [line.split()[1] for line in lines if line.startswith("  rule ")]
    assert rules == [f"src/plan/default_rules.json:{number}" for number in (63, 17, 12)]
    assert any('"network": "rabenseifner", "segment": "256KiB"' in line for line in lines)
    assert (
        "  predicted  1858 µs, of which node stage 130 µs; ideal speed-up if the node stage cost nothing: 1.08"
        in lines
    )
    assert "1 segment, each 8 messages one after the other between nodes" in result.stdout
    assert "travel" not in result.stdout
    assert lines[-1].endswith("fitted to HIER's Table 1")


def test_says_what_of_the_node_stage_is_hidden(espalier, describer):
    recorded = json.loads((RECORDED / "network.json").read_text())["prediction"]
    replace(describer, prediction={**recorded, "node_alone_ns": 1e6, "segments": 4})
    result = espalier("explain", "allreduce", "1MiB", "--nodes", 16, "-n", 64, lib=describer)
    assert "node stage alone 1000 µs, of which 870 µs pass while messages travel" in result.stdout
    assert "4 segments, each 8 messages" in result.stdout


def test_options_of_the_nodes(espalier, describer, tmp_path):
    model = tmp_path / "mine.json"
    model.write_text("{}")
    result = espalier(
        "explain", "scan", "8", "--nodes", 3, "-n", 6, "--cyclic", "--node-stage", "messages", "--op", "user",
        "--model", model, lib=describer,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    request = asked(describer)
    assert (request["ranks_per_node"], request["consecutive"], request["node_stage"]) == (2, False, "messages")
    assert (request["commutative"], request["ranks_per_core"], request["model"]) == (False, None, str(model))


def test_takes_the_usable_cores_of_a_node(espalier, describer):
    lines = lines_of(espalier("explain", "allreduce", "8", "--nodes", 4, lib=describer))
    assert lines[0] == "allreduce, 8B per rank, 4 nodes of 8 ranks" and asked(describer)["ranks_per_node"] == 8


def test_without_a_prediction_it_says_why(espalier, describer):
    nowhere = {"file": "", "line": 0, "text": ""}
    replace(
        describer,
        prediction=None,
        no_prediction="the host MPI serves this call",
        node=[],
        network={"algorithm": "host", "segment": 1, "leaders": 1, "tree": None, "rule": nowhere},
        warnings=["a rule is odd"],
    )
    lines = lines_of(espalier("explain", "allgather", "8", "--nodes", 2, "-n", 4, lib=describer))
    assert "  predicted  nothing: the host MPI serves this call" in lines
    assert "  warning    a rule is odd" in lines
    assert not any(line.split()[0] in ("rule", "segment", "leaders") for line in lines)


def test_an_allreduce_inside_has_rules_of_its_own(espalier, describer):
    recorded = json.loads((RECORDED / "network.json").read_text())["network"]
    rule = {"file": "r.json", "line": 7, "text": "text of r"}
    replace(describer, network={**recorded, "algorithm": "allreduce", "rule": rule}, allreduce=recorded)
    lines = lines_of(espalier("explain", "reduce_scatter", "64KiB", "--nodes", 16, "-n", 64, lib=describer))
    assert lines[1:4] == ["  network    allreduce", "  rule       r.json:7", "             text of r"]
    assert lines[4] == "  allreduce  rabenseifner" and "  segment    256KiB" in lines


def test_one_node_is_as_ever(espalier, describer):
    plain = espalier("explain", "allreduce", "64KiB", "-n", 8, lib=describer)
    assert asked(describer)["what"] == "plan"
    one = espalier("explain", "allreduce", "64KiB", "--nodes", 1, "--ranks-per-node", 8, lib=describer)
    assert asked(describer)["what"] == "plan" and asked(describer)["ranks"] == 8
    assert one.stdout == plain.stdout


@pytest.mark.parametrize(
    "words, said",
    [
        (["--nodes", 4, "-n", 6], "6 ranks are not 4 nodes with equally many each"),
        (["--nodes", 4, "-n", 8, "--ranks-per-node", 3], "8 ranks are not 4 nodes with 3 each"),
        (["--nodes", 4, "-n", 8, "--node-stage", "pigeons"], "pigeons"),
        (["--nodes", 4, "-n", 8, "--model", "/no/such"], "there is no such file, and Espalier's own are a64fx"),
    ],
)
def test_bad_input_is_one_line(espalier, describer, words, said):
    result = espalier("explain", "bcast", "8", *words, lib=describer)
    assert result.returncode == 2
    assert re.fullmatch(rf"espalier: .*{re.escape(said)}.*\n", result.stderr), result.stderr


def test_published_rows_stand_beside_the_model(espalier, describer):
    lines = lines_of(espalier("explain", "--published", lib=describer))
    assert lines[0] == "HIER, Table 1: 16 nodes of 4 ranks; times in µs"
    rows = [re.split(r"\s{2,}", line.strip()) for line in lines]
    assert ["bcast", "4B", "37.0", "8.00", "1.276", *["1858", "130", "1.075"] * 2, "rabenseifner"] in rows
    assert ["barrier", "–", "252", "14.0", "1.059", *["1858", "130", "1.075"] * 2, "rabenseifner"] in rows
    assert sum(row[0] in ("bcast", "reduce", "scan", "allreduce", "barrier") for row in rows) == 12
    assert asked(describer)["collective"] == "barrier" and "network" not in asked(describer)


def test_measured_calls_without_a_plan_or_a_node_stage(espalier, describer, tmp_path):
    model = tmp_path / "m.json"
    row = {"collective": "bcast", "bytes": 8, "total_ns": 9000, "node_ns": None, "plan": None}
    found = {"source": "bench", "nodes": 4, "ranks_per_node": 2, "node_stage": "shared", "rows": [row]}
    model.write_text(json.dumps({"published": found}))
    lines = lines_of(espalier("explain", "--published", "--model", model, lib=describer))
    assert lines[0] == "bench: 4 nodes of 2 ranks; times in µs"
    cells = re.split(r"\s{2,}", lines[3].strip())
    assert cells == ["bcast", "8B", "9.00", "–", "–", "1858", "130", "1.075", "rabenseifner"]
    assert not any("Espalier" in line for line in lines)
    row["node_ns"] = 9000
    model.write_text(json.dumps({"published": found}))
    assert "less than the whole" in espalier("explain", "--published", "--model", model, lib=describer).stderr


def test_a_model_without_measured_calls(espalier, describer, tmp_path):
    model = tmp_path / "m.json"
    lacking = '{"published": {"source": "s"}}'
    for text, said in (("{}", "no measured calls"), ("{", "cannot be read"), (lacking, "'nodes'")):
        model.write_text(text)
        result = espalier("explain", "--published", "--model", model, lib=describer)
        assert result.returncode == 2 and said in result.stderr and result.stderr.count("\n") == 1


def test_table_one_of_hier_is_copied_rightly():
    # The ideal speed-ups that HIER prints, to its three digits.
    printed = [1.276, 1.046, 1.020, 1.057, 1.044, 1.058, 1.138, 1.172, 1.054, 1.040, 1.108, 1.059]
    rows = parameters.published(OPTERON)["rows"]
    found = [row["total_ns"] / (row["total_ns"] - row["node_ns"]) for row in rows]
    assert [round(value, 3) for value in found] == printed


def test_shape_of_two_numbers_out_of_three():
    assert nodes.shape(4, 2, None) == (4, 2)
    assert nodes.shape(4, None, 8) == (4, 2)
    assert nodes.shape(4, 2, 8) == (4, 2)
    with pytest.raises(Problem):
        nodes.shape(4, None, 9)
