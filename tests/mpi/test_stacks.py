"""A job that passes its time is stopped, and says first what its processes were doing."""

import hosts
import pytest


def test_a_run_out_of_time_says_what_it_was_doing():
    with pytest.raises(hosts.TimedOut, match="process [0-9]+: sleep 60"):
        hosts.run(["sh", "-c", "sleep 60; true"], None, timeout=2, cwd=None)
