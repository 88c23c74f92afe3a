"""Trees that follow a machine, on real memory: ranks that stand on the processors of made-up machines run collectives along the
trees that are composed there. The results are compared with a plain reference, the host must not help out, and the statistics
say which trees the ranks took their places in."""

from dataclasses import dataclass

import hosts
import pytest
from espalier import core
from test_checked import passed

# Under a sanitizer it is the sanitizer that asks libplaces.so where a rank stands.
pytestmark = [pytest.mark.needs_espalier, pytest.mark.unsanitized]

TREES = ("barrier", "bcast", "reduce", "allreduce")
SUBJECTS = "barrier,roots,in_place,identity"  # on all ranks in their order


@dataclass
class Machine:
    synthetic: str
    places: list[str]  # of each rank: a processor, or a range of them


def in_order(synthetic, ranks, step=1):
    return Machine(synthetic, [str(rank * step) for rank in range(ranks)])


def dealt(synthetic, processors, stride):
    """Neighbouring ranks far from each other."""
    return Machine(synthetic, [str(rank * stride % processors) for rank in range(processors)])


RG = in_order("package:5 core:4 pu:1", 20)                     # RG Fig. 5
EPYC = dealt("package:2 numa:2 l3:2 core:2 pu:1", 16, 5)       # OSMP Fig. 4, with fewer cores to a domain
XEON = in_order("package:2 core:8 pu:1", 16)                   # OSMP Fig. 5, likewise
XEON_DEALT = dealt("package:2 core:8 pu:1", 16, 7)
POWER9 = in_order("package:2 l3:3 l2:1 core:2 pu:4", 12, 4)    # pairs of cores that share caches
A64FX = dealt("numa:4 l2:1 core:3 pu:1", 12, 5)
SOME = Machine("package:2 numa:2 core:4 pu:1", ["0", "1", "5", "8-15", "9", "12", "13"])  # one rank is not bound

# With the tree from rank 0 where a paper draws it.
CASES = [
    pytest.param(RG, "socket=kary:3 machine=kary:2 leaders=first", "0(4(12(13 14 15) 16(17 18 19) 5 6 7) 8(9 10 11) 1 2 3)",
                 id="RG 7a", marks=pytest.mark.full),
    pytest.param(RG, "socket=kary:3 machine=kary:2 leaders=last", "0(1 2 3 4(5 6 7 12(13 14 15) 16(17 18 19)) 8(9 10 11))",
                 id="RG 7b"),
    pytest.param(RG, "socket=kary:2 machine=kary:2 leaders=last skew=right",
                 "0(2 1(3) 8(10 9(11)) 4(6 5(7) 16(18 17(19)) 12(14 13(15))))", id="RG 8", marks=pytest.mark.full),
    pytest.param(EPYC, "flat leaders=last", None, id="OSMP 4"),
    pytest.param(EPYC, "l3=chain numa=kary:2 machine=knomial:2 skew=right", None, id="OSMP 4, shapes", marks=pytest.mark.full),
    pytest.param(XEON, "flat virtual=4 leaders=last", "0(1 2(3) 4(5) 6(7) 8(9 10(11) 12(13) 14(15)))", id="OSMP 5, degree 4"),
    pytest.param(XEON_DEALT, "flat virtual=2", None, id="OSMP 5, degree 2, dealt"),
    pytest.param(POWER9, "l3=chain package=flat leaders=last", None, id="POWER9", marks=pytest.mark.full),
    pytest.param(A64FX, "l2=knomial:2 machine=chain", None, id="A64FX"),
    pytest.param(SOME, "numa=chain leaders=last", None, id="some ranks"),
    pytest.param(SOME, "levels=package kary:2 skew=right", None, id="some ranks, packages alone", marks=pytest.mark.full),
]
HOSTS = ["mpich", pytest.param("openmpi", marks=pytest.mark.full)]


def drawn_of(children, rank):
    """A tree as the library prints it: each rank with its children, in the order served, in brackets."""
    inner = " ".join(drawn_of(children, child) for child in children[rank])
    return f"{rank}({inner})" if inner else str(rank)


def composed(machine, tree, root):
    """The tree that the library says it would compose there, asked outside of any job."""
    request = {"what": "topology", "synthetic": machine.synthetic, "ranks": len(machine.places), "affinity": machine.places,
               "tree": tree, "root": root}
    return drawn_of(core.describe(request)["gather"]["children"], root)


def run(launch, name, machine, settings, subjects, statistics):
    """The trees of a checked run over the ranks of the machine: {root: the pair}, of those that all ranks are in."""
    host = hosts.HOSTS[name]
    env = {"ESPALIER_TOPOLOGY": machine.synthetic, "PLACES": ";".join(machine.places), "ESPALIER_FALLBACK": "error",
           "ESPALIER_WAIT": "yield", **{f"ESPALIER_{collective.upper()}": "tree" for collective in TREES}, **settings,
           **statistics.env}
    library = f"{host.library}:{hosts.preloadable(host, 'places')}"
    passed(launch(host, len(machine.places), "checked", "--only", subjects, env=env, library=library, timeout=240))
    data = statistics.read()
    for collective in TREES:
        ran = {row["algorithm"] for row in data["rows"] if row["collective"] == collective and row["calls"]}
        assert ran == {"tree"}, f"{collective} ran as {ran}"
    return [pair for pair in data["trees"] if pair["size"] == len(machine.places)]


@pytest.mark.alone
@pytest.mark.parametrize("name", HOSTS)
@pytest.mark.parametrize("machine, tree, drawn", CASES)
def test_ranks_use_the_tree_of_their_machine(launch, statistics, name, machine, tree, drawn):
    pairs = run(launch, name, machine, {"ESPALIER_TREE": tree}, SUBJECTS, statistics)
    assert {pair["root"] for pair in pairs} == set(range(len(machine.places))), "a root was never tried"
    for pair in pairs:
        expected = composed(machine, tree, pair["root"])
        assert (pair["gather"], pair["release"]) == (expected, expected)
        assert pair["ranks"] == len(machine.places), f"only {pair['ranks']} ranks used {pair}"
    from_zero = next(pair["gather"] for pair in pairs if pair["root"] == 0)
    assert drawn in (None, from_zero), from_zero


@pytest.mark.alone
@pytest.mark.full
def test_under_intel_mpi(launch, statistics):
    pairs = run(launch, "impi", SOME, {"ESPALIER_TREE": "numa=chain leaders=last"}, SUBJECTS, statistics)
    assert {pair["root"]: pair["gather"] for pair in pairs} == {
        root: composed(SOME, "numa=chain leaders=last", root) for root in range(len(SOME.places))}


@pytest.mark.alone
def test_both_halves_of_a_call_have_trees_of_their_own(launch, statistics):
    settings = {"ESPALIER_GATHER_TREE": "kary:2 leaders=last skew=right", "ESPALIER_RELEASE_TREE": "flat leaders=first"}
    pairs = run(launch, "mpich", EPYC, settings, SUBJECTS, statistics)
    assert pairs
    for pair in pairs:
        assert pair["gather"] == composed(EPYC, settings["ESPALIER_GATHER_TREE"], pair["root"])
        assert pair["release"] == composed(EPYC, settings["ESPALIER_RELEASE_TREE"], pair["root"])
        assert pair["gather"] != pair["release"] and pair["ranks"] == len(EPYC.places)


def test_places_matter(launch, statistics):
    """The test of the test: the same ranks on other processors get another tree."""
    tree = "flat leaders=last"
    assert composed(in_order(EPYC.synthetic, 16), tree, 0) != composed(EPYC, tree, 0)
    assert composed(SOME, "flat levels=none", 0) != composed(SOME, "flat", 0)
