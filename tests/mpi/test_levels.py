"""Levels (espalier_levels.h) under every host: base cases of users on one node, and over nodes that are pretended."""

import re

import hosts
import pytest

pytestmark = pytest.mark.needs_espalier

ROOT = hosts.REPOSITORY
SOURCES = [ROOT / "tests/mpi/src/levels.c", ROOT / "tests/levels/stranger.c"] + [
    ROOT / f"examples/levels/{name}.c" for name in ("barrier", "reduce", "bcast", "top_k")]
STRICT = {"ESPALIER_FALLBACK": "error"}


def program(host):
    """With libespalier.so, as its users' programs are."""
    host.folder.mkdir(parents=True, exist_ok=True)
    target = host.folder / "levels"
    headers = [ROOT / "examples/levels/levels.h", *(ROOT / "include/espalier").glob("espalier_levels*.h")]
    if not hosts._newer(target, [*SOURCES, *headers]):
        flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", f"-I{ROOT}", f"-I{ROOT / 'include'}", *hosts._abi_header(host), *host.flags]
        libraries = [*host.libraries, f"-L{hosts.LIBRARIES}", "-lespalier", f"-Wl,-rpath,{hosts.LIBRARIES}"]
        hosts._compile([host.c, *flags, *map(str, SOURCES), *libraries], target)
    return target


def passed(run):
    """What the run says of its levels, after all its checks."""
    assert run.status == 0, str(run)
    total = re.search(r"^levels: (\d+) checks passed, \d+ ranks$", run.out, re.M)
    assert total and int(total[1]) > 0, str(run)
    said = re.search(r"^levels: (?:tree|refused:) (.*)$", run.out, re.M)
    return said[1] if said else ""


def run(launch, host, ranks, nodes, *words, **settings):
    env = {**STRICT, "ESPALIER_NODES": nodes, **settings} if nodes else {**STRICT, **settings}
    return passed(launch(host, ranks, program(host), *words, env=env, timeout=120))


@pytest.mark.parametrize("degree, root", [(0, 0), (2, 4)])
def test_on_one_node(launch, host, degree, root):
    tree = run(launch, host, 5, None, "check", degree, root)
    assert not tree.startswith("nodes(") and ("virtual(" in tree) == (degree == 2), tree


def test_the_standard_abi(launch):
    run(launch, hosts.HOSTS["mpich-abi"], 3, "2+1", "check", 0, 0)


@pytest.mark.parametrize("nodes, root", [("2+1+2", 0), ("2+1+2", 4), ("3:cyclic", 1)])
def test_over_nodes(launch, host, nodes, root):
    """Each node has its group, and one of each is in the group over the nodes."""
    tree = run(launch, host, 5, nodes, "check", 0, root)
    assert re.fullmatch(r"nodes\([\w/]+\([^()]+\) [\w/]+\([^()]+\) \d\)", tree), tree


def test_virtual_levels_over_nodes(launch):
    assert run(launch, hosts.HOSTS["mpich"], 4, "4", "check", 2, 3) == "nodes(virtual(0 1) virtual(2 3))"


def test_nodes_of_many_ranks(launch):
    tree = run(launch, hosts.HOSTS["mpich"], 9, "4+5", "check", 2, 6)
    assert tree.startswith("nodes(") and tree.count("virtual(") >= 4, tree


def test_a_tree_of_the_users_over_nodes(launch):
    tree = run(launch, hosts.HOSTS["mpich"], 5, "2+3", "check", 0, 2, "((0 1) ((2 3) 4))")
    assert tree == "nodes(virtual(0 1) virtual(virtual(2 3) 4))"


def test_two_ranks_of_a_node_in_groups_over_nodes_are_refused(launch):
    said = run(launch, hosts.HOSTS["mpich"], 4, "2+2", "refused", "((0 2) (1 3))")
    assert "ranks 0 and 1 are on one node" in said


@pytest.mark.parametrize("nodes", [None, "2+2"])
def test_ranks_that_come_late(launch, host, nodes):
    run(launch, host, 4, nodes, "late", 1)


@pytest.mark.parametrize("transport", ["rma", "notify"])
def test_the_setting_for_windows_does_not_matter(launch, transport):
    run(launch, hosts.HOSTS["mpich"], 3, "2+1", "check", 0, 0, ESPALIER_WINDOW_TRANSPORT=transport)


@pytest.mark.parametrize("nodes", [None, "2+2", "4"])
@pytest.mark.parametrize("who", [0, 1, 3])
def test_a_base_case_that_fails(launch, nodes, who):
    run(launch, hosts.HOSTS["mpich"], 4, nodes, "fail", who)


def test_without_espalier_there_is_no_world(launch):
    host = hosts.HOSTS["mpich"]
    outcome = launch(host, 2, program(host), "check", 0, 0, espalier=False)
    assert outcome.status == 5 and "there is no MPI world here" in outcome.err, str(outcome)
