"""What a result must say about the machine it came from."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def _field(path: str, key: str) -> str:
    try:
        for line in Path(path).read_text().splitlines():
            name, _, value = line.partition(":")
            if name.strip() == key:
                return value.strip()
    except OSError:
        pass
    return ""


def _cache(index: int) -> dict[str, str]:
    folder = Path(f"/sys/devices/system/cpu/cpu0/cache/index{index}")

    def read(name: str) -> str:
        return (folder / name).read_text().strip()

    return {"level": read("level"), "type": read("type"), "size": read("size"), "cpus": read("shared_cpu_list")}


def _caches() -> list[dict[str, str]]:
    try:
        return [_cache(i) for i in range(8) if Path(f"/sys/devices/system/cpu/cpu0/cache/index{i}").exists()]
    except OSError:
        return []


def _quota() -> str:
    for path in ("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us"):
        try:
            return Path(path).read_text().strip()
        except OSError:
            continue
    return ""


def describe() -> dict:
    return {
        "processor": _field("/proc/cpuinfo", "model name") or platform.machine(),
        "architecture": platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory": _field("/proc/meminfo", "MemTotal"),
        "virtual": " hypervisor" in _field("/proc/cpuinfo", "flags"),
        "caches": _caches(),
        "cpu_quota": _quota(),
        "kernel": f"{platform.system()} {platform.release()}",
        "load": [round(value, 2) for value in os.getloadavg()],
    }


def busy_note(machine: dict) -> str:
    """ "" or a warning: what others do on the machine disturbs ranks that share cores most of all."""
    load, cores = machine.get("load", [0])[0], machine.get("cores", 1)
    if load < 0.5 * cores:
        return ""
    return f"the machine was busy when this began (load {load} on {cores} cores): the times are not to be trusted"


def in_words(machine: dict) -> str:
    kind = " (virtual)" if machine.get("virtual") else ""
    cores = machine.get("cores", "?")
    return f"{machine.get('processor', 'unknown processor')}{kind}, {cores} cores, {machine.get('kernel', '')}"
