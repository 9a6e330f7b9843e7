"""Python on the database of a site, in one process for all its tests.

The process is a fork of the site, which has imported everything. A site that is not served gets a
process of its own.
"""

import json
import os
import socket
import stat
import traceback
from typing import Any

from tests.sites.fork_server import Fork, fork_server

GREETING = b"ready\n"
"""The first line that a fork of a site sends."""


class Shell:
    """Exchanges JSON documents with a separate process at the other end of the socket, one per
    line. The process ends when the socket is closed."""

    def __init__(self, connected: socket.socket, process: Fork | None = None) -> None:
        self.process = process
        self.stream = connected.makefile("rw")
        connected.close()  # when the stream is closed

    def run(self, code: str, values: dict[str, Any]) -> Any:
        """Run code. Raises `AssertionError` with the traceback if it fails."""
        self.stream.write(json.dumps({"code": code, "values": values}) + "\n")
        self.stream.flush()
        answer = json.loads(self.stream.readline())
        assert "error" not in answer, answer["error"]
        return answer["result"]

    def close(self) -> None:
        self.stream.close()
        if self.process is not None:
            self.process.stop(60)


def start_shell(environment: dict[str, str]) -> Shell:
    """Start a shell in a process of its own."""
    ours, theirs = socket.socketpair()
    settings = {"DJANGO_SETTINGS_MODULE": "quickapps_site.settings"}
    with theirs:
        process = fork_server().start(
            "tests.sites.shell", (), {**environment, **settings}, (theirs.fileno(), 2, 2)
        )
    return Shell(ours, process)


def shell_of(site: socket.socket) -> Shell | None:
    """Return the shell at the other end of the standard input of a running site, or None if its
    program offers none."""
    site.setblocking(False)
    try:
        greeting = site.recv(len(GREETING))
    except BlockingIOError:
        greeting = b""
    site.setblocking(True)
    if greeting == GREETING:
        return Shell(site)
    site.close()
    return None


def fork_shell() -> None:
    """Serve a shell in a fork of this process, if its standard input is a socket. Call this after
    Django's setup, before the process opens connections and starts threads. The shell is no child
    of the process, so tests that count the site's programs do not count it."""
    if not stat.S_ISSOCK(os.fstat(0).st_mode):
        return
    between = os.fork()
    nothing = os.open(os.devnull, os.O_RDWR)
    if not between:
        if os.fork():
            os._exit(0)
        for output in (1, 2):  # they are the log of the site
            os.dup2(nothing, output)
        try:
            os.write(0, GREETING)
            serve()
        finally:
            os._exit(0)
    os.waitpid(between, 0)
    os.dup2(nothing, 0)
    os.close(nothing)


def serve() -> None:
    """Run each line that the socket at the standard input receives, until its other end is
    closed."""
    from django.apps import apps
    from django.db import connections

    with socket.socket(fileno=os.dup(0)) as connected:
        answers = connected.makefile("rw")
    for line in answers:
        asked = json.loads(line)
        names: dict[str, Any] = {model.__name__: model for model in apps.get_models()}
        names |= {"json": json, "result": None, **asked["values"]}
        try:
            exec(asked["code"], names)
            answer = {"result": names["result"]}
        except Exception:  # noqa: BLE001 - whoever asked is told
            answer = {"error": traceback.format_exc()}
        finally:
            connections.close_all()
        answers.write(json.dumps(answer, default=str) + "\n")
        answers.flush()


if __name__ == "__main__":
    import django

    from tests.sites.quick_site import hurry

    hurry()
    django.setup()
    serve()
