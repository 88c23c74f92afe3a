"""An allreduce between two actors of Ray, timed: by gloo, or with ESPALIER_TORCH=gloo by Espalier.

    ESPALIER_TORCH=gloo python examples/ray_allreduce.py

wants ray, torch and espalier in one environment."""

import time

import ray
import ray.util.collective as collective
import torch

CALLS = 500


@ray.remote(num_cpus=1)
class Member:
    def __init__(self, rank, size):
        self.rank, self.size = rank, size

    def join(self):
        import espalier.torch  # noqa: F401: where espalier is installed, `import torch` does it

        collective.init_collective_group(self.size, self.rank, backend="gloo", group_name="sums")

    def sum(self):
        data = torch.full((4,), float(self.rank + 1))
        collective.allreduce(data, group_name="sums")
        zeros = torch.zeros(4)
        began = time.perf_counter()
        for _ in range(CALLS):
            collective.allreduce(zeros, group_name="sums")
        return data[0].item(), (time.perf_counter() - began) / CALLS


def main():
    ray.init(num_cpus=2, include_dashboard=False)
    members = [Member.remote(rank, 2) for rank in range(2)]
    ray.get([member.join.remote() for member in members])
    for sum_, seconds in ray.get([member.sum.remote() for member in members]):
        print(f"ray_allreduce: the sum is {sum_}, {'right' if sum_ == 3 else 'WRONG'}; {seconds * 1e6:.1f} µs a call")


if __name__ == "__main__":
    main()
