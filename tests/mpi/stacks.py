"""What the processes of a job that hangs are doing: said before the job is stopped, or it is never known."""

import shutil
import subprocess
from pathlib import Path

GDB = ["gdb", "-batch", "-nx", "-ex", "set pagination off", "-ex", "thread apply all backtrace 30"]


def descendants(pid: int) -> list[int]:
    """The process and all below it; launchers give ranks sessions of their own, so a session would not do."""
    found = [pid]
    for parent in found:
        for children in Path("/proc", str(parent), "task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:  # gone meanwhile
                pass
    return found


def of_process(pid: int) -> str:
    folder = Path("/proc", str(pid))
    try:
        command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        state = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("State"))
        text = f"process {pid}: {command}\n{state}, in the kernel: {(folder / 'wchan').read_text() or '-'}\n"
    except (OSError, StopIteration):
        return f"process {pid} has ended\n"
    if shutil.which("gdb"):
        try:
            told = subprocess.run([*GDB, "-p", str(pid)], capture_output=True, text=True, errors="replace", timeout=20)
            text += "".join(f"  {line}\n" for line in told.stdout.splitlines() if line.startswith(("#", "Thread")))
        except subprocess.TimeoutExpired:
            text += "  (gdb took too long)\n"
    return text


def below(pid: int) -> str:
    return "".join(of_process(one) for one in descendants(pid))
