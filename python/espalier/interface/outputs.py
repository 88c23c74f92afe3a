"""Whether what an option names can be written, told before the work begins."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Optional

from espalier.problem import Problem


def check_file(option: str, path: Optional[Path]) -> None:
    """In a folder that is there. None: nothing is asked for."""
    if path is None:
        return
    folder = path.absolute().parent
    if path.is_dir():
        raise Problem(f"{option} {path}: is a folder, and should be a file")
    if not folder.is_dir():
        raise Problem(f"{option} {path}: there is no folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise Problem(f"{option} {path}: {'the file' if path.exists() else folder} may not be written")


def check_tree(option: str, path: Optional[Path], is_folder: bool = False) -> None:
    """A file, or a folder, whose folders are made where they are not there."""
    if path is None:
        return
    if is_folder and path.exists() and not path.is_dir():
        raise Problem(f"{option} {path}: is a file, and should be a folder")
    there = next(part for part in (path, *path.absolute().parents) if part.exists())
    if there == path and not is_folder:
        return check_file(option, path)
    if not there.is_dir():
        raise Problem(f"{option} {path}: {there} is a file, not a folder")
    if not os.access(there, os.W_OK):
        raise Problem(f"{option} {path}: {there} may not be written")
