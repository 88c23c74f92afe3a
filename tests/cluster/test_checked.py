"""The checked run of tests/mpi across emulated nodes: every result compared with a plain reference."""

import re
from dataclasses import dataclass

import hosts
import pytest
from conftest import LAYOUTS

# Subjects of the checked program that must run across nodes without the host MPI (ESPALIER_FALLBACK=error).
WITHOUT_THE_HOST = ("barrier", "roots", "sizes", "zero", "in_place", "operators", "pairs", "user_operators", "derived", "blocks",
                    "derived_blocks", "prefixes", "communicators", "interleaved", "random", "identity")


@dataclass(frozen=True)
class Part:
    name: str
    subjects: str  # "": all
    policy: str  # of fall-backs; "": as Espalier comes

    @property
    def arguments(self):
        return ["--only", self.subjects] if self.subjects else []

    @property
    def env(self):
        return {"ESPALIER_FALLBACK": self.policy} if self.policy else {}


ALL = Part("all", "", "")
SERVED = Part("served", ",".join(WITHOUT_THE_HOST), "error")


def passed(run):
    assert run.status == 0, str(run)
    line = re.search(r"^(\d+) passed, 0 failed, (\d+) ranks$", run.out, re.M)
    assert line and int(line[1]) > 50, f"no line that says what passed\n{run}"
    return int(line[2])


def without(host):
    # Intel's own reduction of MPI_REAL16 crashes (2021.18.1), and so where it serves.
    return ["--without", "MPI_REAL16,MPI_COMPLEX32"] if host.kind == "intel" else []


def check(run_on, host, layout, part, ranks):
    run = run_on(host, layout, "checked", *part.arguments, *without(host), env=part.env, timeout=300)
    assert passed(run) == ranks


def ranks_of(layout):
    from emulated_cluster import parse_layout

    return parse_layout(layout).ranks


@pytest.mark.parametrize("name, layout", [
    ("mpich", "4x2"), ("mpich", "3+1+3"), ("openmpi", "3+1+3"), ("impi", "4x2"),
    *(pytest.param(*case, marks=pytest.mark.full) for case in (("openmpi", "4x2"), ("impi", "3+1+3")))])
def test_results_are_right(run_on, name, layout):
    check(run_on, hosts.HOSTS[name], layout, SERVED, ranks_of(layout))


@pytest.mark.full
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("part", [ALL, SERVED], ids=lambda part: part.name)
def test_every_result_is_right(run_on, host, layout, part):
    check(run_on, host, layout, part, ranks_of(layout))


@pytest.mark.full
@pytest.mark.parametrize("seed", [2, 3])
def test_random_sequences(run_on, host, seed):
    run = run_on(
        host, "4x2", "checked", "--only", "random,interleaved", "--seed", seed, timeout=300
    )
    assert passed(run) == 8


@pytest.mark.parametrize(
    "kind, subject", [("reduce to another root", "roots"), ("scan leaves out the own vector", "prefixes")]
)
def test_the_checked_run_notices_across_nodes(run_on, kind, subject):
    """The test of the test: a library that breaks one thing must be found out here, too."""
    host = hosts.HOSTS["mpich"]
    run = run_on(host, "2x2", "checked", "--only", subject, env={"BROKEN": kind}, library=hosts.preloadable(host, "broken"))
    assert run.status != 0 and f"FAILED {subject}" in run.err, f"{kind}: not noticed\n{run}"
