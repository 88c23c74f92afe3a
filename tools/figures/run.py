"""Runs the commands of a block in a folder of its own, in which the tree's files lie by links."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LINKED = (".venv", "bench", "bin", "docs", "python", "tools")
LIMIT = 600  # seconds


def link_tree(folder: Path) -> None:
    for name in LINKED:
        if not (folder / name).exists():
            (folder / name).symlink_to(ROOT / name)


def run(commands: str, folder: Path) -> str:
    """What they print. Files that they write (`--out NAME`) are left in the folder."""
    link_tree(folder)
    env = {key: value for key, value in os.environ.items() if not key.startswith("ESPALIER_") or key == "ESPALIER_LIB"}
    env["PATH"] = f"{ROOT / 'bin'}:{env['PATH']}"
    env.setdefault("ESPALIER_LIB", str(ROOT / "build" / "lib"))
    done = subprocess.run(["bash", "-e", "-c", commands], cwd=folder, env=env, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode != 0:
        raise ValueError(f"ended with {done.returncode}:\n{commands}\n{done.stderr[-2000:]}")
    return done.stdout
