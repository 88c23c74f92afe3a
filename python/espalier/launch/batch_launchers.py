"""Launchers of batch systems and process managers, which start ranks of any MPI: the program says which."""

from __future__ import annotations

from espalier.launch.family import Family, table

# srun's words; its long options mostly carry their value behind "=".
SLURM = Family(
    name="Slurm",
    kind=None,
    values=table(
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

# Words of `jsrun --help` of IBM's Job Step Manager under LSF.
JSRUN = Family(
    name="jsrun (LSF)",
    kind=None,
    values=table(
        _1="""tasks_per_rs np cpu_per_rs launch_distribution gpu_per_rs rs_per_socket latency_priority memory_per_rs nrs
            rs_per_host stdio_mode appfile stdin_rank stdio_stderr stdio_stdout stdio_input chdir allocate_only erf_input
            erf_output erf_output_pidx launch_node_task use_reservation use_spindle smpiargs pre_post_exec save_resources
            use_resources exclude_hosts exit_on_error progress print_placement bind env_no_propagate env env_eval debug""",
    ),
    flags=frozenset("immediate help usage version".split()),
    set_environment=frozenset({"env", "E"}),
    folder=frozenset({"chdir", "h"}),
    configuration=frozenset({"appfile", "f", "erf_input"}),
    colon=False,
    short_values="apcdgKlmnrefIkothAHJLMPSUxXZbDEFu",
)

# Words of the manuals of `flux run` and `flux submit`.
FLUX = Family(
    name="Flux",
    kind=None,
    values=table(
        _1="""queue time-limit urgency job-name setopt setattr add-file dependency requires begin-time env env-remove env-file
            rlimit input output error cwd flags signal nodes ntasks cores cores-per-task gpus-per-task gpus-per-node
            tasks-per-node tasks-per-core bank taskmap log log-stderr cc bcc wait-event""",
    ),
    flags=frozenset("exclusive unbuffered label-io dry-run quiet verbose debug help wait watch progress jps".split()),
    set_environment=frozenset({"env"}),
    folder=frozenset({"cwd"}),
    colon=False,
    short_values="qtoSBNncg",
)

# HPE's Parallel Application Launch Service: the mpiexec of Cray systems under PBS. Its options are those of MPICH's, and more.
PALS = Family(
    name="PALS",
    kind=None,
    values=table(
        _2="genv env",
        _1="""n np ppn d depth host hosts hostlist hostfile exclude-hosts genvlist envlist wdir wd path configfile arch soft
            file cpu-bind mem-bind rlimits procinfo-file timeout pmi network""",
    ),
    flags=frozenset(
        """genvall genvnone envall envnone l label line-buffer abort-on-failure no-abort-on-failure v verbose help
        version""".split()
    ),
    set_environment=frozenset({"genv", "env"}),
    folder=frozenset({"wdir", "wd"}),
    configuration=frozenset({"configfile"}),
)
