"""simulation/prediction.py and contention.py: what they make of predicted and measured times."""

import importlib.util
import json

import pytest
from conftest import ROOT


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "simulation" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


prediction, contention = tool("prediction"), tool("contention")


def point(plan, predicted, measured, size=8, collective="bcast", ranks=2):
    return {"collective": collective, "plan": plan, "bytes": size, "ranks": ranks, "predicted_ns": predicted,
            "measured_ns": measured, "low_ns": measured, "high_ns": measured}


POINTS = [
    point("a", 100, 200), point("b", 150, 150), point("c", 300, 100),  # the model takes a, which is twice the best
    point("a", 100, 110, size=512), point("b", 150, 100, size=512),  # a again, and it is a tenth slower
]


def test_off_by_is_the_same_both_ways():
    assert prediction.off_by(POINTS[0]) == prediction.off_by(point("x", 200, 100)) == 2


def test_choices_are_judged_by_what_was_measured():
    assert [(pick["chosen"], pick["best"], pick["slower"]) for pick in prediction.choices(POINTS)] == [
        ("a", "c", 2.0), ("a", "b", 1.1),
    ]


def test_summary_and_table():
    lines = prediction.summary([*POINTS, point("a", 100, 100, collective="scan", ranks=4)])
    first = lines[0]
    assert (first["collective"], first["points"], first["off_by"], first["calls"]) == ("bcast", 5, 1.5, 2)
    assert first["within_1.5"] == 0.6 and first["good_choices"] == 0.5
    assert {line["ranks"] for line in lines} == {2, 4}
    assert "| bcast | 1.50, 60 %, 50 % of 2 |" in prediction.table([line for line in lines if line["ranks"] == 2])


@pytest.mark.parametrize("collective", prediction.PLANS)
def test_blocks_only_where_nobody_can_run_ahead(collective):
    asked = prediction.requests(collective, [2], ROOT / "x.json", 1)
    for request in asked:
        if request["calls"] > 1:
            assert collective in prediction.MEET and max(request["bytes"]) <= prediction.SHORT
    assert sum(len(request["bytes"]) for request in asked) == (1 if collective == "barrier" else len(prediction.SIZES))


def test_what_is_saved_can_be_read(tmp_path):
    made = {"schema": prediction.SCHEMA, "summary": prediction.summary(POINTS), "choices": prediction.choices(POINTS),
            "points": POINTS}
    prediction.save(dict(made), tmp_path / "p.json")
    assert json.loads((tmp_path / "p.json").read_text()) == made


def test_contention_is_the_ratio_of_simgrid_to_the_engine():
    found = [
        {"collective": collective, "algorithm": algorithm, "placement": "in order", "spines": spines, "engine_ns": 5000,
         "simgrid_ns": 5000 * factor}
        for collective, algorithm in contention.CALLS
        for spines, factor in ((16, 1), (8, 2))
    ]
    lines = contention.table(found).splitlines()
    assert lines[0].endswith("in order, 1:1 | in order, 2:1 |")
    assert lines[2] == "| bcast `tree` | 5 | 1.00 | 2.00 |"
