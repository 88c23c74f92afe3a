"""A path that LD_PRELOAD can hold: the loader splits the variable at spaces and colons, and expands `$`."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import sys
import time
from functools import cache
from pathlib import Path
from typing import Optional

from espalier.problem import Problem

# Open MPI divides the variables that it carries to other nodes at ";".
_UNFIT = re.compile(r"[\s:;$]")


def fits(path: Path) -> bool:
    return _UNFIT.search(str(path)) is None


@cache
def loadable(library: Path, several_nodes: bool) -> Path:
    """`library`, or a link to it without such characters, which is there as long as this process: `espalier run` becomes
    the launcher, so the link is there as long as the job."""
    if fits(library):
        return library
    if several_nodes:
        raise Problem(
            f"{library} cannot be preloaded: LD_PRELOAD is split at spaces and colons. A link would hold on this node "
            f"only, and the job may use others. {_advice(library)}"
        )
    folder = _private_folder(library)
    (folder / library.name).symlink_to(library)
    _remove_at_end(folder)
    return folder / library.name


def _advice(library: Path) -> str:
    return (
        "Make a link that all nodes see, without a space or colon in its path, to the folder "
        f"'{library.parent}', and name it: export ESPALIER_LIB=/path/of/the/link"
    )


def _private_folder(library: Path) -> Path:
    """A new folder that only this user can change (mode 0700)."""
    import tempfile  # rarely needed, and slow to load

    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp", "/dev/shm"):
        if base and fits(Path(base)):
            try:
                return Path(tempfile.mkdtemp(prefix="espalier-", dir=base)).absolute()
            except OSError:
                continue
    raise Problem(
        f"{library} cannot be preloaded: LD_PRELOAD is split at spaces and colons, and no folder for a link can be "
        f"written to. {_advice(library)}"
    )


def _remove_at_end(folder: Path) -> None:
    """A process of its own removes the folder when this one, whatever it has become by then, is gone, also by SIGKILL."""
    watched, lives = os.getpid(), _descriptor_of(os.getpid())
    child = os.fork()
    if child == 0:
        try:
            # Twice, so that the launcher does not get a child that it has not started.
            if os.fork() == 0:
                _watch(watched, lives, folder)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    if lives is not None:
        os.close(lives)


def _descriptor_of(process: int) -> Optional[int]:
    try:
        return os.pidfd_open(process)
    except (AttributeError, OSError):  # Python 3.8, Linux 5.2
        return None


def _watch(watched: int, lives: Optional[int], folder: Path) -> None:
    try:
        _leave_the_job(lives)
        _await_end(watched, lives)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _leave_the_job(lives: Optional[int]) -> None:
    """Neither the terminal's signals nor what the job's output goes to is held on to."""
    os.setsid()
    os.chdir("/")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    kept = os.dup2(lives, 3) if lives is not None else 2
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))
    nothing = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)


def _await_end(watched: int, lives: Optional[int]) -> None:
    if lives is not None:
        poll = select.poll()
        poll.register(3, select.POLLIN)
        poll.poll()
        return
    while _is_there(watched):
        time.sleep(1)


def _is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
