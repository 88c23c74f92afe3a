"""Pictures of the site, made by the command itself while the site is built.

A page asks for one by a comment, which GitHub does not show:

    <!-- screen: espalier explain allreduce 64KiB -n 8 -->     what the command prints
    <!-- drawing: espalier topo -n 8 -->                       the picture that it writes with --svg
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 100
_ASKED = re.compile(r"^<!-- (screen|drawing): (espalier [^>]*?) -->$", re.M)
# rich's pictures load their fonts from the network; a reader's own will do.
_FONTS = re.compile(r"@font-face\s*\{.*?\}", re.S)


@dataclass(frozen=True)
class Picture:
    kind: str
    command: str

    @property
    def name(self) -> str:
        return f"pictures/{hashlib.sha256(f'{self.kind} {self.command}'.encode()).hexdigest()[:16]}.svg"

    def svg(self) -> str:
        return _drawing(self.command) if self.kind == "drawing" else _screen(self.command)


def asked_for(markdown: str) -> Iterator[Picture]:
    return (Picture(*found.groups()) for found in _ASKED.finditer(markdown))


def shown(markdown: str, up: str) -> str:
    """The page with an image in the place of each comment; `up` leads from the page's folder to that of docs/."""
    return _ASKED.sub(lambda found: f"![{found.group(2)}]({up}{Picture(*found.groups()).name})", markdown)


def _run(command: str, *more: str) -> str:
    words = [str(ROOT / "bin" / "espalier"), *shlex.split(command)[1:], *more]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("ESPALIER_")}
    environment |= {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "TERM": "xterm-256color"}
    done = subprocess.run(words, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: status {done.returncode}: {done.stderr}")
    return done.stdout


def _screen(command: str) -> str:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(_run(command)))
    return _FONTS.sub("", console.export_svg(title=command))


def _drawing(command: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "drawing.svg"
        _run(command, "--svg", str(file))
        return file.read_text(encoding="utf-8")
