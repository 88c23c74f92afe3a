"""`espalier stats --html`: what a run did as a page that stands alone."""

from __future__ import annotations

from typing import Any

from espalier.stats import sites, table


def page(report: dict[str, Any]) -> str:
    from espalier.report import page as report_page

    rows = table.rows(report)
    return report_page.render(
        "stats.html.j2",
        title=_sentence(table.title(report)),
        verdict=verdict(report),
        headings=table.HEADINGS,
        right=[heading in table.RIGHT for heading in table.HEADINGS],
        rows=[(row, "worse" if entry["fallback"] else "") for row, entry in zip(rows, report["rows"])],
        shares=_shares(report),
        counts_arrivals=any(row.get("waited_seconds") for row in report["rows"]),
        legend=table.LEGEND,
        allocated=table.allocated(report),
        last=_sentence(table.came_last(report)),
        site_headings=sites.HEADINGS,
        site_right=[heading in sites.RIGHT for heading in sites.HEADINGS],
        sites=[(row, "") for row in sites.rows(report)],
        site_legend=sites.LEGEND,
    )


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def verdict(report: dict[str, Any]) -> str:
    """Who served the calls, in a sentence."""
    calls = sum(row["calls"] for row in report["rows"])
    host = sum(row["calls"] for row in report["rows"] if row["fallback"])
    if not calls:
        return "No collective was called that Espalier knows."
    words = f"Espalier served {calls - host} of {calls} collective calls"
    return f"{words}." if not host else f"{words}; the host MPI served {host}, for the reasons in the last column."


def _shares(report: dict[str, Any]) -> list[tuple[str, str, float, float]]:
    """Collective and size, time, and a bar's two parts, waiting and the rest, in percent of the longest bar: where the time
    went, longest first."""
    times = [
        (row.get("mean_seconds", row["seconds"]), f"{row['collective']} {table.sizes(row)}", row.get("waited_seconds") or 0)
        for row in report["rows"]
    ]
    longest = max((seconds for seconds, *_ in times), default=0)
    ordered = sorted((entry for entry in times if entry[0] > 0), reverse=True)
    return [
        (name, table.time(seconds), 100 * min(waited, seconds) / longest, 100 * max(seconds - waited, 0) / longest)
        for seconds, name, waited in ordered[:12]
    ]
