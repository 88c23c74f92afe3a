"""`espalier tune`: rules that fit this machine and this MPI, measured within minutes."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

import typer

from espalier.bench.collectives import NAMES
from espalier.completion import words
from espalier.interface import measuring, outputs
from espalier.interface.help import examples
from espalier.problem import Problem, note

if TYPE_CHECKING:
    from espalier.tune.campaign import Campaign
    from espalier.tune.subject import Subject

Json = dict[str, Any]


def tune(
    mpirun: Optional[str] = typer.Option(
        None, metavar="PATH", help="The launcher of the MPI to tune for, such as mpirun.mpich (default: mpirun on PATH)."
    ),
    mpicc: Optional[Path] = measuring.MPICC,
    ranks: Optional[str] = measuring.RANKS,
    collectives: str = typer.Option(
        ",".join(NAMES), autocompletion=words.listed(lambda: NAMES), help="Which collectives (default: all)."
    ),
    sizes: str = typer.Option("8,1K,8K,64K,512K", metavar="BYTES", help="Bytes per rank."),
    budget: str = measuring.BUDGET,
    from_run: Optional[Path] = typer.Option(
        None, "--from", metavar="FILE", help="Tune for what a run called: its statistics (espalier run --stats=FILE)."
    ),
    output: Optional[Path] = typer.Option(
        None, "-o", "--output", metavar="PATH", help="Where the rules go: a file, or a folder such as /etc/espalier."
    ),
    model: Optional[str] = typer.Option(
        None, metavar="NAME|FILE", autocompletion=words.machines, help="Costs that choose candidates (default: measured here)."
    ),
    machine: Optional[str] = typer.Option(
        None,
        metavar="NAME|FILE",
        autocompletion=words.machines,
        help="Tune for a machine that is only described, by simulation; with --output.",
    ),
    export: Optional[Path] = typer.Option(
        None, metavar="FILE", help="Tune the host by its own instead: write the settings that it reads, and try them."
    ),
    ucc: bool = typer.Option(False, "--ucc", help="With --export: UCC's algorithms, where Open MPI's collectives are UCC's."),
    plot: Optional[Path] = typer.Option(None, metavar="FILE", help="Draw what wins where: FILE.png or FILE.svg."),
    json: Optional[Path] = typer.Option(None, metavar="FILE", help="Write all that was found, with the intervals."),
    fresh: bool = typer.Option(False, "--fresh", help="Do not go on with a run that was cut off."),
    when_busy: Optional[str] = measuring.WHEN_BUSY,
) -> None:
    """Measure which plans are the fastest here, and write rules that Espalier finds by itself.

    docs/tuning.md says how it decides. Ctrl-C keeps what was measured: the same command goes on.
    """
    from espalier.bench import idle, process
    from espalier.measured import asked as tune_asked
    from espalier.tune import export_command, subject as tune_subject

    for option, path in (("--output", output), ("--plot", plot), ("--json", json), ("--export", export)):
        if path is not None and not (option == "--output" and path.is_dir()):
            outputs.check_tree(option, path)
    if plot is not None and plot.suffix not in (".png", ".svg"):
        raise Problem(f"--plot {plot}: the name ends in .png or .svg")
    if machine and output is None:
        raise Problem("--machine: no library finds rules for a machine that is not this one; name a file with --output")
    if machine and (mpirun or mpicc):
        raise Problem("--machine is simulated: it has no --mpirun")
    if export and (machine or output or plot or json or model):
        raise Problem("--export tunes the host by its own: it goes with --mpirun, --ranks, --collectives, --sizes and --budget")
    if ucc and not export:
        raise Problem("--ucc goes with --export FILE: it says whose algorithms that tunes")
    way = idle.way_of(when_busy)
    cores = tune_subject.cores_of(machine)
    asked = tune_asked.asked(ranks, collectives, sizes, budget, cores, from_run)
    if machine:
        chosen = tune_subject.described(machine, asked)
    else:
        host = tune_asked.host_of(mpirun, mpicc)
        process.die_with_jobs()
        idle.settle(way)
        if export:
            return export_command.run(host, asked, export, ucc)
        chosen = tune_subject.real(host, asked, model)
    campaign = _measured(chosen, asked.budget, fresh)
    _finish(chosen, campaign, output, plot, json)


tune.typer_settings = {  # type: ignore[attr-defined]
    "epilog": examples(
        "espalier tune",
        "espalier tune --mpirun mpirun.mpich --ranks 8,64 --budget 10m",
        "espalier tune --from run.json --collectives allreduce,bcast",
        "espalier tune --machine epyc-9654 --ranks 64 -o rules.json",
    )
}


def _measured(chosen: Subject, budget: int, fresh: bool) -> Campaign:
    from espalier.tune import progress
    from espalier.tune.campaign import Campaign
    from espalier.tune.kept import Kept, path_of

    kept = Kept(path_of(chosen.settings), chosen.settings)
    done = {} if fresh else kept.read() or {}
    if done:
        note(f"going on with a run that was cut off: {len(done)} jobs are done (--fresh: measure anew)")
    kept.begin(done)
    plans = chosen.candidates()
    campaign = Campaign(chosen.points, plans, chosen.cores, budget, chosen.measure, kept.add, done, chosen.with_host)
    progress.run(campaign, chosen.title)
    kept.remove()
    return campaign


def _finish(chosen: Subject, campaign: Campaign, output: Optional[Path], plot: Optional[Path], json: Optional[Path]) -> None:
    from espalier.bench import file
    from espalier.tune import place, rules, show

    verdicts = campaign.verdicts()
    today = datetime.date.today().isoformat()
    by_ranks = {point.ranks: point.ranks / chosen.cores for point in chosen.points}
    made = rules.of_verdicts(verdicts, campaign.plans, rules.Place(today, chosen.origin, by_ranks))
    facts = place.facts(campaign.host_version)
    tuned = {key: facts[key] for key in ("machine", "host", "espalier")} | {"date": today, **chosen.said}
    path = output if chosen.is_described and output else place.path_of(facts, output)
    place.write(path, rules.text_of(made, tuned))
    show.table(verdicts, campaign.plans)
    print(show.summary(verdicts))
    if json is not None:
        file.save(show.document(verdicts, campaign.plans, tuned), json)
    if plot is not None:
        show.plot(verdicts, campaign.plans, f"{chosen.title}, {today}", plot)
    found = path.parent in [Path(folder) for folder in facts["folders"]] and not chosen.is_described
    how = "found by itself with this machine and MPI" if found else f"ESPALIER_RULES={path} uses it"
    print(f"wrote {path}: {len(made)} rules; {how}")
