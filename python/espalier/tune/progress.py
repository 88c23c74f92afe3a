"""A bar with what is measured now and the time that is left."""

from __future__ import annotations

from espalier import terminal
from espalier.measured.time_left import time_left
from espalier.tune.campaign import STAGES, Campaign, Job


def title(job: Job) -> str:
    return f"{STAGES[job.stage].name}, {job.ranks} ranks"


def run(campaign: Campaign, what: str) -> None:
    """On a terminal a bar on stderr; else a line a stage."""
    from rich.progress import BarColumn, Progress, TextColumn

    out = terminal.console(errors=True)
    jobs = campaign.jobs()
    out.print(f"{what}: {len(campaign.points)} calls, {sum(map(len, campaign.plans.values()))} candidates, "
              f"at most {time_left(campaign.budget).removesuffix(' left')}")
    with Progress(BarColumn(24), TextColumn("{task.fields[left]}  {task.description}"), console=out) as bar:
        task = bar.add_task(title(jobs[0]), total=len(jobs), left=time_left(campaign.remaining()))
        said = ""
        for job in campaign.run():
            following = jobs[campaign.finished] if campaign.finished < len(jobs) else job
            bar.update(task, advance=1, description=title(following), left=time_left(campaign.remaining()))
            if not out.is_terminal and title(job) != said:
                out.print(f"  {title(job)}")
                said = title(job)
