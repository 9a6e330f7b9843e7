"""Sessions of the server: what code left behind, for as long as somebody comes back to it.

A session is bytes: the variables as the sandbox writes them, and the files. No process is kept for it;
each call has one from the pool, which ends with the call or at its limit. So nothing that a call
started can go on, or write into the result of another.
"""

import asyncio
import secrets
import string
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from mcp.server.mcpserver.exceptions import ToolError

from apps.capabilities.interpreter.sandbox.execution import SandboxOutcome, execute
from apps.capabilities.interpreter.sandbox.workers import run_in_worker
from apps.capabilities.interpreter.server.file_names import is_file_name

ALPHABET = string.ascii_lowercase + string.digits  # a URI's host has no capitals
ID_CHARACTERS = 16
NEW = frozenset({"", "0"})
"""Ids that start a session."""
IDLE_SECONDS = 30 * 60.0
SWEEP_SECONDS = 5 * 60.0
MOST_SESSIONS = 64
MOST_BYTES = 512 * 1024 * 1024
"""Of all sessions. The one that was used longest ago makes room for a new one."""
MOST_SESSION_BYTES = 64 * 1024 * 1024
MOST_SESSION_FILES = 100


class SessionExpired(ToolError):
    """There is no such session, or there is none any more."""

    def __init__(self, session_id: str) -> None:
        super().__init__(
            f"SessionExpired: there is no session {session_id[:40]!r}. A session ends after "
            f"{IDLE_SECONDS / 60:g} minutes without a call, when it is cleared, or when the server "
            "needs its place. Leave session_id empty to start a new one, and define again what the "
            "code needs."
        )


@dataclass(slots=True)
class Session:
    """Calls build on each other, so each waits for its `turn`."""

    id: str
    used_at: float
    state: bytes | None = field(default=None, repr=False)
    files: dict[str, bytes] = field(default_factory=dict, repr=False)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def size(self) -> int:
        return len(self.state or b"") + sum(map(len, self.files.values()))


class Sessions:
    """`clock` tells seconds that only grow."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.open: dict[str, Session] = {}

    def find_or_start(self, session_id: str) -> Session:
        """Raises `SessionExpired`."""
        if session_id not in NEW:
            return self.find(session_id)
        self.sweep()
        new = "".join(secrets.choice(ALPHABET) for _ in range(ID_CHARACTERS))
        session = self.open[new] = Session(new, self.clock())
        self.make_room(session)
        return session

    def find(self, session_id: str) -> Session:
        """Raises `SessionExpired`."""
        self.sweep()
        session = self.open.get(session_id)
        if session is None:
            raise SessionExpired(session_id)
        session.used_at = self.clock()
        return session

    def clear(self, session_id: str) -> None:
        """Raises `SessionExpired`. Code that is running comes to its end, and leaves nothing."""
        del self.open[self.find(session_id).id]

    def sweep(self) -> None:
        """Forget those that nobody has used for half an hour."""
        oldest = self.clock() - IDLE_SECONDS
        for session in [*self.open.values()]:
            if session.used_at <= oldest and not session.turn.locked():
                del self.open[session.id]

    def make_room(self, needed: Session) -> None:
        """Forget the others, the longest unused first, until the rest is within the limits."""
        others = sorted(self.open.values(), key=lambda one: one.used_at, reverse=True)
        total = sum(one.size for one in others)
        while len(self.open) > MOST_SESSIONS or total > MOST_BYTES:
            oldest = others.pop()
            if oldest is not needed:
                total -= oldest.size
                del self.open[oldest.id]

    async def execute(self, session: Session, code: str) -> SandboxOutcome:
        """Run the code and keep what it left. Raises `SessionExpired`."""
        async with session.turn:
            self.check(session)
            files, state = dict(session.files), session.state
            outcome = await run_in_worker(lambda worker: execute(worker, code, files, state))
            self.check(session)
            session.used_at = self.clock()
            return self.keep(session, outcome)

    def check(self, session: Session) -> None:
        """Raises `SessionExpired` for one that was cleared while a call waited or worked."""
        if self.open.get(session.id) is not session:
            raise SessionExpired(session.id)

    def keep(self, session: Session, outcome: SandboxOutcome) -> SandboxOutcome:
        """The outcome with those files alone that were kept, and notes on the rest."""
        notes = list(outcome.notes)
        if outcome.is_state_lost:
            session.state = None
            notes.append("Earlier variables could not be loaded; the interpreter started anew.")
        for name in outcome.removed:
            session.files.pop(name, None)
        kept = {}
        for name, content in outcome.files.items():
            if problem := self.file_problem(session, name, content):
                notes.append(f"The file {name[:100]!r} is not kept: {problem}.")
            else:
                kept[name] = session.files[name] = content
        if outcome.state is not None:
            session.state = outcome.state
        if session.size > MOST_SESSION_BYTES:
            session.state = None
            notes.append(
                "The variables are too large to be kept: the next call starts without any."
            )
        self.make_room(session)
        return replace(outcome, files=kept, notes=tuple(notes))

    def file_problem(self, session: Session, name: str, content: bytes) -> str:
        """ "" for a file that can be kept."""
        if not is_file_name(name):
            return "its name is not one of a file"
        if name not in session.files and len(session.files) >= MOST_SESSION_FILES:
            return f"the session has {MOST_SESSION_FILES} files already"
        held = sum(len(one) for other, one in session.files.items() if other != name)
        if held + len(content) > MOST_SESSION_BYTES:
            return f"the session would have more than {MOST_SESSION_BYTES:,} bytes of files"
        return ""
