"""Runs MCP servers as programs, without a shell. Their child processes are killed with them."""

import asyncio
import atexit
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from apps.agent.surrogates import replace_surrogates
from apps.capabilities.mcp.messages.bare import messages_in
from apps.capabilities.mcp.sessions.failures import ConnectionFailed
from apps.workspace.local.tools.mcp_servers import RegisteredServer

INHERITED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""A program inherits only these environment variables, because others may contain secrets."""
GRACE_SECONDS = 1.0
"""A program has this many seconds to exit after its input closes, and again after SIGTERM."""
MOST_STDERR_BYTES = 4096
MOST_GARBAGE_LINES = 50

_groups: set[int] = set()


def kill_all() -> None:
    for group in list(_groups):
        kill(group, signal.SIGKILL)


atexit.register(kill_all)


def kill(group: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


@dataclass(slots=True)
class StderrTail:
    """Collects the end of a program's stderr for administrators."""

    tail: bytearray = field(default_factory=bytearray)

    def add(self, piece: bytes) -> None:
        self.tail += piece
        del self.tail[:-MOST_STDERR_BYTES]

    @property
    def text(self) -> str:
        return self.tail.decode("utf-8", "replace").strip()


@asynccontextmanager
async def process_streams(
    server: RegisteredServer, errors: StderrTail, most_bytes: int
) -> AsyncIterator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """Start a program, and yield its incoming and outgoing message streams. Each line is a message.

    Raises `ConnectionFailed` if the program cannot be started.
    """
    process = await start(server, most_bytes)
    _groups.add(process.pid)
    inward, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outward = anyio.create_memory_object_stream[SessionMessage](0)
    tasks = [
        asyncio.create_task(read_messages(process, inward, errors)),
        asyncio.create_task(write_messages(process, outward)),
        asyncio.create_task(read_errors(process, errors)),
    ]
    try:
        yield read_stream, write_stream
    finally:
        try:
            await end(process)
        finally:
            kill(process.pid, signal.SIGKILL)
            _groups.discard(process.pid)
            for task in tasks:
                task.cancel()
            for stream in (inward, read_stream, write_stream, outward):
                stream.close()
            await asyncio.wait(tasks, timeout=GRACE_SECONDS)
            await drain(process)


async def start(server: RegisteredServer, most_bytes: int) -> asyncio.subprocess.Process:
    inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
    try:
        return await asyncio.create_subprocess_exec(
            server.command,
            *server.arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=inherited | dict(server.environment),
            cwd=server.working_directory or None,
            start_new_session=True,
            limit=most_bytes,
        )
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "its command is not valid"
        raise ConnectionFailed(
            "the server's program cannot be started.", last_words=str(reason)
        ) from error


async def end(process: asyncio.subprocess.Process) -> None:
    """Close the program's input, and wait until the program exits. After a timeout, terminate the
    program, and finally kill it.
    """
    if process.stdin is not None:
        process.stdin.close()
    for number in (signal.SIGTERM, signal.SIGKILL):
        if await is_over(process):
            return
        kill(process.pid, number)
    await is_over(process)


async def is_over(process: asyncio.subprocess.Process) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    return process.returncode is not None


async def drain(process: asyncio.subprocess.Process) -> None:
    """Read the remaining output of the program. Its pipes close only when everything is read."""
    with suppress(TimeoutError):
        async with asyncio.timeout(GRACE_SECONDS):
            for pipe in (process.stdout, process.stderr):
                while pipe is not None and await pipe.read(MOST_STDERR_BYTES):
                    pass


async def read_messages(
    process: asyncio.subprocess.Process,
    inward: anyio.abc.ObjectSendStream[SessionMessage | Exception],
    errors: StderrTail,
) -> None:
    """Forward each line of the program's output as a message.

    The stream ends with the output, or after too many invalid lines.
    """
    assert process.stdout is not None  # noqa: S101 - `start` requests a pipe
    garbage = 0
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with inward:
            while garbage <= MOST_GARBAGE_LINES:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    errors.add(b"\nA message is too large.")
                    break
                if not line:
                    return
                for written in messages_in(replace_surrogates(line)):
                    try:
                        found = types.jsonrpc_message_adapter.validate_json(written, by_name=False)
                    except (ValidationError, RecursionError):
                        garbage += bool(line.strip())
                        continue
                    await inward.send(SessionMessage(found))
            else:
                errors.add(b"\nIt wrote many lines that are no messages.")
            kill(process.pid, signal.SIGKILL)  # The stream can no longer be used.


async def write_messages(
    process: asyncio.subprocess.Process, outward: anyio.abc.ObjectReceiveStream[SessionMessage]
) -> None:
    assert process.stdin is not None  # noqa: S101 - `start` requests a pipe
    async with outward:
        with suppress(ConnectionError, OSError):
            async for item in outward:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()


async def read_errors(process: asyncio.subprocess.Process, errors: StderrTail) -> None:
    assert process.stderr is not None  # noqa: S101 - `start` requests a pipe
    while piece := await process.stderr.read(MOST_STDERR_BYTES):
        errors.add(piece)
