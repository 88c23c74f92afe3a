"""`espalier explain` as a user calls it."""

import subprocess

import hosts


def explained(*words):
    command = [str(hosts.REPOSITORY / "bin" / "espalier"), "explain", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_explain_knows_aggregation_nodes():
    text = explained("allreduce", "64", "--nodes", "16", "--ranks-per-node", "4", "--sharp")
    assert "sharp" in text and "aggregation nodes" in text
    assert "sharp" not in explained("allreduce", "64", "--nodes", "16", "--ranks-per-node", "4")
