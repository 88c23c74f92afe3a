"""A profiler over PMPI that is preloaded behind Espalier or before it, or linked: what each of them sees
(docs/interposition.md)."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier
NAMES = ("init", "send", "allreduce", "barrier", "ibarrier")
ALL = dict(init=1, send=4, allreduce=5, barrier=3, ibarrier=1)


def counted(run):
    assert run.status == 0 and run.out.count("profiled: 0 wrong") == 2, str(run)
    line = re.search(r"^profiler: (.*)$", run.out, re.M)
    return {name: int(count) for name, count in re.findall(r"(\w+) (\d+)", line[1])} if line else None


def launch(host, order, settings):
    parts = {"espalier": str(host.library), "profiler": str(hosts.preloadable(host, "profiler"))}
    assert host.library.exists(), f"{host.library} does not exist: run `make build` first (or set ESPALIER_LIB)"
    return hosts.launch(host, 2, "profiled", library=":".join(parts[part] for part in order), env=settings)


def calls(statistics):
    """Nonblocking ones included."""
    rows = statistics.read()["rows"]
    return {name: sum(row["calls"] for row in rows if row["collective"] == name) for name in ("allreduce", "bcast", "barrier")}


@pytest.mark.every_host
def test_behind_espalier_it_sees_what_espalier_does_not_serve(host, statistics):
    run = launch(host, ("espalier", "profiler"), {"ESPALIER_FALLBACK": "error", **statistics.env})
    assert counted(run) == {**ALL, "allreduce": 0, "barrier": 0, "ibarrier": 0}
    assert calls(statistics) == {"allreduce": 5, "bcast": 5, "barrier": 4}


@pytest.mark.every_host
def test_behind_espalier_it_sees_calls_that_go_to_the_host(host):
    run = launch(host, ("espalier", "profiler"), {"ESPALIER_ALLREDUCE": "host", "ESPALIER_BARRIER": "host"})
    assert counted(run) == ALL


@pytest.mark.every_host
def test_behind_a_library_that_is_off_it_sees_all(host):
    assert counted(launch(host, ("espalier", "profiler"), {"ESPALIER": "off"})) == ALL


@pytest.mark.every_host
def test_before_espalier_it_sees_all_that_it_wraps_and_espalier_none_of_that(host):
    """Its PMPI names lead to the host. What it does not wrap, here the bcast, Espalier still serves."""
    assert counted(launch(host, ("profiler", "espalier"), {})) == ALL


@pytest.mark.every_host
def test_before_espalier_with_the_next_librarys_mpi_names_both_have_all(host, statistics):
    settings = {"PROFILER_NEXT": "1", "ESPALIER_FALLBACK": "error", **statistics.env}
    assert counted(launch(host, ("profiler", "espalier"), settings)) == ALL
    assert calls(statistics) == {"allreduce": 5, "bcast": 5, "barrier": 4}


@pytest.mark.every_host
def test_without_espalier(host):
    assert counted(launch(host, ("profiler",), {})) == ALL
