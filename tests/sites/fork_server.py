"""Programs of this project as forks of a process that has already imported the libraries.

A fork starts in a third of the CPU time of a new interpreter. Settings and models are imported
after the fork, with the program's environment, and it ends like any other program.
"""

import atexit
import functools
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.suite.launched import LAUNCHED

ROOT = Path(__file__).resolve().parents[2]
LONGEST_REQUEST = 100_000
LIBRARIES = (
    "apps.agent.loop",
    "apps.manifest.validation.validation",
    "autobahn.twisted.websocket",
    "bs4",
    "channels",
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "django.contrib.admin.options",
    "django.db.models",
    "httpx",
    "httpx2",
    "jsonschema",
    "mcp.client.client",
    "mcp.server.mcpserver",
    "msgspec",
    "openai.types.chat",
    "openai.types.responses",
    "psycopg",
    "requests",
    "rest_framework",
    "sqlparse",
    "twisted.web.http",
    "uvicorn",
    "yaml",
)
"""Libraries that do not read Django's settings, start threads or open files on import."""


class Fork:
    """A running program, with the methods of `subprocess.Popen` that tests use."""

    def __init__(self, pid: int, end: int) -> None:
        self.pid = pid
        self.end = end
        self.status: int | None = None

    def poll(self, seconds: float = 0.0) -> int | None:
        """Return its exit status, or a negative signal number if a signal ended it. Return None
        while it runs."""
        if self.status is None:
            poll = select.poll()
            poll.register(self.end)
            if poll.poll(seconds * 1000):
                # The fork server reports nothing once it has ended.
                self.status = int(os.read(self.end, 100) or -signal.SIGKILL)
                os.close(self.end)
        return self.status

    def wait(self, seconds: float) -> int:
        """Wait for its end. Raises `TimeoutError`."""
        if (status := self.poll(seconds)) is None:
            raise TimeoutError(f"The program has not ended after {seconds} seconds.")
        return status

    def send_signal(self, sent: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended in the meantime
                os.kill(self.pid, sent)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def stop(self, seconds: float) -> None:
        """Terminate it, and kill it if it is still running after that time."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            self.send_signal(sent)
            self.poll(seconds)


class ForkServer:
    """The process with the imported libraries. It ends with the process that started it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", __name__]
        with theirs:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=theirs.fileno()
            )

    def start(
        self,
        program: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        files: tuple[int, int, int],
    ) -> Fork:
        """Start `python -m program arguments`, or a script if `program` is a path. `files` are its
        standard input, output and errors."""
        LAUNCHED[Path(program).name] += 1
        asked = {"argv": [program, *arguments], "environment": dict(environment)}
        end, told = os.pipe()
        with self.lock:  # otherwise, another thread could read the answer
            socket.send_fds(self.control, [json.dumps(asked).encode()], [*files, told])
            pid = int(self.control.recv(100))
        os.close(told)
        return Fork(pid, end)

    def close(self) -> None:
        self.control.close()
        self.process.wait()


@functools.cache
def fork_server() -> ForkServer:
    """Return the fork server of this process."""
    server = ForkServer()
    atexit.register(server.close)
    return server


@contextmanager
def serving(program: str, *arguments: str) -> Iterator[str]:
    """Run a server within the block. Yields the port, which the server prints."""
    ours, theirs = os.pipe()
    with os.fdopen(ours) as said, os.fdopen(theirs, "wb") as output:
        files = (output.fileno(), output.fileno(), 2)  # it reads nothing
        process = fork_server().start(program, arguments, os.environ, files)
        output.close()
        try:
            yield said.readline().strip()
        finally:
            process.kill()
            process.wait(60)


def serve() -> list[str]:
    """Start the requested programs. Returns the program's arguments in a fork, otherwise nothing."""
    control = socket.socket(fileno=0)
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()  # otherwise, each program would scan all of it, and copy it
    ends: dict[int, int] = {}
    signal.signal(signal.SIGCHLD, lambda *_: tell(ends))
    while True:
        asked, files, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 4)
        if not asked:
            control.detach()
            return []
        *standard, end = files
        if not (pid := fork(ends, end)):
            control.detach()
            return become(json.loads(asked)["argv"], json.loads(asked)["environment"], standard)
        for file in standard:
            os.close(file)
        control.send(str(pid).encode())


def fork(ends: dict[int, int], end: int) -> int:
    """Fork. Return 0 in the new process, which does not own any other program."""
    # The handler must know it before it can end.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    if pid := os.fork():
        ends[pid] = end
    else:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for other in (end, *ends.values()):
            os.close(other)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    return pid


def tell(ends: dict[int, int]) -> None:
    """Report the exit of each program that has ended. Another program may end at the same time, and
    its signal calls this function again before it returns."""
    for pid in [*ends]:
        with suppress(ChildProcessError):  # that call has reported it
            ended, status = os.waitpid(pid, os.WNOHANG)
            if ended:
                end = ends.pop(pid)
                os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
                os.close(end)


def become(arguments: list[str], environment: dict[str, str], files: list[int]) -> list[str]:
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


if __name__ == "__main__":
    sys.argv = serve()
    if sys.argv and sys.argv[0].endswith(".py"):
        sys.path.insert(0, str(Path(sys.argv[0]).parent))
        runpy.run_path(sys.argv[0], run_name="__main__")
    elif sys.argv:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
