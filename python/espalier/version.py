"""What `espalier --version` prints: the version, the commit and how the libraries were built."""

from __future__ import annotations

import json

from espalier import __version__, install


def version_line() -> str:
    """Such as "espalier 0.2.0 (commit 1a2b3c4d5e6f, Release, GNU 12.2.0)"."""
    try:
        facts = json.loads(install.build_facts().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return f"espalier {__version__} (nothing is built)"
    commit = f"commit {facts['commit']}" if facts.get("commit") else "unknown commit"
    return f"espalier {__version__} ({commit}, {facts['type']}, {facts['compiler']})"
