"""Reads a document in a separate process.

The process has memory and time limits, none of this process's environment variables, and no
permission to write files. A malicious document therefore cannot harm anything else.
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
"""The maximum number of bytes per character in the process's response: two escaped surrogates in
JSON.
"""
OVERHEAD_BYTES = 4_096
"""The maximum number of bytes in the process's response in addition to the text."""
GRACE_SECONDS = 2.0
"""The process is killed this many seconds after the time limit, so that it can first report that
the limit was exceeded.
"""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits for reading a document."""

    seconds: float = 30.0
    memory: int = 512 * 1024 * 1024
    """The maximum memory in bytes."""
    characters: int = 4_000_000
    owner: str = ""
    """The owner of the document. Owners take turns in the queue of documents."""


@dataclass(frozen=True, slots=True)
class Order:
    """The instructions for a reading process."""

    kind: Kind | Literal["page_images"]
    title: str
    """The format's name in messages."""
    pages: tuple[int, int] | None = None
    """The numbers of the first page, from 1, and of the page after the last. None means all pages.
    """
    base_url: str = ""


CUTS = {
    "room": "[cut: the rest is left out, because the text is too long]",
    "time": "[cut: the rest may be left out, because reading took too long]",
}


@dataclass(frozen=True, slots=True)
class Extract:
    """The text of a document."""

    parts: tuple[PagePart, ...]
    total: int = 0
    """The number of pages, slides, sheets or chapters."""
    cut: str = ""
    """The limit at which reading stopped, or ""; see `CUTS`."""

    @property
    def text(self) -> str:
        texts = [part.marked for part in self.parts]
        return "\n".join((*texts, CUTS[self.cut]) if self.cut else texts)


async def extract(content: bytes, order: Order, bounds: Bounds) -> Extract:
    """Read a document in a separate process, which is killed if the caller is canceled. Raises
    `UnreadableDocument` if the document cannot be read within the limits.
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
        """Run the process and return the text that it reads. Raises `UnreadableDocument` if the
        document cannot be read within the limits.
        """
        with tempfile.TemporaryFile() as given:
            header = {**asdict(self.order), **asdict(self.bounds)}
            given.write(json.dumps(header).encode() + b"\n")
            given.write(self.content)
            given.seek(0)
            process = self.start(given.fileno())
        timer = threading.Timer(self.bounds.seconds + GRACE_SECONDS, self.kill)
        timer.start()
        most = self.bounds.characters * BYTES_OF_A_CHARACTER + OVERHEAD_BYTES
        try:
            assert process.stdout is not None  # noqa: S101 - it is a pipe
            with process.stdout as answers:
                answer = answers.read(most)
        finally:
            timer.cancel()
            self.kill()
            process.wait()
        return self.read(answer)

    def start(self, stdin: int) -> subprocess.Popen[bytes]:
        with self.lock:
            if self.is_stopped:
                raise UnreadableDocument("the request was canceled.")
            self.process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                [sys.executable, "-s", "-B", "-m", MODULE],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=ROOT,
                env={"PATH": os.defpath, "PYTHONUTF8": "1"},
                close_fds=True,
            )
            return self.process

    def read(self, answer: bytes) -> Extract:
        """Parse the process's response. Raises `UnreadableDocument` if it reports a problem, or is
        incomplete because a limit was exceeded.
        """
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
