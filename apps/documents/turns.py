"""A pool of threads in which owners take turns."""

from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")
Task = tuple[Future[Any], Callable[[], Any]]


class FairPool:
    """Runs one task of each waiting owner before the second task of any of them."""

    def __init__(self, threads: int, name: str) -> None:
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self.lock = Lock()
        self.waiting: OrderedDict[str, deque[Task]] = OrderedDict()
        """The tasks of each owner; the owner whose turn is next comes first."""

    def submit(self, owner: str, work: Callable[[], T]) -> Future[T]:
        future: Future[T] = Future()
        with self.lock:
            self.waiting.setdefault(owner, deque()).append((future, work))
        self.threads.submit(self.run_next)
        return future

    def run_next(self) -> None:
        future, work = self.take_next()
        if not future.set_running_or_notify_cancel():
            return
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - `result` raises it
            future.set_exception(error)

    def take_next(self) -> Task:
        with self.lock:
            owner, tasks = self.waiting.popitem(last=False)
            task = tasks.popleft()
            if tasks:
                self.waiting[owner] = tasks
            return task
