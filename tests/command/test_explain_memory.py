"""explain memory: what a job of so many ranks takes."""

import json

from espalier.explain import memory


def test_says_what_each_part_takes(espalier, describer):
    result = espalier("explain", "memory", "-n", 16, "--cores", 2, lib=describer)
    assert result.returncode == 0, result.stderr
    assert json.loads((describer / "request.json").read_text()) == {"what": "memory", "ranks": 16, "ranks_per_core": 8.0}
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "memory, 16 ranks on this node"
    assert "arena 384MiB of address space, pages as they are needed (ESPALIER_SHM=auto, default)" in lines
    assert "all ranks 52KiB; with slots 8.1MiB (8 slots of 32KiB a rank, cells of 32KiB for each pair); " \
        "the budget holds 12000 without slots" in lines
    assert "two of them (2) 8KiB; with slots 704KiB (8 slots of 32KiB a rank); the budget holds 70000 without slots" in lines
    assert "descriptors 2 of each rank" in lines
    assert "measure espalier bench --setup --parts start" in lines


def test_says_why_there_is_no_heap(describer):
    answer = json.loads((describer / "memory.json").read_text())
    said = dict(memory.facts({**answer, "no_heap": "ESPALIER_ALLOC_MEM is off"}))
    assert said["MPI_Alloc_mem"] == "the host's alone: ESPALIER_ALLOC_MEM is off"
