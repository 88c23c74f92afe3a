"""File descriptors: Espalier's are none of the standard ones, close on exec, and are few."""

import re

import hosts
import pytest
from test_programs import STRICT, succeeded

pytestmark = pytest.mark.needs_espalier

SEEN = re.compile(r"^descriptors: (\d+) of Espalier's memory, (\d+) sockets$", re.M)
# Rank 0's words go to standard error where the standard descriptors are closed.
WITH_SESSIONS = ["mpich", "openmpi"]


def said(run):
    run.out += run.err
    succeeded(run, "descriptors")
    return SEEN.search(run.out)


@pytest.mark.parametrize("name", [*hosts.THREE, "mpich-abi", *(pytest.param(name, marks=pytest.mark.full) for name in (
    "impi-abi", "debian-mpich", "debian-openmpi"))])
def test_few_and_none_is_inherited(launch, name):
    """The arena and the heap: no socket of the meeting stays, and an executed program has none of them."""
    host = hosts.HOSTS[name]
    if reason := hosts.missing(host):
        pytest.skip(reason)
    with_us = said(launch(host, 3, "descriptors", env={**STRICT, "OMPI_MCA_mpi_warn_on_fork": "0"}))
    without = said(launch(host, 3, "descriptors", env={"ESPALIER": "off", "OMPI_MCA_mpi_warn_on_fork": "0"}))
    assert (with_us[1], without[1]) == ("2", "0")
    assert with_us[2] == without[2], "sockets"


@pytest.mark.parametrize("name", hosts.THREE)
def test_a_program_without_standard_descriptors(launch, name):
    """As a daemon: what is printed must not go into shared memory."""
    said(launch(hosts.HOSTS[name], 2, "descriptors", "closed", env={**STRICT, "OMPI_MCA_mpi_warn_on_fork": "0"}))


@pytest.mark.parametrize("name", WITH_SESSIONS)
def test_standard_descriptors_closed_once_the_host_has_started(launch, name):
    """Then it is Espalier that opens the first ones, whatever the host."""
    said(launch(hosts.HOSTS[name], 2, "descriptors", "session", env=STRICT))
