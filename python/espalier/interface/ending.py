"""Ends as other programs do: at a closed pipe by SIGPIPE, at Ctrl-C by SIGINT, so that a shell shows 141 and 130."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn


@contextmanager
def conventional() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        by_signal(signal.SIGPIPE)
    except KeyboardInterrupt:
        # What was printed until then is the user's.
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        by_signal(signal.SIGINT)


def by_signal(number: signal.Signals) -> NoReturn:
    """A shell that runs a script stops at a program that SIGINT has ended, and not at one that returned 130."""
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    os.kill(os.getpid(), number)
    os._exit(128 + number)  # not reached, unless the signal cannot end this process: the first one of a container


def flush() -> None:
    """What is still to be written: here, where a closed pipe can be told, and not while Python ends."""
    with conventional():
        sys.stdout.flush()
