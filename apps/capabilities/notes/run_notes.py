"""Provides the notes of a run's caller to the notes tools."""

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
from apps.errors import DeploymentNotFound, InvalidParameter, ServiceFailed, ToolError, Unsupported
from apps.notes.errors import NoteRefused
from apps.notes.models import Note
from apps.notes.spaces import NoteSpace
from apps.notes.store import Author
from apps.workspace.embeddings.port import Embedder

P = ParamSpec("P")
R = TypeVar("R")

FOLDER = "conversations/"
"""The prefix of the caller's folder in runs of stored conversations."""


@dataclass(frozen=True, slots=True)
class RunNotes:
    """The notes that a run can use."""

    space: NoteSpace
    opening: Opening
    deployment_id: str | None = None
    """The embedding deployment, or None for the installation's default."""

    def owner(self, given: dict[str, Any]) -> str:
        """Return the owner of the notes in the workspace that the arguments name. Raises
        `NoteRefused` for an unknown workspace.
        """
        return self.space.named(given.get("workspaceName") or "").owner

    @property
    def author(self) -> Author:
        """Return the author to record for changes by this run."""
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
        """Return the embedder for semantic search. Raises `ToolError` if it is unavailable."""
        try:
            return await find_embedder(self.opening, self.deployment_id)
        except (DeploymentNotFound, Unsupported) as error:
            raise ToolError(
                f"Semantic search in notes is not available: {error}", is_lasting=True
            ) from error

    def has_read(self, note: Note) -> None:
        """Record that the run has read the note, which may contain untrusted content."""
        if note.is_untrusted:
            self.opening.taint.add(f"note “{note.title}”")


NOTES = Key[RunNotes]("notes")

Work = Callable[[RunNotes, dict[str, Any]], Any]


async def run_tool(work: Work, opening: Opening, invocation: Invocation) -> ToolResult:
    """Run a notes tool. Raises `InvalidParameter` or `ToolError` if it fails."""
    with refusals():
        text = await work(opening.findings[NOTES], dict(invocation.arguments))
    return plain_result(invocation, text)


@contextmanager
def refusals() -> Iterator[None]:
    """Within the block, convert errors about notes to errors for the model."""
    try:
        yield
    except NoteRefused as error:
        if error.field:
            raise InvalidParameter(error.field, str(error)) from error
        raise ToolError(str(error)) from error
    except ServiceFailed as error:
        raise ToolError(f"Semantic search in notes is currently unavailable. {error}") from error


async def run_query(
    function: Callable[Concatenate[str, P], R], owner: str, *args: P.args, **kwargs: P.kwargs
) -> R:
    """Call a function that queries the database, on a database thread."""
    result: R = await database_sync_to_async(partial(function, owner))(*args, **kwargs)
    return result
