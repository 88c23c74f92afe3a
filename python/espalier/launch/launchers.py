"""Launchers: which family one is, and how many values each of its options takes."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from espalier.mpi import kinds

_LAUNCHER = re.compile(r"^(mpirun|mpiexec|orterun|prterun|prun|srun)([.-].+)?$")


@dataclass(frozen=True)
class Family:
    """How a launcher's command line reads.

    values: option -> how many words follow it; options that are in neither table are unknown.
    set_environment: options that set a variable of the job.
    colon: contexts of several programs are divided by ":".
    """

    name: str
    kind: Optional[kinds.Kind]
    values: Mapping[str, int]
    flags: frozenset[str]
    set_environment: frozenset[str] = frozenset()
    folder: frozenset[str] = frozenset()
    configuration: frozenset[str] = frozenset()
    colon: bool = True
    short_values: str = ""


def _table(**counts: str) -> dict[str, int]:
    return {name: int(key[1:]) for key, names in counts.items() for name in names.split()}


# Words of `mpiexec -help` of MPICH and of Intel MPI, and of their manuals.
HYDRA = Family(
    name="Hydra (MPICH, Intel MPI)",
    kind=kinds.MPICH,
    values=_table(
        _2="genv env",
        _1="""n np f hostfile machinefile machine hosts host rankmap wdir dir configfile genvlist envlist arch path
            launcher launcher-exec bootstrap bootstrap-exec bootstrap-exec-args rmk topolib bind-to map-by membind demux
            errfile-pattern outfile-pattern prepend-pattern iface localhost nameserver order-nodes ppn perhost grr
            usize gpus-per-proc gpu-subdevs-per-proc memory-alloc-kinds pmi-args branch-count port-range tmpdir s
            gtool gtoolfile hosts-group cpu-bind hostos umask timeout ckpoint-interval ckpoint-prefix ckpoint-num
            ckpointlib soft file trace-collectives localuser localroot-exec""",
    ),
    flags=frozenset(
        """genvnone genvall envnone envall enable-x disable-x disable-auto-cleanup disable-hostname-propagation
        hybrid-hosts info pmi-port pmi prepend-rank prepend-timestamp l print-all-exitcodes print-rank-map profile
        skip-launch-node verbose v rr aps mps gdb nolocal prot silent-abort ordered-output localroot noconf ilp64
        static_mpi check_mpi cleanup""".split()
    ),
    set_environment=frozenset({"genv", "env"}),
    folder=frozenset({"wdir", "dir"}),
    configuration=frozenset({"configfile"}),
)

# Words of the manuals of Open MPI 4 (mpirun) and 5 (mpirun, prterun).
OPEN_MPI = Family(
    name="Open MPI",
    kind=kinds.OMPI,
    values=_table(
        _2="mca gmca omca gomca prtemca gprtemca pmixmca gpmixmca tune-mca",
        _1="""np n c x H host hostfile machinefile default-hostfile rankfile rf map-by bind-to rank-by N npernode
            npersocket ppr wdir wd set-cwd-to-dir output output-filename stdin timeout path prefix app-prefix
            preload-files preload-file-dest-dir tune am aca cpu-list cpu-set slot-list cpus-per-proc cpus-per-rank
            personality dvm dvm-uri ompi-server server-wait-time report-uri display runtime-options max-restarts pset
            app launch-agent stream-buffering with-ft xterm pid debugger report-pid spawn-timeout
            add-hostfile add-host cpu-modifiers exec-agent max-vm-size mca-base-env-list num-connect-retries
            forward-signals tmpdir session""",
    ),
    flags=frozenset(
        """allow-run-as-root oversubscribe nooversubscribe no-oversubscribe overload-allowed overload use-hwthread-cpus
        use-hwthreads report-bindings display-map display-devel-map display-topo display-allocation display-devel-allocation
        display-diffable-map tag-output timestamp-output xml merge-stderr-to-stdout verbose v V q quiet h debug debug-daemons
        debug-daemons-file debug-devel leave-session-attached preload-binary s noprefix pernode do-not-launch
        do-not-resolve nolocal novm continuous enable-recovery disable-recovery get-stack-traces report-state-on-timeout
        report-child-jobs-separately index-argv-by-rank bycore bynode byslot bind-to-core bind-to-socket bind-to-none tv
        enable-instant-on-support set-sid show-progress no-ready-msg daemonize system-server do-not-aggregate""".split()
    ),
    set_environment=frozenset({"x"}),
    folder=frozenset({"wdir", "wd"}),
    configuration=frozenset({"app"}),
)

# srun's words; its long options mostly carry their value behind "=".
SLURM = Family(
    name="Slurm",
    kind=None,
    values=_table(
        _1="""account acctg-freq array bb bbf begin chdir cluster-constraint clusters comment constraint container
            container-id core-spec cores-per-socket cpu-bind cpu-freq cpus-per-gpu cpus-per-task deadline
            delay-boot dependency distribution epilog error exclude export export-file extra extra-node-info gpu-bind
            gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres gres-flags gid het-group hint input job-name
            jobid kill-on-bad-exit licenses mail-type mail-user mcs-label mem mem-bind mem-per-cpu mem-per-gpu mincpus mpi
            multi-prog-file network nice nodefile nodelist nodes ntasks ntasks-per-core ntasks-per-gpu ntasks-per-node
            ntasks-per-socket open-mode output partition power prefer priority profile prolog propagate qos relative
            reservation resv-ports segment signal slurmd-debug sockets-per-node switches task-epilog task-prolog
            thread-spec threads threads-per-core time time-min tmp tres-bind tres-per-task uid wait wckey""",
    ),
    flags=frozenset(
        """abort-on-error contiguous disable-status exact exclusive help hold immediate interactive join kill label
        multi-prog no-allocate no-kill no-shell overcommit overlap oversubscribe preserve-env pty quiet quit-on-interrupt
        reboot requeue slurmd-debug spread-job stepmgr test-only unbuffered use-min-nodes verbose version whole
        H k l O Q s u v V X Z E""".split()
    ),
    folder=frozenset({"chdir", "D"}),
    configuration=frozenset({"multi-prog"}),
    colon=True,
    short_values="AaBbCcDdeGgiJLMmNnopPqrStTUWwx",
)


def is_launcher(word: str) -> bool:
    return _LAUNCHER.match(Path(word).name) is not None


def family_of(launcher: Path, environment: Mapping[str, str]) -> Optional[Family]:
    """By the file's name where it tells, else by what the launcher says of itself."""
    for name in (launcher.name, launcher.resolve().name):
        if name.startswith("srun"):
            return SLURM
        if name.startswith(("orterun", "prterun", "prun")) or name.endswith(".openmpi"):
            return OPEN_MPI
        if re.search(r"\.(hydra|gforker|mpich)$", name):
            return HYDRA
    return _by_version(launcher, environment)


def _by_version(launcher: Path, environment: Mapping[str, str]) -> Optional[Family]:
    try:
        run = subprocess.run(
            [str(launcher), "--version"],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=20,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if re.search(r"Open MPI|OpenRTE|PRRTE", run.stdout):
        return OPEN_MPI
    if re.search(r"HYDRA|MPICH|Intel\(R\) MPI|MVAPICH", run.stdout, re.IGNORECASE):
        return HYDRA
    return SLURM if run.stdout.startswith("slurm") else None
