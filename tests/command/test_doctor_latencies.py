"""Core-to-core latencies of `espalier doctor`: as a check, as a map on the terminal and on a page."""

import json
import re

import pytest
from conftest import LIB, VENVS

from espalier.doctor import heat_map, latencies, page
from espalier.doctor.check import Check
from espalier.doctor.latencies import Latencies

MPIRUN = VENVS / "mpich" / "bin" / "mpirun"
MACHINE = {"level": "machine", "cpus": "0-7", "children": [
    {"level": "l3", "cpus": "0-3", "children": [{"level": "core", "cpus": [cpu]} for cpu in range(4)]},
    {"level": "l3", "cpus": "4-7", "children": [{"level": "core", "cpus": [cpu]} for cpu in range(4, 8)]}]}


def made_up(count=8, near=50.0, far=200.0):
    same = lambda i, j: i // 4 == j // 4
    ns = [[None if i == j else near if same(i, j) else far for j in range(count)] for i in range(count)]
    levels = [["core" if i == j else "l3" if same(i, j) else "machine" for j in range(count)] for i in range(count)]
    return Latencies(list(range(count)), ns, levels)


def test_the_innermost_domain_that_has_both():
    assert [latencies._level(MACHINE, 1, other) for other in (1, 3, 4)] == ["core", "l3", "machine"]


def test_times_by_level():
    found = latencies.check(made_up())
    assert found.good and found.found == "within a l3 50 ns; within a machine 200 ns"
    uneven = made_up()
    uneven.ns[1][0] = uneven.ns[0][1] = 500.0
    assert "within a l3 50 ns (50 to 500)" in latencies.check(uneven).found


def test_what_was_not_measured_is_said():
    one_missing = made_up()
    one_missing.ns[1][0] = one_missing.ns[0][1] = None
    assert "; 1 pairs could not be measured" in latencies.check(one_missing).found
    busy = Latencies([0, 1], [[None, None], [None, None]], [["core", "l3"], ["l3", "core"]])
    assert latencies.check(busy).good is None and "busy" in latencies.check(busy).found
    assert not list(heat_map.text(busy, 100)) and heat_map.svg(busy) == ""
    assert "one core" in latencies.check(Latencies([0], [[None]], [["core"]])).found
    assert latencies.check(None, "why").found == "not measured: why"


def test_numbers_on_the_terminal():
    lines = list(heat_map.text(made_up(), 80))
    assert lines[0].split() == ["ns", "0", "1", "2", "3", "│", "4", "5", "6", "7"]
    assert lines[1].split() == ["0", "·", "50", "50", "50", "│", "200", "200", "200", "200"] and len(lines) == 9


@pytest.mark.parametrize("count, columns", [(8, 40), (32, 80)])
def test_shades_where_numbers_do_not_fit(count, columns):
    lines = list(heat_map.text(made_up(count), columns))
    assert lines[0].startswith("    0 ·░░░│████") and lines[-1].split() == ["░", "50", "ns", "█", "200", "ns"]
    assert max(map(len, lines)) <= columns


def test_nothing_where_even_shades_do_not_fit():
    assert not list(heat_map.text(made_up(64), 60))


def test_the_drawing():
    drawn = heat_map.svg(made_up())
    assert drawn.count("<title>") == 56 and "CPU 0 and 4: 200 ns, within a machine" in drawn
    assert drawn.count("stroke-width") == 1 and len(set(re.findall(r'fill="(#\w+)"', drawn))) == 2


def test_the_verdict():
    fine, less, none = Check("a", True, ""), Check("b", None, ""), Check("c", False, "")
    assert page.verdict([fine]) == "Espalier works here without a loss."
    assert page.verdict([fine, less, less]) == "Espalier works here, with a loss: b."
    assert page.verdict([fine, less, none]) == "Espalier does not work here as it is: c."


def test_this_machine(espalier, tmp_path):
    """Measured by the program that was built."""
    result = espalier("doctor", "--mpirun", MPIRUN, "--json", "--html", tmp_path / "page.html", lib=LIB)
    found = json.loads(result.stdout)
    times = found["latencies"]
    count = len(times["cpus"])
    assert count > 0 and all(len(row) == count for row in (*times["ns"], *times["levels"]))
    assert all(ns is None or 1 < ns < 1e6 for row in times["ns"] for ns in row)
    line = next(check["found"] for check in found["checks"] if check["name"] == "core to core")
    assert count == 1 or "ns" in line or "busy" in line
    assert "Espalier: what this machine has" in (tmp_path / "page.html").read_text()


def test_quick_does_not_measure(espalier):
    assert "core to core" not in espalier("doctor", "--quick", lib=LIB, COLUMNS="400").stdout


def test_without_the_program_that_measures(espalier, libraries):
    result = espalier("doctor", "--mpirun", MPIRUN, lib=libraries, COLUMNS="400")
    assert re.search(r"^less +core to core +not measured: .*espalier-measure is not there", result.stdout, re.M), result.stdout
