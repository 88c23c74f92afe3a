"""explain window: which transport carries windows between nodes, and why."""

import json


def test_names_the_transport_and_where_the_setting_came_from(espalier, describer):
    result = espalier("explain", "window", "--nodes", 4, lib=describer)
    assert result.returncode == 0, result.stderr
    assert json.loads((describer / "request.json").read_text()) == {"what": "window", "nodes": 4}
    lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
    assert lines[0] == "window, 4 nodes"
    assert "transport rma" in lines
    assert "setting ESPALIER_WINDOW_TRANSPORT=rma (espalier.conf:3)" in lines
    assert "why ESPALIER_WINDOW_TRANSPORT=rma" in lines
