"""Links of the pages that leave docs/."""

from __future__ import annotations

import re

_OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+([^)#\s]*)[^)\s]*\)")


def outside_links(markdown: str) -> str:
    """The site has no copy of the sources: a link to one becomes its path."""
    return _OUTSIDE.sub(_path, markdown)


def _path(link: re.Match[str]) -> str:
    text, path = link.groups()
    return text if path.rstrip("/") == text.strip("`").rstrip("/") else f"{text} (`{path}`)"
