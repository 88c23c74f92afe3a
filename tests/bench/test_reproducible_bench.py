"""bench/reproducible: ratios within turns on made-up numbers."""

import json
import sys
from pathlib import Path

import pytest
from espalier.problem import Problem

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "bench"))
from reproducible import document, measure  # noqa: E402


def a_turn(us, placement, exact):
    points = {(collective, size): us for collective in measure.COLLECTIVES for size in measure.SIZES}
    return {level: {key: value * slower for key, value in points.items()}
            for level, slower in (("run", 1), ("placement", placement), ("exact", exact))}


ARRAYS = [{"elements": 1000, "type": "float64", "exact_us": 2.0, "numpy_us": 1.0, "read_us": 0.5}]


def test_ratios_are_taken_within_a_turn():
    """The machine was ten times slower in one turn, for all alike."""
    made = document.make("mpich", {}, {measure.Shape(2): [a_turn(1, 1, 1.2), a_turn(10, 1, 1.4), a_turn(1, 1, 1.3)]}, ARRAYS)
    assert {tuple(point["exact"].values()) for point in made["points"]} == {(1.25, 1.3, 1.35)}
    assert {point["run_us"] for point in made["points"]} == {1}


def test_tables_have_a_row_for_each_level():
    shapes = {measure.Shape(2): [a_turn(1, 1, 2)], measure.Shape(4, "2"): [a_turn(3, 2, 3)]}
    made = document.make("mpich", {}, shapes, ARRAYS)
    lines = document.table(made)
    assert len(lines) == 2 + len(shapes) * len(measure.COLLECTIVES) * len(measure.LEVELS)
    assert len({line.count("|") for line in lines}) == 1
    assert sum("2.00 (2.00–2.00)" in line for line in lines) == 2 * len(measure.COLLECTIVES)
    assert any(line.startswith("| 4 ranks on 2 nodes | allreduce | run | 3.0 µs") for line in lines)
    assert document.arrays_table(made)[-1] == "| 1,000 | float64 | 2.0 µs | 1.0 µs | 0.5 µs |"


def test_every_turn_begins_with_another_level(monkeypatch):
    order = []
    monkeypatch.setattr(measure, "job", lambda host, shape, level, seconds: order.append(level) or {})
    measure.turns(None, 2, 1, lambda text: None)
    assert order[:3] == list(measure.LEVELS) and order[-3:] == ["placement", "exact", "run"]


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps({"schema": "espalier-bench/1"}))
    with pytest.raises(Problem, match="no result of bench/reproducible"):
        document.load(tmp_path / "other.json")
