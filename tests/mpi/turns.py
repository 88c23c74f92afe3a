"""Which hosts a test runs under in `make test`, where its cases are all hosts times something else."""

import hosts
import pytest


def _by_function(items):
    """function -> the values of the other parameters -> host -> the case, of those that run in `make test`."""
    functions = {}
    for item in items:
        params = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        host = params.pop("host", None)
        if host in hosts.THREE and not item.get_closest_marker("full"):
            functions.setdefault(item.nodeid.split("[")[0], {}).setdefault(str(params), {})[host] = item
    return functions


def take_turns(items):
    """What the other parameters of a test change is above the host: MPICH has each of their values, Open MPI and Intel MPI have them
    by turns. So each value runs under two hosts, and each host runs each test. The others are for `make test-full`."""
    for cases in _by_function(items).values():
        under_all = [case for case in cases.values() if len(case) == len(hosts.THREE)]
        for number, case in enumerate(under_all if len(under_all) > 1 else []):
            case[("impi", "openmpi")[number % 2]].add_marker(pytest.mark.full)
