"""What a collective returns (torch.distributed.Work), and the thread that does those that are not waited for at once."""

from __future__ import annotations

import queue
import threading
from datetime import timedelta
from typing import Callable, Optional

import torch
import torch.distributed as dist

Results = list


class Done(dist.Work):
    """Of a collective that is over."""

    def __init__(self, results: Results) -> None:
        super().__init__()
        self._results = results

    def is_completed(self) -> bool:
        return True

    def is_success(self) -> bool:
        return True

    def exception(self) -> None:
        return None

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        return True

    def synchronize(self) -> None:
        pass

    def result(self) -> Results:
        return self._results

    def get_future(self) -> torch.futures.Future:
        future: torch.futures.Future = torch.futures.Future()
        future.set_result(self._results)
        return future


class Pending(dist.Work):
    """Of a collective that the group's thread does, or will do."""

    def __init__(self, run: Callable[[], None], results: Results) -> None:
        super().__init__()
        self._run: Optional[Callable[[], None]] = run
        self._results = results
        self._over = threading.Event()
        self._problem: Optional[Exception] = None
        self._future: Optional[torch.futures.Future] = None
        self._lock = threading.Lock()  # of the future, which two threads may ask for or complete

    def perform(self) -> None:
        run, self._run = self._run, None  # what it holds goes with it
        assert run is not None
        try:
            run()
        except Exception as problem:
            self._problem = problem
        with self._lock:
            self._over.set()
            future = self._future
        if future is not None:
            self._complete(future)

    def is_completed(self) -> bool:
        return self._over.is_set()

    def is_success(self) -> bool:
        return self._over.is_set() and self._problem is None

    def exception(self) -> Optional[Exception]:
        return self._problem

    def wait(self, timeout: Optional[timedelta] = None) -> bool:
        limited = timeout is not None and timeout > timedelta(0)
        if not self._over.wait(timeout.total_seconds() if limited and timeout else None):
            raise RuntimeError(f"espalier: a collective was not over in the {timeout} that the wait allowed")
        if self._problem is not None:
            raise self._problem
        return True

    def synchronize(self) -> None:
        self.wait()

    def result(self) -> Results:
        return self._results

    def get_future(self) -> torch.futures.Future:
        with self._lock:
            if self._future is not None:
                return self._future
            future = self._future = torch.futures.Future()
            over = self._over.is_set()
        if over:
            self._complete(future)
        return future

    def _complete(self, future: torch.futures.Future) -> None:
        if self._problem is None:
            future.set_result(self._results)
        else:
            future.set_exception(self._problem)

    def until_over(self) -> None:
        self._over.wait()


class Worker:
    """A thread that does works in the order in which they come; made by the first one."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._works: queue.SimpleQueue = queue.SimpleQueue()
        self._thread: Optional[threading.Thread] = None
        self._last: Optional[Pending] = None

    def add(self, work: Pending) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=_perform_all, args=[self._works], name=self._name, daemon=True)
            self._thread.start()
        self._last = work
        self._works.put(work)

    def drain(self) -> None:
        """Until all that has come is over: what follows on the calling thread comes after it."""
        last, self._last = self._last, None
        if last is not None:
            last.until_over()

    def busy(self) -> bool:
        return self._last is not None

    def end(self) -> None:
        if self._thread is not None:
            self._works.put(None)


def _perform_all(works: queue.SimpleQueue) -> None:
    while True:
        work = works.get()
        if work is None:
            return
        work.perform()
