"""Allgathers of a few bytes through torch's store: by them the ranks of a group come to share memory, and agree."""

from __future__ import annotations

import ctypes
from contextlib import suppress
from datetime import timedelta

import torch.distributed as dist


class StoreExchange:
    """Collective over the ranks of a group, each call. A rank that does not come is named when the time is over."""

    def __init__(self, store: dist.Store, rank: int, size: int, timeout: timedelta) -> None:
        self._store, self._rank, self._size, self._timeout = store, rank, size, timeout
        self._round = 0
        self.failure = ""  # of gather_into(), whose caller is C

    def gather(self, mine: bytes) -> list[bytes]:
        keys = [self._key(self._round, rank) for rank in range(self._size)]
        self._store.set(keys[self._rank], mine)
        try:
            self._store.wait(keys, self._timeout)
        except Exception as problem:
            raise RuntimeError(self._late(keys)) from problem
        everyone = [self._store.get(key) for key in keys]
        if self._round > 0:  # all have read what they read before they came to this round
            self._forget(self._key(self._round - 1, self._rank))
        self._round += 1
        return everyone

    def gather_into(self, mine: int, everyone: int, count: int, context: object) -> int:
        """As an espalier_exchange_fn: no exception may pass through C."""
        try:
            blocks = self.gather(ctypes.string_at(mine, count))
            if any(len(block) != count for block in blocks):
                raise RuntimeError("the ranks do not run the same version of Espalier")
            ctypes.memmove(everyone, b"".join(blocks), count * self._size)
        except Exception as problem:
            self.failure = str(problem)
            return 1
        return 0

    @staticmethod
    def _key(number: int, rank: int) -> str:
        return f"{number}/{rank}"

    def _forget(self, key: str) -> None:
        with suppress(Exception):  # not every store can, and nothing depends on it
            self._store.delete_key(key)

    def _late(self, keys: list[str]) -> str:
        late = [str(rank) for rank, key in enumerate(keys) if not self._store.check([key])]
        seconds = self._timeout.total_seconds()
        return f"in {seconds:g} s these ranks of {self._size} did not come to the making of the group: {', '.join(late) or '?'}"
