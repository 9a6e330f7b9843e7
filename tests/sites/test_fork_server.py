"""A forked program behaves like a new process."""

import os
import signal
import subprocess
import tempfile

import pytest

from tests.sites.fork_server import fork_server, tell


def run(module: str, *arguments: str, said: str = "", **environment: str) -> str:
    with tempfile.TemporaryFile("w+") as read, tempfile.TemporaryFile("w+") as written:
        read.write(said)
        read.seek(0)
        files = (read.fileno(), written.fileno(), written.fileno())
        fork = fork_server().start(module, arguments, environment, files)
        fork.wait(60)
        written.seek(0)
        return written.read()


def test_it_has_the_arguments_and_the_environment_and_nothing_of_another() -> None:
    first = run("site", "--user-base", PYTHONUSERBASE="/first")
    second = run("site", "--user-base", HOME="/second")

    assert (first, second) == ("/first\n", "/second/.local\n")


def test_it_reads_and_writes_and_ends_by_itself() -> None:
    assert run("json.tool", "--compact", said='{"a": [1, 2]}') == '{"a":[1,2]}\n'


def test_what_breaks_it_is_written_down() -> None:
    assert "FileNotFoundError" in run("zipfile", "--list", "/nothing/there")


def test_it_ends_when_it_is_told_to_and_says_how() -> None:
    with tempfile.TemporaryFile() as file:
        files = (file.fileno(), file.fileno(), file.fileno())
        kept, killed = (
            fork_server().start("http.server", ("--bind", "127.0.0.1", "0"), {}, files)
            for _ in range(2)
        )
        failed = fork_server().start("zipfile", ("--list", "/nothing/there"), {}, files)
        before = kept.poll()
        kept.stop(60)
        killed.kill()

    assert before is None
    statuses = (kept.poll(), killed.wait(60), failed.wait(60))
    assert statuses == (-signal.SIGTERM, -signal.SIGKILL, 1)


def test_one_that_ends_while_the_end_of_another_is_written_is_not_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    children = [subprocess.Popen(["false"]) for _ in range(3)]
    for child in children:
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    pipes = [os.pipe() for _ in children]
    ends = {child.pid: end for child, (_, end) in zip(children, pipes, strict=True)}
    write = os.write

    def interrupted(end: int, status: bytes) -> int:
        tell(ends)
        return write(end, status)

    monkeypatch.setattr(os, "write", interrupted)
    while ends:
        tell(ends)
    for child in children:
        child.wait()

    told = []
    for reading, _ in pipes:
        told.append(os.read(reading, 10))
        os.close(reading)
    assert told == [b"1"] * 3
