"""Programs of the house as forks of a process that has imported the libraries already.

One starts in a third of the processor time that a new interpreter takes. Settings and models are
imported after the fork, with the environment of the program, and it ends as any program does.
"""

import atexit
import contextlib
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LONGEST_REQUEST = 100_000
LIBRARIES = (
    "apps.agent.loop",
    "apps.manifest.validation",
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
    "msgspec",
    "openai.types.chat",
    "openai.types.responses",
    "psycopg",
    "requests",
    "rest_framework",
    "sqlparse",
    "uvicorn",
    "yaml",
)
"""Nothing that reads Django's settings, starts a thread or opens a file when it is imported."""


@dataclass(frozen=True, slots=True)
class Fork:
    """A running program. `end` can be read once it is gone."""

    pid: int
    end: int

    def has_ended(self, seconds: float = 0.0) -> bool:
        """Waits for at most that long."""
        poll = select.poll()
        poll.register(self.end)
        return bool(poll.poll(seconds * 1000))

    def stop(self, seconds: float) -> None:
        """Ask it to end, and kill it when it has not after that long."""
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if not self.has_ended():
                os.kill(self.pid, sent)
            if self.has_ended(seconds):
                break
        os.close(self.end)


class ForkServer:
    """The process that has the libraries; it ends with the one that started it."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = {"PATH": os.environ["PATH"], "PYTHONUNBUFFERED": "1"}
        command = [sys.executable, "-m", __name__]
        with theirs:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdin=theirs.fileno()
            )

    def start(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        files: tuple[int, int, int],
    ) -> Fork:
        """`python -m module arguments`; `files` are its standard input, output and errors."""
        asked = {"argv": [module, *arguments], "environment": dict(environment)}
        end, held = os.pipe()
        socket.send_fds(self.control, [json.dumps(asked).encode()], [*files, held])
        os.close(held)
        return Fork(int(self.control.recv(100)), end)

    def close(self) -> None:
        self.control.close()
        self.process.wait()


@functools.cache
def fork_server() -> ForkServer:
    """The one of this process."""
    server = ForkServer()
    atexit.register(server.close)
    return server


def serve() -> list[str]:
    """Start what is asked for. Gives the arguments of the program in its process, else nothing."""
    control = socket.socket(fileno=0)
    for library in LIBRARIES:
        importlib.import_module(library)
    gc.collect()
    gc.freeze()  # or each program would look through all of it, and copy it
    signal.signal(signal.SIGCHLD, reap)
    while True:
        asked, files, _, _ = socket.recv_fds(control, LONGEST_REQUEST, 4)
        if not asked:
            control.detach()
            return []
        pid = os.fork()
        if not pid:
            control.detach()
            return become(json.loads(asked)["argv"], json.loads(asked)["environment"], files)
        for file in files:
            os.close(file)
        control.send(str(pid).encode())


def reap(*_: object) -> None:
    """Nobody asks how a program ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def become(arguments: list[str], environment: dict[str, str], files: list[int]) -> list[str]:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *standard, end = files
    os.set_inheritable(end, False)
    for number, file in enumerate(standard):
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(environment)
    return arguments


if __name__ == "__main__":
    sys.argv = serve()
    if sys.argv:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
