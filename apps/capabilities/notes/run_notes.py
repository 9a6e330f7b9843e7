"""The notes of one run: whose they are, who writes in them, and what makes texts comparable."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Concatenate, ParamSpec, TypeVar

from channels.db import database_sync_to_async

from apps.agent.tools import Invocation, ToolResult
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.embedders import find_embedder
from apps.capabilities.wrappers.internal import plain_result
from apps.errors import (
    DeploymentNotFound,
    InvalidParameter,
    NoteRefused,
    ServiceFailed,
    ToolError,
    Unsupported,
)
from apps.notes.models import Note
from apps.notes.spaces import NoteSpace
from apps.notes.store import Author
from apps.workspace.embeddings.port import Embedder

P = ParamSpec("P")
R = TypeVar("R")

FOLDER = "conversations/"
"""Begins the caller's folder in a conversation of the page."""


@dataclass(frozen=True, slots=True)
class RunNotes:
    """`deployment_id` embeds notes, None for the installation's default."""

    space: NoteSpace
    opening: Opening
    deployment_id: str | None = None

    def owner(self, given: dict[str, Any]) -> str:
        """The owner of the workspace that the arguments name. Raises `NoteRefused`."""
        return self.space.named(given.get("workspaceName") or "").owner

    @property
    def author(self) -> Author:
        """The agent, as it writes now: what it has read meanwhile counts."""
        caller = self.opening.caller
        is_conversation = caller.folder.startswith(FOLDER)
        return Author(
            caller.principal,
            is_agent=True,
            application=self.opening.application,
            conversation=caller.folder[len(FOLDER) :].strip("/") if is_conversation else "",
            is_untrusted=bool(self.opening.taint.sources),
        )

    async def embedder(self) -> Embedder:
        """Raises `ToolError`."""
        try:
            return await find_embedder(self.opening, self.deployment_id)
        except (DeploymentNotFound, Unsupported) as error:
            raise ToolError(f"Notes cannot be compared here: {error}", is_lasting=True) from error

    def has_read(self, note: Note) -> None:
        """An agent that had read what strangers wrote may have passed on what they want."""
        if note.is_untrusted:
            self.opening.taint.add(f"note “{note.title}”")


NOTES = Key[RunNotes]("notes")
"""Of this run."""

Work = Callable[[RunNotes, dict[str, Any]], Any]


async def run_tool(work: Work, opening: Opening, invocation: Invocation) -> ToolResult:
    """Raises `InvalidParameter`, `ToolError`."""
    with refusals():
        text = await work(opening.known[NOTES], dict(invocation.arguments))
    return plain_result(invocation, text)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what notes refuse into what the model is told."""
    try:
        yield
    except NoteRefused as error:
        if error.field:
            raise InvalidParameter(error.field, str(error)) from error
        raise ToolError(str(error)) from error
    except ServiceFailed as error:
        raise ToolError(f"The notes cannot be compared now. {error}") from error


async def ask(
    function: Callable[Concatenate[str, P], R], owner: str, *args: P.args, **kwargs: P.kwargs
) -> R:
    """Call something that asks the database."""
    result: R = await database_sync_to_async(partial(function, owner))(*args, **kwargs)
    return result
