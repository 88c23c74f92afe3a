"""explain algorithms: the library's table of collectives and algorithms, in the terminal and in docs/rules.md."""

import re

from conftest import LIB, ROOT

from espalier.explain import algorithms


def shown(espalier, *arguments):
    done = espalier("explain", "algorithms", *arguments, lib=LIB)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_algorithm_of_each_collective_is_listed(espalier):
    text = shown(espalier)
    for scope in algorithms.SCOPES:
        for use in algorithms.uses(scope):
            assert use["algorithm"] in text and all(name in text for name in use["collectives"])


def test_the_table_of_the_documentation_is_the_librarys(espalier):
    page = (ROOT / "docs" / "rules.md").read_text()
    written = re.search(r"<!-- begin: espalier explain algorithms --markdown -->\n(.*)<!-- end -->", page, re.S)
    assert written and written[1] == shown(espalier, "--markdown"), "write the output of that command between the marks"


def test_what_a_job_must_have_is_said():
    found = {use["algorithm"]: use["requires"] for use in algorithms.uses("network")}
    assert found["sharp"] == "the job has aggregation nodes" and found["gather-all"] == ""


def test_an_unknown_collective_is_named_with_those_that_exist(espalier):
    done = espalier("explain", "alreduce", "64KiB", "-n", 8, lib=LIB)
    assert done.returncode != 0 and "'alreduce' is no collective" in done.stderr and "allreduce" in done.stderr
