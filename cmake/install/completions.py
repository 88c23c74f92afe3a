"""Writes the completion scripts of the shells, as `espalier completion` prints them.

completions.py PACKAGE_PARENT FOLDER: bash/espalier, zsh/_espalier, fish/espalier.fish in FOLDER, and the empty file `made`.
Where this Python has not what the command needs there is only a note; the installation then has no completion."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

FILES = {"bash": "espalier", "zsh": "_espalier", "fish": "espalier.fish"}


def main() -> None:
    parent, folder = sys.argv[1], Path(sys.argv[2])
    for shell in FILES:
        shutil.rmtree(folder / shell, ignore_errors=True)
    sys.path.insert(0, parent)
    try:
        from espalier.completion import command

        scripts = {shell: command.script(shell) for shell in FILES}
    except ModuleNotFoundError as error:
        print(f"completion scripts are not made: {sys.executable} has no package {error.name}")
        scripts = {}
    for shell, text in scripts.items():
        (folder / shell).mkdir(parents=True)
        (folder / shell / FILES[shell]).write_text(text, encoding="utf-8")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "made").touch()


main()
