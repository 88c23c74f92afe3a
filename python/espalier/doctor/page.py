"""`espalier doctor --html`: the findings, and the cores' latencies as a map, as a page that stands alone."""

from __future__ import annotations

import socket
from typing import Optional

from espalier.doctor import heat_map
from espalier.doctor.check import Check
from espalier.doctor.latencies import Latencies

_MOODS = {"ok": "better", "less": "even", "no": "worse"}


def page(checks: list[Check], latencies: Optional[Latencies]) -> str:
    from espalier.report import page as report_page

    return report_page.render(
        "doctor.html.j2",
        machine=socket.gethostname(),
        verdict=verdict(checks),
        checks=[(check, _MOODS[check.state]) for check in checks],
        map=heat_map.svg(latencies) if latencies else "",
    )


def verdict(checks: list[Check]) -> str:
    missing = [check.name for check in checks if check.good is False]
    less = [check.name for check in checks if check.good is None]
    if missing:
        return f"Espalier does not work here as it is: {_listed(missing)}."
    return f"Espalier works here{f', with a loss: {_listed(less)}' if less else ' without a loss'}."


def _listed(names: list[str]) -> str:
    return ", ".join(dict.fromkeys(names))
