"""What another user of the machine may try against a job. Runs until it is ended; prints "ready", and then each success.

stranger.py squat NAME USER listen|bind   takes the name of a meeting first
stranger.py flood                         fills the queues of all of Espalier's sockets, with silence and garbage
stranger.py open                          opens the memory of all processes that it can find
"""

import glob
import os
import socket
import sys
import time


def squat(name, user, how):
    taken = socket.socket(socket.AF_UNIX)
    taken.bind(f"\0espalier-meet-{user}-{name}")
    if how == "listen":
        taken.listen(16)
    print("ready", flush=True)
    while how == "listen":
        rank = taken.accept()[0]
        rank.settimeout(1)
        try:
            if rank.recv(64):
                print("got bytes of a rank", flush=True)
        except OSError:
            pass
    time.sleep(3600)


def names():
    with open("/proc/net/unix", errors="replace") as table:
        return [line.rsplit("@", 1)[1].rstrip("\n") for line in table if "@espalier" in line]


def flood():
    print("ready", flush=True)
    kept, number = [], 0
    while True:
        for name in names():
            for _ in range(50):
                number += 1
                stranger = socket.socket(socket.AF_UNIX)
                stranger.setblocking(False)
                try:
                    stranger.connect("\0" + name)
                    if number % 2:
                        stranger.send(os.urandom(24))
                    kept.append(stranger)
                except OSError:
                    stranger.close()
        for old in kept[:-400]:
            old.settimeout(0)
            try:
                if old.recv(64):
                    print("got bytes of a rank", flush=True)
            except OSError:
                pass
            old.close()
        kept = kept[-400:]


def open_all():
    print("ready", flush=True)
    while True:
        for path in [*glob.glob("/dev/shm/espalier*"), *glob.glob("/proc/[0-9]*/fd/*")]:
            if f"/{os.getpid()}/" in path:
                continue
            try:
                kind = os.readlink(path) if path.startswith("/proc") else path
                if "espalier" in kind:
                    os.close(os.open(path, os.O_RDONLY))
                    print(f"opened {path}, {kind}", flush=True)
            except OSError:
                pass


{"squat": squat, "flood": flood, "open": open_all}[sys.argv[1]](*sys.argv[2:])
