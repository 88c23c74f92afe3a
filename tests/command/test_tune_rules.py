"""The file that `espalier tune` writes, of verdicts that are made up."""

import json

import pytest

from espalier.measured import point as tune_point
from espalier.tune import rules
from espalier.measured.point import DEFAULT, HOST, Point
from espalier.measured.interval import Interval
from espalier.tune.verdict import Verdict

PLACE = rules.Place("2026-11-26", "measured: MPICH 5.0.2", {2: 1.0, 4: 2.0})
PLANS = [{"algorithm": "tree", "chunk": 8192, "tree": "flat"}, {"algorithm": "sliced", "chunk": 16384}]


def verdict(size, chosen, collective="allreduce", ranks=4, high=0.9):
    us = {DEFAULT: 10.0, "1": 8.0, "2": 8.5, HOST: 40.0}
    return Verdict(Point(ranks, collective, size), chosen, "", 11, Interval(0.78, 0.8, high), us)


def made(*verdicts):
    return rules.of_verdicts(verdicts, {each.point: PLANS for each in verdicts}, PLACE)


def test_a_rule_speaks_for_sizes_half_way_to_its_neighbours():
    found = made(verdict(8, DEFAULT), verdict(8192, "1"), verdict(65536, "1"), verdict(524288, "2"))
    assert [(rule["algorithm"], rule["bytes"]) for rule in found] == [("tree", [257, 185364]), ("sliced", [185365, 1048576])]
    assert found[0]["ranks"] == 4 and found[0]["nodes"] == 1 and found[0]["ranks_per_core"] == [1.01, None]
    assert found[0]["chunk"] == "8KiB" and found[0]["tree"] == "flat"


def test_the_shortest_size_speaks_for_shorter_ones():
    assert made(verdict(8, "1"), verdict(512, DEFAULT))[0]["bytes"] == [0, 64]


def test_the_rule_says_what_was_measured():
    said = made(verdict(8192, "1"))[0]["evidence"]
    assert said.startswith("measured: MPICH 5.0.2, 4 ranks, 2026-11-26: 8KiB 8 us, default 10 (-20%, -22% to -10% in 11 rounds)")
    assert "host 40" in said


def test_the_host_serves_what_it_does_faster():
    found = made(verdict(8192, HOST, ranks=2))
    assert found[0]["algorithm"] == "host" and found[0]["ranks_per_core"] == [0, 1]


def test_where_the_default_stays_there_is_no_rule():
    assert made(verdict(8, DEFAULT), verdict(8192, DEFAULT)) == []


def test_sizes_that_rules_cannot_tell_apart_have_one_plan_or_none():
    """Of gatherv no rank knows the others' bytes: rules see 0."""
    faster = [verdict(8, "1", "gatherv"), verdict(8192, DEFAULT, "gatherv", high=0.99)]
    assert "bytes" not in made(*faster)[0] and made(*faster)[0]["algorithm"] == "tree"
    assert made(verdict(8, "1", "gatherv"), verdict(8192, DEFAULT, "gatherv", high=1.2)) == []
    assert made(verdict(8, "1", "gatherv"), verdict(8192, "2", "gatherv")) == []


def test_a_barrier_has_no_bytes():
    assert "bytes" not in made(verdict(0, "1", "barrier"))[0]


def test_short_calls_of_many_ranks_are_one_size():
    """An alltoall of 8 and of 16 bytes among 4 ranks has an element for each either way."""
    found = made(verdict(8, "1", "alltoall"), verdict(16, "1", "alltoall"))
    assert len(found) == 1 and found[0]["bytes"] == [0, 64]


@pytest.mark.parametrize("name, size", [("allreduce", 8), ("alltoall", 32), ("gatherv", None), ("barrier", None)])
def test_bytes_as_rules_count_them(name, size):
    assert tune_point.bytes_of_rules(Point(4, name, 0 if name == "barrier" else 8)) == size


def test_the_file_has_a_rule_a_line():
    text = rules.text_of(made(verdict(8, "1"), verdict(512, DEFAULT)), {"date": "2026-11-26"})
    assert json.loads(text)["tuned"] == {"date": "2026-11-26"} and len(json.loads(text)["rules"]) == 1
    assert sum(line.startswith("  {") for line in text.splitlines()) == 1
    assert json.loads(rules.text_of([], {}))["rules"] == []
