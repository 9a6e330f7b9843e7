"""Runs a process that reads one document.

The process has memory and time limits, no environment variables of this process, and no permission
to write files, so a malicious document cannot harm anything else.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

from apps.documents.formats import Kind
from apps.documents.paged_text import PagePart, UnreadableDocument
from apps.documents.turns import FairPool

ROOT = Path(__file__).resolve().parents[2]
MODULE = "apps.documents"
BYTES_OF_A_CHARACTER = 12
"""The maximum number of bytes of a character in the process's response: two escaped surrogates in
JSON.
"""
ROOM = 4_096
"""The number of bytes that a response can contain in addition to the text."""
GRACE_SECONDS = 2.0
"""The seconds after the time limit in which the process can report that the limit is exceeded,
before it is killed.
"""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits for one document: `memory` in bytes, and `characters` of its text.

    Documents of the same `owner` are queued, but owners take turns, so that none waits for all
    documents of another.
    """

    seconds: float = 30.0
    memory: int = 512 * 1024 * 1024
    characters: int = 4_000_000
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """The task of the process. `title` is the name of the format in messages."""

    kind: Kind | Literal["page_images"]
    title: str
    pages: tuple[int, int] | None = None
    base_url: str = ""


CUTS = {
    "room": "[cut: the rest is left out, because the text is too long]",
    "time": "[cut: the rest may be left out, because reading took too long]",
}


@dataclass(frozen=True, slots=True)
class Extract:
    """The extracted text. `total` is the number of pages, slides, sheets or chapters. `cut` is the
    reason why there may be more text.
    """

    parts: tuple[PagePart, ...]
    total: int = 0
    cut: str = ""

    @property
    def text(self) -> str:
        texts = [part.marked for part in self.parts]
        return "\n".join((*texts, CUTS[self.cut]) if self.cut else texts)


async def extract(content: bytes, order: Order, bounds: Bounds) -> Extract:
    """Read a document. Raises `UnreadableDocument`. A cancellation kills the process
    immediately.
    """
    job = ReadingJob(content, order, bounds)
    future = pool().submit(bounds.owner, job.run)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        job.stop()
        raise


@cache
def pool() -> FairPool:
    # Each processor reads one document at a time. Further documents are queued.
    return FairPool(max(2, os.cpu_count() or 2), "documents")


@dataclass(slots=True)
class ReadingJob:
    content: bytes = field(repr=False)
    order: Order
    bounds: Bounds
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: subprocess.Popen[bytes] | None = None
    is_stopped: bool = False

    def run(self) -> Extract:
        """Start the process and return its result. Raises `UnreadableDocument` if the document
        cannot be read.
        """
        with tempfile.TemporaryFile() as given:
            header = {**asdict(self.order), **asdict(self.bounds)}
            given.write(json.dumps(header).encode() + b"\n")
            given.write(self.content)
            given.seek(0)
            process = self.start(given.fileno())
        timer = threading.Timer(self.bounds.seconds + GRACE_SECONDS, self.kill)
        timer.start()
        most = self.bounds.characters * BYTES_OF_A_CHARACTER + ROOM
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            with process.stdout as answers:
                answer = answers.read(most)
        finally:
            timer.cancel()
            self.kill()
            process.wait()
        return self.read(answer)

    def start(self, given: int) -> subprocess.Popen[bytes]:
        with self.lock:
            if self.is_stopped:
                raise UnreadableDocument("the request was canceled.")
            self.process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                [sys.executable, "-s", "-B", "-m", MODULE],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONUTF8": "1"},
                close_fds=True,
            )
            return self.process

    def read(self, answer: bytes) -> Extract:
        """Parse the response. Raises `UnreadableDocument` if the document cannot be read."""
        try:
            found = json.loads(answer)
        except ValueError:
            raise UnreadableDocument(
                f"reading it exceeded the limit of {self.bounds.seconds:g} seconds or "
                f"{self.bounds.memory // 2**20:,} MB."
            ) from None
        if found["problem"]:
            raise UnreadableDocument(str(found["problem"]))
        parts = tuple(PagePart(*part) for part in found["parts"])
        return Extract(parts, found["total"], found["cut"])

    def stop(self) -> None:
        with self.lock:
            self.is_stopped = True
        self.kill()

    def kill(self) -> None:
        with self.lock:
            if self.process is not None and self.process.returncode is None:
                with suppress(ProcessLookupError):
                    self.process.kill()
