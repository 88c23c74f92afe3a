"""`espalier run`: preloads the build of Espalier that fits the program's MPI, then becomes the command it was given."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, Optional, Protocol

import typer

from espalier.completion import words
from espalier.install import library, repair
from espalier.interface.help import Command, examples
from espalier.launch import command_line, containers, foreign, intel, launchers, nodes, preload, started
from espalier.launch.command_line import CommandLine, Program
from espalier.launch.loadable import loadable
from espalier.mpi import identify, kinds, sanitizers
from espalier.problem import Problem, note
from espalier.run import options

NOT_FOUND = 127
NOT_EXECUTABLE = 126


class _RunCommand(Command):
    """`--stats` may stand alone or carry a file behind "=": alone it means `--stats=1`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        takes_value = {
            name for option in self.params if not getattr(option, "is_flag", True) for name in option.opts
        }
        words, at = list(args), 0
        while at < len(words) and words[at].startswith("-") and words[at] != "--":
            if words[at] == "--stats":
                words[at] = "--stats=1"
            at += 2 if words[at] in takes_value else 1
        return super().parse_args(ctx, words)


def run(
    command: list[str] = typer.Argument(
        None, metavar="[--] COMMAND...", help="The launcher and the program, as ever."
    ),
    mpi: Optional[str] = typer.Option(
        None,
        metavar="mpich|ompi|abi",
        autocompletion=words.one_of(*kinds.KINDS),
        help="The program's MPI, instead of looking for it.",
    ),
    stats: Optional[str] = typer.Option(
        None, metavar="[=FILE]", help="Print at the end what ran, or write it to FILE as JSON: --stats=FILE."
    ),
    fallback: Optional[str] = typer.Option(
        None,
        metavar="error|warn|silent",
        autocompletion=words.one_of(*options.FALLBACKS),
        help="What to do about a call that the host MPI has to serve.",
    ),
    rules: Optional[Path] = typer.Option(
        None, metavar="FILE", help="Rules table that is asked before the built-in one."
    ),
    shm: Optional[str] = typer.Option(
        None, metavar="SIZE", help="Shared memory for the ranks of a node, in all."
    ),
    wait: Optional[str] = typer.Option(
        None,
        metavar="auto|spin|yield|sleep",
        autocompletion=words.one_of(*options.WAITS),
        help="How ranks wait for each other.",
    ),
    sites: Optional[int] = typer.Option(
        None, metavar="N", min=1, max=8, help="With --stats=FILE: where in the program calls came from, N frames of each."
    ),
    arrivals: bool = typer.Option(False, "--arrivals", help="With --stats: how long ranks wait for the last one to come."),
    top: bool = typer.Option(False, "--top", help="Show once a second, on stderr, what the collectives do (docs/who.md)."),
    flight: Optional[Path] = typer.Option(
        None, "--flight", metavar="FILE", help="Write each rank's last 64 calls, with their times, to FILE.rank-N at the end."
    ),
    flight_at: Optional[int] = typer.Option(
        None, "--flight-at", metavar="N", min=1, help="With --flight: when a rank has made N calls, and not at the end."
    ),
    set_: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", autocompletion=words.settings, help="Any other setting: ESPALIER_KEY=VALUE."
    ),
    number: Optional[int] = typer.Option(
        None, "-n", metavar="N", help="N ranks here without MPI, for a GASPI program (libespalier-gaspi.so)."
    ),
    quiet: bool = typer.Option(False, "--quiet", "-q", help="No notes on stderr."),
    verbose: bool = typer.Option(False, "--verbose", "-v", help="Say what was found and why."),
) -> None:
    """Run an MPI program, unchanged, with Espalier."""
    if not command:
        raise Problem("nothing to run; write the command behind it: espalier run -- mpirun -n 4 ./app")
    asked = options.environment(
        stats=stats, fallback=fallback, rules=rules, shm=shm, wait=wait, sites=sites, arrivals=arrivals, flight=flight,
        flight_at=flight_at, pairs=set_,
    )
    if number is not None:
        from espalier.run import ranks

        raise typer.Exit(ranks.start(list(command), number, {**os.environ, **asked}))
    voice = _Voice(quiet, verbose)
    if doubt := options.doubt_about_file(asked.get("ESPALIER_STATS", "")):
        voice.warning(doubt)
    if top:
        from espalier.run import top as live

        with live.counting({**os.environ, **asked}) as (counting, file):
            words, environment = prepare(list(command), counting, options.kind(mpi), voice)
            raise typer.Exit(live.watch(words, environment, file))
    words, environment = prepare(list(command), {**os.environ, **asked}, options.kind(mpi), voice)
    _become(words, environment)


run.typer_settings = {  # type: ignore[attr-defined]
    "cls": _RunCommand,
    "context_settings": {"allow_interspersed_args": False},
    "epilog": examples(
        "espalier run -- mpirun -n 4 ./app",
        "espalier run --stats=run.json -- srun -n 64 python script.py",
        "espalier run --stats=run.json --sites 2 --arrivals -- mpirun -n 4 ./app",
        "espalier run --stats=run.json --arrivals --flight=last -- mpirun -n 4 ./app",
        "espalier run --fallback warn --set tree=flat -- mpirun -n 4 ./app",
    ),
}


class Voice(Protocol):
    """Where prepare() says what it looked at, and what it warns of."""

    def detail(self, text: str) -> None: ...

    def warning(self, text: str) -> None: ...


class _Voice:
    def __init__(self, quiet: bool, verbose: bool):
        self.quiet, self.verbose = quiet, verbose

    def detail(self, text: str) -> None:
        if self.verbose:
            note(text)

    def warning(self, text: str) -> None:
        if not self.quiet:
            note(text)


def prepare(
    words: list[str],
    environment: dict[str, str],
    forced: Optional[kinds.Kind],
    voice: Voice,
    own: Optional[dict[str, str]] = None,
) -> tuple[list[str], dict[str, str]]:
    """What to start, and in which environment. Without a fitting build: the words and environment as they came.

    own: variables for the programs alone, not for their launcher.
    """
    if environment.get("ESPALIER", "").lower() in ("off", "0", "no", "false"):
        voice.detail("ESPALIER=off: nothing is preloaded")
        return words, environment
    line = _read(words, environment, voice)
    paths = [_path_of(program, line, environment) for program in line.programs]
    container = containers.closed(line)
    if container:
        voice.warning(containers.closed_note(container, library((forced or kinds.MPICH).library)))
        return words, environment
    for program, path in zip(line.programs, paths):
        program.own = own or {}
        program.first = sanitizers.needed(path, program.environment(environment)) if path else ()
    kind = forced or _kind(line, paths, environment, voice)
    if kind is None:
        return words, environment
    build = library(kind.library)
    if not build.exists():
        voice.warning(f"{build} is not there; {repair()}. The program runs without Espalier.")
        return words, environment
    if any(program.cleared for program in line.programs):
        voice.warning(
            "`env -i` takes Espalier from the program again; leave it out, or name the variables to remove (-u)"
        )
    build = loadable(build, nodes.several(line, environment))
    environment[preload.VARIABLE] = preload.joined(build, environment.get(preload.VARIABLE, ""))
    voice.detail(f"LD_PRELOAD={environment[preload.VARIABLE]}")
    for program in line.programs:
        if containers.is_open(program):
            environment.update(containers.variables(build, environment))
            voice.warning(containers.open_note(program, build))
        if program.first:
            voice.detail(f"{' and '.join(program.first)} is loaded first in {program.name}: the runtime of a sanitizer")
    return preload.forwarded(line, build, environment), environment


def _read(words: list[str], environment: dict[str, str], voice: Voice) -> CommandLine:
    def family_of(launcher: Path) -> Optional[launchers.Family]:
        _add_intel(launcher, environment, voice)
        return launchers.family_of(launcher, environment)

    line = command_line.read(words, environment, family_of, started.starts_others(environment))
    if line.launcher_word is not None and line.launcher is None:
        raise _missing(words[line.launcher_word], environment, None)
    if line.launcher is not None:
        voice.detail(
            f"launcher {line.launcher}: {line.family.name if line.family else 'of no MPI that is known here'}"
        )
    for word in line.unknown:
        voice.detail(f"option {word} of the launcher is not known here")
    return line


def _add_intel(part: Path, environment: dict[str, str], voice: Voice) -> None:
    for name, value in intel.settings(part, environment).items():
        first, more, _ = value.partition(os.pathsep)
        voice.detail(f"Intel MPI needs {name}={first}{more and ':...'}")
        environment[name] = value


def _missing(name: str, environment: dict[str, str], folder: Optional[str]) -> Problem:
    path = Path(folder or ".") / name
    if "/" in name and path.is_dir():
        return Problem(f"'{name}' is a folder, not a program", NOT_EXECUTABLE)
    if "/" in name and path.exists():
        return Problem(
            f"'{name}' may not be executed; allow it with chmod +x, or start it by its interpreter",
            NOT_EXECUTABLE,
        )
    where = f"looked in {path.parent.absolute()}" if "/" in name else "it is in no folder of PATH"
    return Problem(f"there is no program '{name}' ({where})", NOT_FOUND)


def _path_of(program: Program, line: CommandLine, environment: dict[str, str]) -> Optional[Path]:
    seen = program.environment(environment)
    path = command_line.find(program.name, {**environment, **seen}, program.folder)
    if path is None and program.folder:
        path = command_line.find(program.name, environment)
    # A launcher also looks for a bare name in its working folder.
    if path is None and line.launcher and "/" not in program.name:
        path = command_line.find(f"./{program.name}", environment, program.folder)
    if path is None and not line.unknown and line.configured is None:
        raise _missing(program.name, environment, program.folder)
    return path


def _kind(
    line: CommandLine, paths: list[Optional[Path]], environment: dict[str, str], voice: Voice
) -> Optional[kinds.Kind]:
    """The one MPI of all programs, or None after saying why there is none."""
    findings = [_finding(program, path, line, environment) for program, path in zip(line.programs, paths)]
    for program, path, finding in zip(line.programs, paths, findings):
        program.first = finding.first or program.first
        _check_launcher(line, path, finding, environment, voice)
    if line.configured is not None or not findings:
        findings = [_only_launcher(line)]
    for finding in findings:
        voice.detail(finding.why)
    unfit = next((finding for finding in findings if finding.kind is None), None)
    if unfit is not None:
        voice.warning(
            f"cannot tell which MPI to serve: {unfit.why}. The program runs without Espalier; "
            "if you know its MPI, say --mpi mpich, ompi or abi."
        )
        return None
    if len({finding.kind for finding in findings}) > 1:
        voice.warning("the programs of this job load different MPIs; it runs without Espalier.")
        return None
    _say_guess(findings[0], voice)
    if line.launcher is None and findings[0].library is not None:
        _add_intel(findings[0].library, environment, voice)
    return findings[0].kind


def _finding(
    program: Program, path: Optional[Path], line: CommandLine, environment: dict[str, str]
) -> identify.Finding:
    if path is None:
        return _only_launcher(line)
    if line.launcher is None:
        environment = {**environment, **intel.settings(path, environment)}
    launcher = line.family.kind if line.family else None
    seen = program.environment(environment)
    found = identify.program(path, seen, program.folder, launcher)
    if found.kind is not None and not found.guess:
        return found
    return started.finding(program, path, seen, lambda inner: launchers.family_of(inner, seen)) or found


def _check_launcher(
    line: CommandLine, path: Optional[Path], finding: identify.Finding, environment: dict[str, str], voice: Voice
) -> None:
    if path and (doubt := foreign.without_launcher(line, path, finding, environment)):
        voice.warning(doubt)
    trouble = foreign.trouble(line, finding, environment)
    if trouble and not finding.guess:
        raise Problem(trouble)
    if trouble:
        voice.warning(trouble)


def _only_launcher(line: CommandLine) -> identify.Finding:
    if line.family is not None and line.family.kind is not None:
        kind = line.family.kind
        return identify.Finding(kind, f"the launcher {line.launcher} belongs to {kind.name}", guess=True)
    return identify.Finding(
        None, f"the command line of {line.launcher or line.words[0]} names no program that is found"
    )


def _say_guess(finding: identify.Finding, voice: Voice) -> None:
    if finding.guess and ("script" in finding.why or "seems to start" in finding.why):
        voice.warning(f"{finding.why}. If it starts programs of another MPI, name that one: --mpi")


def _become(words: list[str], environment: dict[str, str]) -> None:
    sys.stdout.flush()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it, and what is ignored stays so in the program
    try:
        os.execvpe(words[0], words, environment)
    except FileNotFoundError as error:
        raise _missing(words[0], environment, None) from error
    except PermissionError as error:
        raise Problem(f"'{words[0]}' may not be executed", NOT_EXECUTABLE) from error
    except OSError as error:
        raise Problem(f"'{words[0]}' cannot be started ({error.strerror})", NOT_EXECUTABLE) from error
