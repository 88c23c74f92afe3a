"""Which tests run under which hosts (turns.py): none is lost in the full mode, and in `make test` each host has its share."""

import collections
import json
import os
import subprocess
import sys

import hosts
import pytest

# Prints of each test: its function, its host (null: no parameter `host`), its other parameters, whether every_host, and its
# value of the parameter whose values are taken by turns.
COLLECT = """
import json, sys, pytest
class Found:
    def __init__(self):
        self.all, self.chosen = [], []
    def pytest_itemcollected(self, item):
        self.all.append(item)
    def pytest_collection_finish(self, session):
        self.chosen = list(session.items)
def row(item):
    params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
    host = params.pop("host", None)
    every = bool(item.get_closest_marker("every_host"))
    turn = item.get_closest_marker("by_turns")
    turn = str(params[turn.args[0]]) if turn else None
    return [item.nodeid.split("[")[0], host if isinstance(host, str) else None, str(params), every, turn]
found = Found()
code = pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", "-p", "no:xdist", sys.argv[1]], plugins=[found])
with open(sys.argv[2], "w") as file:
    json.dump({"all": list(map(row, found.all)), "chosen": list(map(row, found.chosen))}, file)
sys.exit(code)
"""


def collected(folder, full):
    written = folder / f"found-{full}.json"
    command = [sys.executable, "-c", COLLECT, str(hosts.HERE), str(written)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=hosts.REPOSITORY,
                          env={**os.environ, "ESPALIER_TEST_FULL": full})
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return {name: list(map(tuple, rows)) for name, rows in json.loads(written.read_text()).items()}


@pytest.fixture(scope="module")
def full(tmp_path_factory):
    return collected(tmp_path_factory.mktemp("full"), "1")


@pytest.fixture(scope="module")
def default(tmp_path_factory):
    return collected(tmp_path_factory.mktemp("default"), "0")


def by_case(rows):
    """(function, other parameters, every_host) -> its hosts, of tests with the fixture `host`."""
    cases = collections.defaultdict(set)
    for function, host, others, every, _ in rows:
        if host in hosts.THREE:
            cases[function, others, every].add(host)
    return cases


def test_the_full_mode_leaves_nothing_out(full):
    assert len(full["chosen"]) == len(full["all"]) > 2500
    assert sorted(full["chosen"]) == sorted(full["all"])


def test_what_is_above_the_host_runs_under_one_and_all_hosts_have_their_share(default):
    cases = {case: run_under for case, run_under in by_case(default["chosen"]).items() if not case[2]}
    assert {case for case, run_under in cases.items() if len(run_under) != 1} == set()
    shares = collections.Counter(host for run_under in cases.values() for host in run_under)
    assert len(cases) > 150
    assert all(shares[host] > 0.3 * len(cases) for host in hosts.THREE), f"of {len(cases)}: {shares}"


def test_what_depends_on_the_host_runs_under_every_host(default):
    run_under = collections.defaultdict(set)
    for (function, _, every), of_case in by_case(default["chosen"]).items():
        if every:
            run_under[function] |= of_case
    assert len(run_under) > 30
    assert {function: sorted(found) for function, found in run_under.items() if found != set(hosts.THREE)} == {}


def test_values_that_are_taken_by_turns_have_their_share(full, default):
    def of_functions(rows):
        found = collections.defaultdict(collections.Counter)
        for function, *_, value in rows:
            if value is not None:
                found[function][value] += 1
        return found

    chosen = of_functions(default["chosen"])
    assert len(chosen) > 5
    for function, values in of_functions(full["all"]).items():
        assert set(chosen[function]) == set(values), function
        assert max(chosen[function].values()) - min(chosen[function].values()) <= 1, f"{function}: {chosen[function]}"


def test_no_function_with_hosts_is_left_out_of_make_test_by_turns(full, default):
    """One that is for the full mode says so itself."""
    marked = {case[0] for case in by_case(full["all"])} - {case[0] for case in by_case(default["chosen"])}
    for function in marked:
        path, name = function.split("::")
        head = (hosts.REPOSITORY / path).read_text().split(f"def {name}(")[0].rsplit("\n\n", 1)[1]
        assert "full" in head, f"{function} is not marked `full`, and runs under no host"
