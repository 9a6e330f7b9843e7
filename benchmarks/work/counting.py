"""Counts of the work in the thread of the event loop. They do not depend on the machine's speed."""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable
from contextvars import Context
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import uvloop

ROOT = str(Path(__file__).resolve().parent.parent.parent) + os.sep
OWN = "benchmarks."
PER_UNIT = (
    *("calls", "tasks", "callbacks", "reads", "writes", "bytes"),
    *("statements", "rows", "commands"),
)


@dataclass
class Work:
    """Counted work. `modules` are the calls by module; calls of C functions count for the caller's
    module. Modules of other projects are counted by project. `reads` and `writes` count those of
    the sockets to the client and to the model, `bytes` are the bytes written to them, and
    `statements` are those of the database in all threads, `rows` the rows that an answer of the page
    stores, and `commands` those to Redis."""

    modules: Counter[str] = field(default_factory=Counter)
    tasks: int = 0
    callbacks: int = 0
    reads: int = 0
    writes: int = 0
    bytes: int = 0
    statements: int = 0
    rows: int = 0
    commands: int = 0

    @property
    def calls(self) -> int:
        return self.modules.total()

    def to_dict(self) -> dict[str, Any]:
        counts = {name: getattr(self, name) for name in PER_UNIT}
        return {**counts, "modules": dict(sorted(self.modules.items()))}


class WorkCounter:
    """Counts the work from `begin` to `end`."""

    def __init__(self) -> None:
        self.work = Work()
        self.codes: Counter[CodeType] = Counter()

    def begin(self) -> None:
        self.work, self.codes = Work(), Counter()
        sys.setprofile(self.note)

    def run_uncounted(self, function: Callable[..., object], *arguments: Any) -> None:
        # not a context manager, whose own calls would be counted
        profile = sys.getprofile()
        sys.setprofile(None)
        try:
            function(*arguments)
        finally:
            sys.setprofile(profile)

    def end(self) -> Work:
        sys.setprofile(None)
        for code, calls in self.codes.items():
            module = module_of(code.co_filename)
            if not module.startswith(OWN):
                self.work.modules[module] += calls
        done, self.work = self.work, Work()
        return done

    def note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "c_call"):
            self.codes[frame.f_code] += 1

    def count_statement(self, execute: Callable[..., Any], *arguments: Any) -> Any:
        """Count a statement of a database connection of Django, as a wrapper."""
        self.work.statements += 1
        return execute(*arguments)

    def count_commands(self) -> None:
        """Count the commands that are sent to Redis from now on."""
        from redis.asyncio.connection import AbstractConnection

        connection: Any = AbstractConnection
        pack = connection.pack_command

        def counted(*arguments: Any) -> Any:
            self.work.commands += 1
            return pack(*arguments)

        connection.pack_command = counted


def module_of(file: str) -> str:
    """Return the module of a file in this repository, or the project or library of any other file."""
    if file.startswith(ROOT) and ".venv" not in file:
        return file.removeprefix(ROOT).removesuffix(".py").replace(os.sep, ".")
    for folder in ("site-packages", f"python3.{sys.version_info.minor}"):
        _, found, rest = file.partition(f"{os.sep}{folder}{os.sep}")
        if found:
            return Path(rest).parts[0].removesuffix(".py")
    return file  # such as <frozen abc>


class CountingLoop(uvloop.Loop):
    """The site's event loop, which counts tasks and callbacks."""

    counter: WorkCounter

    def create_task(self, *arguments: Any, **named: Any) -> asyncio.Task[Any]:
        self.counter.work.tasks += 1
        task: asyncio.Task[Any] = super().create_task(*arguments, **named)
        return task

    def call_soon(  # type: ignore[override]  # the loop's own signature binds the arguments
        self, callback: Callable[..., object], *arguments: Any, context: Context | None = None
    ) -> asyncio.Handle:
        self.counter.work.callbacks += 1
        handle: asyncio.Handle = super().call_soon(callback, *arguments, context=context)
        return handle
