"""Operators: every predefined one on every predefined type, and users' ones on types with gaps."""

import re
from pathlib import Path

import hosts
import pytest

PAGE = hosts.REPOSITORY / "docs" / "operators.md"
ARITHMETIC = ["MAX", "MIN", "SUM", "PROD"]
LOGICAL = ["LAND", "LOR", "LXOR"]
BITWISE = ["BAND", "BOR", "BXOR"]
LOCATION = ["MAXLOC", "MINLOC"]
ABBREVIATIONS = {"all": ARITHMETIC + LOGICAL + BITWISE, "arithmetic": ARITHMETIC, "logical": LOGICAL, "bitwise": BITWISE,
                 "location": LOCATION}
COLUMNS = {"mpich": "MPICH 5", "openmpi": "Open MPI", "impi": "Intel MPI", "mpich-abi": "MPICH 5", "impi-abi": "Intel MPI",
           "debian-mpich": "MPICH 4", "debian-openmpi": "Open MPI"}
FLOATING = ["MPI_FLOAT", "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_REAL", "MPI_DOUBLE_PRECISION", "MPI_REAL4", "MPI_REAL8",
            "MPI_REAL16"]


def left_out(host):
    """What the host alone crashes in, or gets wrong; and what MPI does not define on types without a name, which is the host's."""
    unnamed = [f"{name}*MPI_{op}" for name in ("f90_real", "f90_integer") for op in LOGICAL]
    if host.kind == "intel":
        wrong = ["f90_real*MPI_MIN", "f90_integer*MPI_MIN"]  # Intel MPI takes the maximum
        return ["MPI_REAL16", "MPI_COMPLEX32", *wrong, *unnamed]
    if host.name == "debian-mpich":
        return ["MPI_REAL16", "MPI_COMPLEX32", *unnamed, *(f"{name}*MPI_{op}" for name in FLOATING for op in LOGICAL)]
    return unnamed


def operators(text):
    found = set()
    for word in re.findall(r"\w+", text):
        found |= set(ABBREVIATIONS.get(word, [word.removeprefix("MPI_")]))
    return found


def documented():
    """The table of the page: (type, column) -> operators."""
    rows = [line.strip().strip("|").split("|") for line in PAGE.read_text().splitlines() if line.startswith("|")]
    names = [name.strip() for name in rows[0]]
    table = {}
    for cells in rows[2:]:
        for name in re.findall(r"`(\w+)`", cells[0]):
            for column, cell in zip(names[1:], cells[1:]):
                table[name, column] = operators(cell)
    return table


def served(out):
    """What the program printed: type -> operators without a mark in front."""
    lines = (line.split() for line in out.splitlines() if line.startswith(("MPI_", "f90_")))
    return {words[0]: {word.removeprefix("MPI_") for word in words[1:] if word[0] not in "-."} for words in lines}


@pytest.mark.parametrize("name, ranks", [("mpich", 2), ("openmpi", 3), ("impi", 2), ("mpich-abi", 3), ("impi-abi", 2),
                                         ("debian-mpich", 2), ("debian-openmpi", 2)])
def test_every_predefined_pair(launch, name, ranks, statistics):
    """As the host: its results, its errors. What has a result goes through shared memory, and stands on the page."""
    host = hosts.HOSTS[name]
    if why := hosts.missing(host):
        pytest.skip(why)
    run = launch(host, ranks, "operator_pairs", *left_out(host), env=statistics.env)
    assert run.status == 0 and (line := re.search(r"^operator_pairs, (\d+) served, 0 failed$", run.out, re.M)), str(run)
    assert int(line[1]) > 200, str(run)
    if hosts.BARE:
        return
    calls = sum(row["calls"] for row in statistics.read()["rows"]
                if row["collective"] == "allreduce" and row["transport"] == "shared memory")
    assert calls == 2 * int(line[1]) + 1, f"{calls} allreduces through shared memory\n{run}"
    table, column = documented(), COLUMNS[name]
    for type_name, found in served(run.out).items():
        promised = table[type_name, "MPI defines"] | table[type_name, column]
        promised -= {text.split("*MPI_")[1] for text in left_out(host) if text.startswith(f"{type_name}*")}
        assert found == promised, f"{type_name} under {name}: served {found}, the page says {promised}"


@pytest.mark.needs_espalier
@pytest.mark.parametrize("ranks", [2, 4])
def test_users_operators_may_assign_whole_elements(launch, host, ranks):
    """Memory that ends at a page which nothing may touch: a write behind it ends the process."""
    preloads = Path(f"{hosts.preloadable(host, 'guarded')}:{host.library}")
    run = launch(host, ranks, "operator_gaps", library=preloads, env={"ESPALIER_FALLBACK": "error"})
    assert run.status == 0 and "operator_gaps, 0 failed" in run.out, str(run)
