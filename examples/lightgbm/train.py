"""LightGBM trained by several processes of one machine, through Espalier, LightGBM's own sockets, or one process.

    pip install lightgbm
    LD_LIBRARY_PATH=build/lib python examples/lightgbm/train.py --ranks 4
    LD_LIBRARY_PATH=build/lib python examples/lightgbm/train.py --ranks 4 --network sockets

Each process has a part of the rows. The features have few values, so the bins of a part are those of the whole, and
all three train the same trees, but for the order of sums. Prints the time, the error, and a fingerprint of the trees.
"""

import argparse
import hashlib
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import lightgbm
import numpy


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="processes")
    parser.add_argument("--network", choices=["espalier", "sockets"], default="espalier", help="of more than one process")
    parser.add_argument("--learner", choices=["data", "voting"], default="data", help="LightGBM's tree_learner")
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--trees", type=int, default=50)
    return parser.parse_args()


def data_of(options):
    """Targets are whole, so that the sums of the first tree are exact."""
    random = numpy.random.default_rng(1)
    features = random.integers(0, 50, (options.rows, options.features)).astype(numpy.float64)
    target = numpy.floor(features[:, 0] * features[:, 1] / 20 + features[:, 2] ** 2 / 30 + random.integers(0, 9, options.rows))
    return features, target


@contextmanager
def network(options, rank, machines):
    """Yields what LightGBM is told of it."""
    if options.ranks == 1:
        yield {}
    elif options.network == "sockets":
        port = int(machines.split(",")[rank].split(":")[1])
        yield {"machines": machines, "local_listen_port": port, "num_machines": options.ranks}
    else:
        from network import Network

        joined = Network(f"lightgbm-{machines}", rank, options.ranks)
        yield {"num_machines": options.ranks}
        joined.close()


def train(options, rank, machines):
    features, target = data_of(options)
    rows = slice(rank, None, options.ranks)
    fixed = {"objective": "regression", "num_threads": 1, "verbosity": -1, "seed": 1, "force_row_wise": True}
    with network(options, rank, machines) as told:
        params = {**fixed, **told, "tree_learner": options.learner, "pre_partition": options.ranks > 1}
        dataset = lightgbm.Dataset(features[rows], target[rows], params=params).construct()
        begin = time.perf_counter()
        model = lightgbm.train(params, dataset, options.trees)
        seconds = time.perf_counter() - begin
        text = model.model_to_string()
    if rank == 0:
        error = numpy.sqrt(numpy.mean((model.predict(features) - target) ** 2))
        trees = hashlib.sha256(re.search(r"^Tree=0.*?^end of trees", text, re.M | re.S)[0].encode()).hexdigest()[:12]
        name = "alone" if options.ranks == 1 else options.network
        print(f"{options.ranks} ranks, {name}: {seconds:.2f} s, error {error:.9f}, trees {trees}")


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def main():
    options = read_options()
    if "LIGHTGBM_RANK" in os.environ:
        return train(options, int(os.environ["LIGHTGBM_RANK"]), os.environ["LIGHTGBM_MACHINES"])
    machines = ",".join(f"127.0.0.1:{port}" for port in free_ports(options.ranks))
    environments = [{**os.environ, "LIGHTGBM_RANK": str(rank), "LIGHTGBM_MACHINES": machines} for rank in range(options.ranks)]
    processes = [subprocess.Popen([sys.executable, *sys.argv], env=environment) for environment in environments]
    sys.exit(max(abs(process.wait()) for process in processes))


if __name__ == "__main__":
    main()
