"""Aggregation trees on this machine, for tests."""

import sys
from contextlib import contextmanager

import hosts

sys.path.insert(0, str(hosts.REPOSITORY / "python"))
from espalier.aggregate import tree as aggregation_tree  # noqa: E402
from espalier.aggregate.daemons import Daemons  # noqa: E402

LIBRARY = hosts.LIBRARIES / "libespalier-sharp.so"
AGGD = hosts.LIBRARIES.parent / "bin" / "espalier-aggd"


def missing():
    """Why there is no aggregation tree here."""
    return None if LIBRARY.exists() and AGGD.exists() else f"{AGGD} or {LIBRARY} is not built (libasio-dev)"


def settings(file, calls=0, **more):
    """What ranks need to use a tree, from their first call on."""
    return {"ESPALIER_SHARP": "on", "ESPALIER_SHARP_LIB": str(LIBRARY), "ESPALIER_AGGREGATION": str(file),
            "ESPALIER_SHARP_CALLS": str(calls), **more}


@contextmanager
def running(folder, nodes, radix, **limits):
    """The file of a tree whose nodes run for as long as the block."""
    above = aggregation_tree.parents(nodes, radix)
    tree = aggregation_tree.document(above, aggregation_tree.places(len(above), ["127.0.0.1"], None), limits)
    path = folder / "tree.json"
    aggregation_tree.write(tree, path)
    with Daemons(path, tree) as daemons:
        yield path, daemons


def mock():
    """The independent library that checks its caller."""
    hosts.BUILT.mkdir(parents=True, exist_ok=True)
    target = hosts.BUILT / "libmock-sharp.so"
    source = hosts.SOURCES / "mock_sharp.c"
    if not hosts._newer(target, [source]):
        hosts._compile(["gcc", "-std=gnu11", "-O1", "-shared", "-fPIC", "-fvisibility=hidden",
                        f"-I{hosts.REPOSITORY}/include/sharp_interface", str(source), "-lrt"], target)
    return target
