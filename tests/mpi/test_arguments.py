"""Unusual and wrong arguments: data at absolute addresses, and what the host reports."""

import re

import hosts
import pytest

SEVEN = list(hosts.HOSTS)
# PyPI's MPICH is built not to: it hangs or crashes.
LOOK_AT_ARGUMENTS = [name for name in SEVEN if not name.startswith("mpich")]


def usable(name):
    host = hosts.HOSTS[name]
    if why := hosts.missing(host):
        pytest.skip(why)
    return host


@pytest.mark.parametrize("ranks", [2, 5])
@pytest.mark.parametrize("name", SEVEN)
def test_data_at_absolute_addresses(launch, name, ranks):
    run = launch(usable(name), ranks, "bottom", env={"ESPALIER_FALLBACK": "error"})
    line = re.search(r"^bottom, (\d+) checks, 0 failed$", run.out, re.M)
    assert run.status == 0 and line and int(line[1]) > 1000, str(run)


@pytest.mark.parametrize("name", ["debian-mpich", "debian-openmpi"])
def test_data_at_absolute_addresses_from_fortran(launch, name):
    run = launch(usable(name), 3, "bottom_f90", env={"ESPALIER_FALLBACK": "error"})
    assert run.status == 0 and "bottom_f90, 0 failed" in run.out, str(run)


@pytest.mark.parametrize("ranks", [2, 4])
@pytest.mark.parametrize("name", LOOK_AT_ARGUMENTS)
def test_wrong_arguments_are_reported_as_by_the_host(launch, name, ranks):
    host = usable(name)
    more = ["counts"] if host.kind == "openmpi" else ["buffers"] if name == "debian-mpich" else ["counts", "buffers"]
    run = launch(host, ranks, "argument_errors", *more)
    line = re.search(r"^argument_errors, (\d+) cases, 0 failed$", run.out, re.M)
    assert run.status == 0 and line and int(line[1]) > 35, str(run)
