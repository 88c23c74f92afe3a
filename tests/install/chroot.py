"""A Debian of its own below a folder: made by debootstrap out of the package sources of this machine, and entered in name
spaces that end with the command, so that no mount is left."""

import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from conftest import BUILD, run

# What the user's machine has: a Python that makes environments, and the distribution's MPIs. No compiler.
PACKAGES = "python3-venv,mpich,openmpi-bin"
# Mounts below $1, then the command as the user of that Debian; $2: what shall look as if it could not be loaded.
ENTER = r"""
set -e
root=$1 hidden=$2
shift 2
mount -t proc proc "$root/proc"
mount --rbind -o ro /sys "$root/sys"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
[ -z "$hidden" ] || for one in "$root"$hidden; do mount --bind /dev/null "$one"; done
exec chroot --userspec=user:user "$root" env -i HOME=/home/user PATH=/home/user/env/bin:/usr/local/bin:/usr/bin:/bin \
  LC_ALL=C.UTF-8 sh -c "cd; $1"
"""


def sources():
    """(address, suite) of each source of this machine's packages that has Debian's `main`."""
    for path in [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]:
        text = path.read_text() if path.is_file() else ""
        if path.suffix == ".sources":
            for part in re.split(r"\n\s*\n", text):
                words = {key.lower(): value.split() for key, value in re.findall(r"^([\w-]+):[ \t]*(.*)$", part, re.M)}
                if "main" in words.get("components", []):
                    yield from ((uri, suite) for uri in words.get("uris", []) for suite in words.get("suites", []))
        else:
            yield from re.findall(r"^deb (?:\[[^]]*\] )?(\S+) (\S+) (?:\S+ )*main", text, re.M)


def mirror(codename):
    """The address that has this release. Skips the test where there is none."""
    addresses = dict.fromkeys(uri.rstrip("/") for uri, suite in sources() if uri.startswith("http") and "/" not in suite)
    for address in addresses:
        try:
            with urllib.request.urlopen(f"{address}/dists/{codename}/Release", timeout=30) as answer:
                if re.search(rb"^Origin: Debian$", answer.read(), re.M):
                    return address
        except (urllib.error.URLError, OSError):
            continue
    pytest.skip(f"none of this machine's package sources ({', '.join(addresses) or 'none by http'}) has Debian's {codename}")


def base(codename):
    """The fresh machine, made once; tests work on copies of it."""
    folder = BUILD / "chroot" / codename
    if (folder / "complete").exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    packages = BUILD / "chroot/packages"  # kept, also by a run that is interrupted
    packages.mkdir(parents=True, exist_ok=True)
    words = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", f"--cache-dir={packages}", codename, str(folder), mirror(codename)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-4000:]
    run("chroot", folder, "useradd", "--create-home", "user")
    (folder / "complete").touch()
    return folder


def requirements():
    if os.geteuid() != 0:
        pytest.skip("a chroot needs root")
    if not shutil.which("debootstrap"):
        pytest.skip("debootstrap is not installed (apt-get install debootstrap)")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("this container may make no mount name space")


class Machine:
    def __init__(self, codename, folder):
        requirements()
        self.root = folder
        run("cp", "-a", "--reflink=auto", f"{base(codename)}/.", folder)
        self.home = folder / "home/user"

    def give(self, path, name=None):
        """A file of the user's home."""
        there = self.home / (name or path.name)
        shutil.copy(path, there)
        owner = self.home.stat()
        os.chown(there, owner.st_uid, owner.st_gid)

    def types(self, line, hidden="", check=True):
        """The line of the user's shell. hidden: a pattern of paths that are empty files meanwhile."""
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "enter", self.root, hidden, line]
        return run(*words, check=check)

    def files(self):
        """All of them, but what Python compiles of its own library when it is first used."""
        found = run("find", self.root, "-xdev", "-not", "-path", "*/__pycache__*", "-printf", "%P\n").stdout
        return set(found.splitlines())
