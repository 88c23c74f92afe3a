"""Which hosts a test runs under in `make test`, and which values it runs with. In `make test-full` each runs under all of them, with
all values."""

import zlib

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


def values_by_turns(items):
    """`by_turns(PARAMETER)`: its values are taken by turns, one for each set of the other parameters but the host."""
    functions = {}
    for item in items:
        mark = item.get_closest_marker("by_turns")
        if mark and not item.get_closest_marker("full"):
            params = dict(item.callspec.params)
            value = str(params.pop(mark.args[0]))
            params.pop("host", None)
            function = functions.setdefault(item.nodeid.split("[")[0], {})
            function.setdefault(str(params), {}).setdefault(value, []).append(item)
    for function, cases in functions.items():
        for number, values in enumerate(cases.values()):
            chosen = list(values)[(zlib.crc32(function.encode()) + number) % len(values)]
            for item in (item for value, of_value in values.items() if value != chosen for item in of_value):
                item.add_marker(pytest.mark.full)


def _leave(case, chosen):
    for host, item in case.items():
        if host not in chosen:
            item.add_marker(pytest.mark.full)


def of_one(function, number):
    """The host of a case whose subject is above the host. The function's name chooses it for the first case, so that it is the same
    each time; the other cases follow by turns, so that the hosts have equal shares."""
    return hosts.THREE[(zlib.crc32(function.encode()) + number) % len(hosts.THREE)]


def take_turns(items):
    """A test runs under one host. One of what depends on the host (`every_host`) runs under all three; where it has further
    parameters, MPICH has each of their values, and Open MPI and Intel MPI have them by turns."""
    for function, cases in _by_function(items).items():
        under_all = [case for case in cases.values() if len(case) == len(hosts.THREE)]
        for number, case in enumerate(under_all):
            if not next(iter(case.values())).get_closest_marker("every_host"):
                _leave(case, {of_one(function, number)})
            elif len(under_all) > 1:
                _leave(case, {"mpich", ("openmpi", "impi")[number % 2]})
