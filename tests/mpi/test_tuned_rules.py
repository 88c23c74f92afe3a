"""Rules that `espalier tune` has written: a job finds those of its machine and its MPI by itself."""

import json
from pathlib import Path

import hosts
import pytest

from espalier import core

pytestmark = pytest.mark.needs_espalier


def facts(host_version, monkeypatch):
    monkeypatch.setenv("ESPALIER_LIB", str(hosts.LIBRARIES))
    return core.describe({"what": "tuned", "host": host_version})


def barriers(launch, host, statistics, **env):
    """The algorithm that served the barriers of a job, and why the host did if it did."""
    run = launch(host, 2, "checked", "--only", "barrier", env={**statistics.env, **env})
    assert run.status == 0, str(run)
    rows = [row for row in statistics.read()["rows"] if row["collective"] == "barrier"]
    return {row["algorithm"] for row in rows}, statistics.read()["host"], run


@pytest.fixture
def tuned(launch, statistics, tmp_path, monkeypatch):
    """Writes rules for a host, as it names itself; returns the settings of a job that finds them."""
    def write(host, algorithm, folder="config"):
        config = tmp_path / folder
        (config / "espalier").mkdir(parents=True)
        _, version, _ = barriers(launch, host, statistics, XDG_CONFIG_HOME=str(tmp_path / "none"))
        rule = {"collective": "barrier", "algorithm": algorithm, "evidence": "measured: by this test"}
        document = {"schema": 1, "tuned": {}, "rules": [rule]}
        (config / "espalier" / facts(version, monkeypatch)["name"]).write_text(json.dumps(document))
        return {"XDG_CONFIG_HOME": str(config)}

    return write


def test_a_job_finds_them(launch, host, statistics, tuned):
    found = tuned(host, "central")
    assert barriers(launch, host, statistics, **found)[0] == {"central"}
    assert "central" not in barriers(launch, host, statistics, **found, ESPALIER_TUNED="off")[0]


def test_a_folder_that_the_setting_names(launch, statistics, tuned):
    folder = tuned(hosts.HOSTS["mpich"], "central")["XDG_CONFIG_HOME"] + "/espalier"
    assert barriers(launch, hosts.HOSTS["mpich"], statistics, ESPALIER_TUNED=folder)[0] == {"central"}


def test_rules_of_another_mpi_are_not_used(launch, statistics, tuned):
    found = tuned(hosts.HOSTS["mpich"], "central")
    assert "central" not in barriers(launch, hosts.HOSTS["openmpi"], statistics, **found)[0]


def test_rules_that_cannot_be_read_are_left_out(launch, statistics, tuned, tmp_path):
    host = hosts.HOSTS["mpich"]
    found = tuned(host, "central")
    (file,) = (tmp_path / "config" / "espalier").iterdir()
    file.write_text("{")
    served, _, run = barriers(launch, host, statistics, **found)
    assert "central" not in served and str(file) in run.err and "the built-in rules serve" in run.err


def test_ranks_that_find_different_ones_are_the_hosts(launch, tuned):
    """They would take different ways: every call goes to the host, and hangs no rank."""
    host = hosts.HOSTS["mpich"]
    found = tuned(host, "central")["XDG_CONFIG_HOME"]
    script = f'[ "$PMI_RANK" = 0 ] && export XDG_CONFIG_HOME={found}; exec "{hosts.program(host, "checked")}" --only barrier'
    run = launch(host, 2, Path("/bin/sh"), "-c", script, env={"ESPALIER_FALLBACK": "warn"}, timeout=120)
    assert run.status == 0 and "settings differ" in run.err, str(run)
