"""Users' operators on types with gaps."""

from pathlib import Path

import hosts
import pytest


@pytest.mark.needs_espalier
@pytest.mark.parametrize("ranks", [2, 4])
def test_users_operators_may_assign_whole_elements(launch, host, ranks):
    """Memory that ends at a page which nothing may touch: a write behind it ends the process."""
    preloads = Path(f"{hosts.preloadable(host, 'guarded')}:{host.library}")
    run = launch(host, ranks, "operator_gaps", library=preloads, env={"ESPALIER_FALLBACK": "error"})
    assert run.status == 0 and "operator_gaps, 0 failed" in run.out, str(run)
