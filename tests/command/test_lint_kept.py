"""The runs of `espalier lint` that are kept found the cliffs that docs/lint.md names, and its table has their numbers."""

import pytest
from conftest import ROOT

from espalier.bench import file
from espalier.digits import three_digits

TABLE = [line for line in (ROOT / "docs" / "lint.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ") and ": " in line]
CLIFFS = [("mpich", "barrier", 0, 4, "ranks"), ("mpich", "scan", 262144, 2, "size"), ("impi", "scan", 1048576, 2, "size"),
          ("impi", "barrier", 0, 4, "ranks"), ("openmpi", "bcast", 4096, 2, "jump")]


def found(host):
    kept = file.read_json(ROOT / "docs" / "results" / f"lint-{host}.json.xz")
    assert kept["schema"] == "espalier-lint-kept/1" and kept["machine"] and kept["date"]
    return [finding for run in kept["runs"] for finding in run["found"]["findings"]]


@pytest.mark.parametrize("host, collective, size, ranks, kind", CLIFFS)
def test_a_known_cliff_is_found_and_removed(host, collective, size, ranks, kind):
    (cliff,) = [each for each in found(host) if (each["collective"], each["bytes"], each["ranks"], each["kind"]) ==
                (collective, size, ranks, kind)]
    espalier = next(each for each in cliff["remedies"] if each["title"] == "Espalier")
    assert espalier["removes"]
    others = [each for each in cliff["remedies"] if each["title"] != "Espalier"]
    assert others and others[0]["us"] < cliff["us"] / 2
    numbers = [three_digits(each) for each in (cliff["us"], cliff["expected_us"])]
    numbers += [f"{three_digits(espalier['us'])}, removes it", three_digits(others[0]["us"])]
    assert any(all(number in row for number in numbers) and collective in row for row in TABLE), numbers


def test_the_table_has_no_other_rows():
    names = {"mpich": "MPICH 5", "impi": "Intel MPI", "openmpi": "Open MPI"}
    rows = [row for row in TABLE if any(row.startswith(f"| {name}") for name in names.values())]
    assert len(rows) == len(CLIFFS)
    for (host, collective, *_), row in zip(CLIFFS, rows):
        assert names[host] in row and collective in row
