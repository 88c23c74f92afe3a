"""Programs that only start another one: env, taskset, numactl, time and the like."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional


@dataclass(frozen=True)
class Wrapper:
    """values: options that take a following word; words: how many words of its own come before the program."""

    values: frozenset[str] = frozenset()
    words: int = 0
    settings: bool = False


def _of(values: str = "", words: int = 0, settings: bool = False) -> Wrapper:
    return Wrapper(frozenset(values.split()), words, settings)


WRAPPERS = {
    "env": _of("-u --unset -C --chdir", settings=True),
    "taskset": _of(words=1),
    "numactl": _of(
        "-i --interleave -P --preferred-many -p --preferred -N --cpunodebind -C --physcpubind -m --membind"
    ),
    "nice": _of("-n --adjustment"),
    "ionice": _of("-c --class -n --classdata"),
    "chrt": _of("-T --sched-runtime -P --sched-period -D --sched-deadline", words=1),
    "time": _of("-f --format -o --output"),
    "timeout": _of("-k --kill-after -s --signal", words=1),
    "unshare": _of("-S --setuid -G --setgid -R --root -w --wd --propagation --setgroups"),
    "setpriv": _of(
        """--ambient-caps --inh-caps --bounding-set --ruid --euid --rgid --egid --reuid --regid --groups --securebits --pdeathsig
        --selinux-label --apparmor-profile"""
    ),
    "prlimit": _of(),
    "flock": _of("-w --wait --timeout -E --conflict-exit-code", words=1),
    "hwloc-bind": _of("--mempolicy --pid"),
    "nohup": _of(),
    "setsid": _of(),
    "stdbuf": _of("-i --input -o --output -e --error"),
    "strace": _of("-e -o -p -s -P -E -u -a -b -I -O -S -X"),
    "ltrace": _of("-e -o -p -s -a -n -u -x -l -F -D"),
    "valgrind": _of(),
    "gdb": _of("-ex -x -iex -ix -d"),
}

_SETTING = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*=")


@dataclass
class Unwrapped:
    """`start`: index of the wrapped program, None when there is none behind the wrapper."""

    start: Optional[int]
    settings: list[int] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    cleared: bool = False
    folder: Optional[str] = None


def _name(word: str) -> str:
    return Path(word).name


def unwrap(words: list[str], start: int, end: int) -> Unwrapped:
    """Steps over every wrapper from `start` on; collects the variables that `env` sets on the way."""
    result = Unwrapped(start)
    while result.start is not None and result.start < end and _name(words[result.start]) in WRAPPERS:
        _step_over(words, result, end)
    if result.start is not None and result.start >= end:
        result.start = None
    return result


def _step_over(words: list[str], result: Unwrapped, end: int) -> None:
    assert result.start is not None
    wrapper = WRAPPERS[_name(words[result.start])]
    at = result.start + 1
    own_words = wrapper.words
    while at < end:
        word = words[at]
        if wrapper.settings and _SETTING.match(word):
            result.settings.append(at)
        elif word == "--":
            at += 1 + own_words
            break
        elif word.startswith("-") and len(word) > 1:
            if wrapper.settings:
                _env_option(words, at, result, end)
            at += word in wrapper.values
        elif wrapper.settings and word == "-":
            result.cleared = True
        elif own_words > 0:
            own_words -= 1
        else:
            break
        at += 1
    result.start = at


def _env_option(words: list[str], at: int, result: Unwrapped, end: int) -> None:
    word = words[at]
    following = words[at + 1] if at + 1 < end else ""
    if word in ("-i", "--ignore-environment"):
        result.cleared = True
    elif word in ("-u", "--unset"):
        result.removed.append(following)
    elif word.startswith("--unset="):
        result.removed.append(word.split("=", 1)[1])
    elif word in ("-C", "--chdir"):
        result.folder = following
