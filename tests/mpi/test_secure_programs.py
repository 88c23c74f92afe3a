"""Programs with more rights than their user, linked with libespalier.so: no variable and no file of the user counts."""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import meetings
import pytest

pytestmark = [pytest.mark.needs_espalier,
              pytest.mark.skipif(os.geteuid() != 0, reason="only root can give rights to a program"),
              pytest.mark.skipif(not shutil.which("setpriv"), reason="there is no `setpriv`")]

SECOND_USER = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]


@pytest.fixture
def folder():
    """One that the second user may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory(prefix="espalier-secure-") as name:
        os.chmod(name, 0o755)
        yield Path(name)


def run(folder, arm):
    """The configuration, the topology and the folders of tuned rules that the second user gets, with AT_SECURE as the program
    has it."""
    program = folder / "described"
    shutil.copy(meetings.program("described"), program)
    arm(program)
    settings = folder / "settings"
    settings.write_text("ESPALIER_SLOTS=4\n")
    settings.chmod(0o644)
    environment = {"PATH": os.environ["PATH"], "ESPALIER_CONFIG": str(settings), "ESPALIER_SLOT": "64KiB",
                   "ESPALIER_ALREDUCE": "tree", "ESPALIER_RULES": str(settings), "HWLOC_SYNTHETIC": "package:7 core:3 pu:1",
                   "XDG_CONFIG_HOME": str(folder), "HOME": str(folder),
                   "ESPALIER_STATS": str(folder / "statistics")}
    ran = subprocess.run([*SECOND_USER, program], env=environment, capture_output=True, text=True, timeout=120, cwd="/")
    assert ran.returncode == 0, ran.stderr
    secure, config, topology, tuned = ran.stdout.splitlines()
    return secure == "AT_SECURE 1", json.loads(config), topology, json.loads(tuned)["folders"]


def test_an_ordinary_program_uses_them(folder):
    secure, config, topology, tuned = run(folder, lambda program: program.chmod(0o755))
    assert tuned == [f"{folder}/espalier", "/etc/espalier"]
    assert not secure and len(config["warnings"]) >= 2
    values = {value["key"]: value["value"] for value in config["values"]}
    assert (values["ESPALIER_SLOTS"], values["ESPALIER_SLOT"]) == ("4", "64KiB")
    assert "HWLOC_SYNTHETIC" in topology


def give_capability(program):
    program.chmod(0o755)
    if not shutil.which("setcap") or subprocess.run(["setcap", "cap_net_raw+ep", program], capture_output=True).returncode:
        pytest.skip("no file can get a capability here (setcap)")


@pytest.mark.parametrize("arm", [lambda program: program.chmod(0o4755), lambda program: program.chmod(0o2755), give_capability],
                         ids=["set-user-ID", "set-group-ID", "capability"])
def test_a_program_with_more_rights_uses_none(folder, arm):
    secure, config, topology, tuned = run(folder, arm)
    if not secure:
        pytest.skip("programs get no rights in this folder (nosuid)")
    assert {value["origin"] for value in config["values"]} == {"default"}
    assert config["warnings"] == []
    assert "HWLOC" not in topology
    assert tuned == ["/etc/espalier"]
    assert sorted(path.name for path in folder.iterdir()) == ["described", "settings"]
