"""Many groups, some of which overlap, used in turns by works that end later; and threads that use groups of their own."""

import itertools
import threading

import torch
import torch.distributed as dist
from job import Job


def of_all_sizes(job):
    groups = []
    for size in range(1, job.size + 1):
        for ranks in itertools.combinations(range(job.size), size):
            groups.append((ranks, dist.new_group(list(ranks), backend="espalier")))
    return [(ranks, group) for ranks, group in groups if job.rank in ranks]


def works_in_turns(job, groups):
    works = []
    for turn in range(20):
        for ranks, group in groups:
            data = torch.full((100 * (turn + 1),), float(job.rank))
            works.append((dist.all_reduce(data, group=group, async_op=True), data, float(sum(ranks))))
    for work, data, total in reversed(works):
        assert work.wait() and work.is_completed() and work.is_success()
        assert torch.equal(data, torch.full_like(data, total))


def waiting_after_works(job):
    """What is waited for comes after what is still under way."""
    data = torch.ones(1000)
    works = [dist.all_reduce(data, async_op=True) for _ in range(10)]
    dist.all_reduce(data)
    assert torch.equal(data, torch.full((1000,), float(job.size) ** 11))
    for work in works:
        work.wait()


def threads(job):
    groups = [dist.new_group(backend="espalier") for _ in range(3)]
    wrong = []

    def use(group, factor):
        for turn in range(200):
            data = torch.full((50,), float(factor + turn))
            dist.all_reduce(data, group=group)
            if not torch.equal(data, torch.full((50,), float(factor + turn) * job.size)):
                wrong.append((factor, turn))

    users = [threading.Thread(target=use, args=(group, number)) for number, group in enumerate(groups)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert not wrong, wrong


def come_and_go(job):
    for _ in range(30):
        group = dist.new_group(backend="espalier")
        data = torch.ones(4)
        dist.all_reduce(data, group=group)
        assert data[0] == job.size
        dist.destroy_process_group(group)


with Job() as job:
    groups = of_all_sizes(job)
    works_in_turns(job, groups)
    waiting_after_works(job)
    threads(job)
    come_and_go(job)
