"""Datatypes that are decoded are moved straight from one layout into the other: the host packs none of them."""

import re

import hosts
import pytest

CONSTRUCTORS = ["contiguous", "vector", "hvector", "indexed", "hindexed", "indexed_block", "hindexed_block", "struct", "subarray",
                "columns", "nested"]
NOT_FOLLOWED = ["long stride", "darray"]


@pytest.mark.parametrize("name", ["mpich", "impi", "mpich-abi"])  # Open MPI 5 has no MPI_Count arguments
def test_those_with_counts_are_decoded(launch, name):
    host = hosts.HOSTS[name]
    library = f"{host.library}:{hosts.preloadable(host, 'counted_packs')}"
    run = launch(host, 2, "types_of_counts", env={"ESPALIER_FALLBACK": "error"}, library=library)
    assert run.status == 0, str(run)
    found = dict(re.findall(r"^([\w ]+): (\d+ packed, \d+ unpacked) by the host$", run.out, re.M))
    assert list(found) == [*CONSTRUCTORS, *NOT_FOLLOWED], str(run)
    assert {found[name] for name in CONSTRUCTORS} == {"0 packed, 0 unpacked"}, str(run)
    # So the counting counts.
    assert {found[name] for name in NOT_FOLLOWED} == {"2 packed, 2 unpacked"}, str(run)
