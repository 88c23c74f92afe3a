"""bench/ablations: ratios within turns on made-up numbers, and a real run."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from espalier.bench.hosts import cores
from espalier.problem import Problem

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "bench"))
from ablations import document, measure  # noqa: E402
from ablations.configurations import ABLATIONS, RG, SIZES, slots  # noqa: E402


def a_turn(us, slower):
    """A machine on which each ablation takes so many times as long."""
    points = {(collective, size): us for one in ABLATIONS for collective in one.collectives for size in one.sizes}
    return {"RG": points, **{one.title: {key: value * slower for key, value in points.items()} for one in ABLATIONS}}


def test_ratios_are_taken_within_a_turn():
    """The machine was ten times slower in one turn, for all alike."""
    made = document.make("mpich", {}, [a_turn(1, 1.2), a_turn(10, 1.4), a_turn(1, 1.3)])
    assert {tuple(point["ratio"].values()) for point in made["points"]} == {(1.25, 1.3, 1.35)}
    assert {point["rg_us"] for point in made["points"]} == {1}


def test_the_table_has_a_row_for_each_ablation_of_each_collective():
    lines = document.table(document.make("mpich", {}, [a_turn(1, 2)]))
    assert len(lines) == 2 + sum(len(one.collectives) for one in ABLATIONS)
    assert len({line.count("|") for line in lines}) == 1
    inline = next(line for line in lines if "no data in the flag line" in line)
    assert inline.count("2.00 (2.00–2.00)") == 2 and inline.count(" – ") == len(SIZES) - 2


def test_slots_share_the_same_memory():
    for number in (1, 2, 4, 8):
        told = slots(number)
        assert int(told["ESPALIER_SLOTS"]) * int(told["ESPALIER_SLOT"].removesuffix("KiB")) == 32
    assert {key: RG[key] for key in slots(4)} == slots(4)


def test_every_turn_begins_with_another_configuration(monkeypatch):
    order = []
    monkeypatch.setattr(measure, "job", lambda host, settings, seconds: order.append(settings) or {})
    measure.turns(None, 2, 1, lambda text: None)
    once = len(ABLATIONS) + 1
    assert order[0] == RG and order[once] == RG | ABLATIONS[0].settings and len(order) == 2 * once
    assert sorted(map(str, order[:once])) == sorted(map(str, order[once:]))


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "other.json").write_text(json.dumps({"schema": "espalier-bench/1"}))
    with pytest.raises(Problem, match="no result of bench/ablations"):
        document.load(tmp_path / "other.json")


@pytest.mark.skipif(len(cores()) < 2, reason="needs a core for each of two ranks")
def test_a_short_run(tmp_path):
    out = tmp_path / "ablations.json"
    words = [sys.executable, REPOSITORY / "bench" / "ablations", "--turns", 1, "--seconds", 0.1, "--json", out]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    points = document.load(out)["points"]
    assert len(points) == sum(len(one.collectives) * len(one.sizes) for one in ABLATIONS)
    assert all(point["rg_us"] > 0 and point["ratio"]["median"] > 0 for point in points)
    again = subprocess.run([*map(str, words[:2]), "--read", str(out)], capture_output=True, text=True, timeout=60)
    assert again.stdout.splitlines()[0] == done.stdout.splitlines()[0] and again.returncode == 0
