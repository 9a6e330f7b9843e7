"""A thread pool that divides its threads fairly between the owners of tasks."""

from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple[Future[Any], Callable[[], Any]]


class FairPool:
    """Runs tasks on threads. Each owner with waiting tasks gets a turn before any of them gets a
    second one.

    One owner's tasks never occupy all threads, so that another owner's short task need not wait for
    them.
    """

    def __init__(self, threads: int, name: str) -> None:
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.most = max(1, threads - 1)
        self.lock = Lock()
        self.waiting: OrderedDict[str, deque[Task]] = OrderedDict()
        """The waiting tasks of each owner, in the order in which the owners have their turns."""
        self.running: Counter[str] = Counter()
        self.passed = 0
        """The number of threads that found no task to run, because each waiting owner was already
        using all but one of the threads.
        """

    def submit(self, owner: str, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self.lock:
            self.waiting.setdefault(owner, deque()).append((future, work))
        self.threads.submit(self.run_next)
        return future

    def run_next(self) -> None:
        found = self.take_next()
        if found is None:
            return
        owner, (future, work) = found
        try:
            if future.set_running_or_notify_cancel():
                future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            future.set_exception(error)
        finally:
            self.leave(owner)

    def take_next(self) -> tuple[str, Task] | None:
        with self.lock:
            free = (owner for owner in self.waiting if self.running[owner] < self.most)
            owner = next(free, None)
            if owner is None:
                self.passed += 1
                return None
            tasks = self.waiting.pop(owner)
            task = tasks.popleft()
            if tasks:
                self.waiting[owner] = tasks
            self.running[owner] += 1
            return owner, task

    def leave(self, owner: str) -> None:
        with self.lock:
            self.running[owner] -= 1
            if not self.running[owner]:
                del self.running[owner]
            if not self.passed:
                return
            self.passed -= 1
        self.threads.submit(self.run_next)
