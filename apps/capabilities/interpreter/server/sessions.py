"""Stores the state of the interpreter server's sessions between calls.

A session consists only of data: the variables in the sandbox's format, and the files. Each call has
a worker process to itself, so its code cannot continue after the call or affect another call.
"""

import asyncio
import mimetypes
import secrets
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from mcp.server.mcpserver.exceptions import ToolError

from apps.capabilities.interpreter.engines import file_type
from apps.capabilities.interpreter.sandbox.execution import SandboxOutcome, execute_code
from apps.capabilities.interpreter.sandbox.workers import run_in_worker

ALPHABET = string.ascii_lowercase + string.digits  # Hosts in URIs are lower case.
ID_CHARACTERS = 16
NEW = frozenset({"", "0"})
"""With these session IDs, a client requests a new session."""
IDLE_SECONDS = 30 * 60.0
SWEEP_SECONDS = 5 * 60.0
MOST_SESSIONS = 64
MOST_BYTES = 512 * 1024 * 1024
"""The total size limit for all sessions, in bytes. A new session evicts the least recently used
session.
"""
MOST_SESSION_BYTES = 64 * 1024 * 1024
MOST_SESSION_FILES = 100
MOST_CHARACTERS = 200
BINARY = "application/octet-stream"


class SessionExpired(ToolError):
    """Raised if a session has ended or never existed."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"SessionExpired: there is no session {session_id[:40]!r}. A session ends after "
            f"{IDLE_SECONDS / 60:g} minutes without a call, when it is cleared, or when the "
            "server needs its memory. Leave session_id empty to start a new one, and define "
            "again what the code needs."
        )


@dataclass(slots=True)
class Session:
    """A session of the interpreter server. Calls run one at a time, because each needs the previous
    state.
    """

    id: str
    used_at: float
    state: bytes | None = field(default=None, repr=False)
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def size(self) -> int:
        return len(self.state or b"") + sum(map(len, self.files.values()))


class Sessions:
    """Stores and evicts the sessions of the interpreter server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.open: dict[str, Session] = {}

    def find_or_start(self, session_id: str) -> Session:
        """Return the requested session, or start one. Raises `SessionExpired` if it does
        not exist.
        """
        if session_id not in NEW:
            return self.find(session_id)
        self.sweep()
        new = "".join(secrets.choice(ALPHABET) for _ in range(ID_CHARACTERS))
        session = self.open[new] = Session(new, self.clock())
        self.make_room(session)
        return session

    def find(self, session_id: str) -> Session:
        """Return the session. Raises `SessionExpired` if it does not exist."""
        self.sweep()
        session = self.open.get(session_id)
        if session is None:
            raise SessionExpired(session_id)
        session.used_at = self.clock()
        return session

    def clear(self, session_id: str) -> None:
        """Delete a session. Running code finishes, but its state is discarded. Raises
        `SessionExpired` if the session does not exist.
        """
        del self.open[self.find(session_id).id]

    def sweep(self) -> None:
        """Delete sessions that have not been used for `IDLE_SECONDS`."""
        oldest = self.clock() - IDLE_SECONDS
        for session in [*self.open.values()]:
            if session.used_at <= oldest and not session.turn.locked():
                del self.open[session.id]

    def make_room(self, needed: Session) -> None:
        """Delete the least recently used sessions, except `needed`, until the limits are met."""
        others = sorted(self.open.values(), key=lambda one: one.used_at, reverse=True)
        total = sum(one.size for one in others)
        while len(self.open) > MOST_SESSIONS or total > MOST_BYTES:
            oldest = others.pop()
            if oldest is not needed:
                total -= oldest.size
                del self.open[oldest.id]

    async def execute(self, session: Session, code: str) -> SandboxOutcome:
        """Run the code, and store its state in the session. Raises `SessionExpired` if the session
        was cleared in the meantime.
        """
        async with session.turn:
            self.check(session)
            files, state = dict(session.files), session.state
            outcome = await run_in_worker(lambda worker: execute_code(worker, code, files, state))
            self.check(session)
            session.used_at = self.clock()
            return self.keep(session, outcome)

    def check(self, session: Session) -> None:
        """Raise `SessionExpired` if the session was cleared while a call was waiting or running."""
        if self.open.get(session.id) is not session:
            raise SessionExpired(session.id)

    def keep(self, session: Session, outcome: SandboxOutcome) -> SandboxOutcome:
        """Store the state and files of a call. Return the outcome with only the stored files, and
        with notes about the files that could not be stored.
        """
        notes = list(outcome.notes)
        if outcome.is_state_lost:
            session.state = None
            notes.append(
                "Earlier variables could not be loaded; the interpreter started with none."
            )
        for name in outcome.removed:
            session.files.pop(name, None)
        kept = {}
        for name, content in outcome.files.items():
            if problem := self.file_problem(session, name, content):
                notes.append(f"The file {name[:100]!r} is not stored: {problem}.")
            else:
                kept[name] = session.files[name] = content
        if outcome.state is not None:
            session.state = outcome.state
        if session.size > MOST_SESSION_BYTES:
            session.state = None
            notes.append(
                "The variables are too large to be stored, so the next call starts without any."
            )
        self.make_room(session)
        return replace(outcome, files=kept, notes=tuple(notes))

    def file_problem(self, session: Session, name: str, content: bytes) -> str:
        """Return the reason why a file cannot be stored, or ""."""
        if not is_file_name(name):
            return "its name is not a valid file name"
        if name not in session.files and len(session.files) >= MOST_SESSION_FILES:
            return f"the session already has {MOST_SESSION_FILES} files, which is the limit"
        held = sum(len(one) for other, one in session.files.items() if other != name)
        if held + len(content) > MOST_SESSION_BYTES:
            return f"the files of the session would exceed {MOST_SESSION_BYTES:,} bytes"
        return ""


def is_file_name(name: str) -> bool:
    """Return True if the name is a printable path below the working directory."""
    parts = name.split("/")
    return (
        len(name) <= MOST_CHARACTERS
        and name.isprintable()
        and "\\" not in name
        and not {"", ".", ".."}.intersection(parts)
    )


def media_type(name: str) -> str:
    return file_type(name) or mimetypes.guess_type(name)[0] or BINARY


def file_uri(session_id: str, name: str) -> str:
    return f"kernel://{session_id}/{quote(name)}"
