"""Defines the tools with which the model reads and writes notes of the user or the user's team."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from channels.db import database_sync_to_async

from apps.accounts.caller import Caller
from apps.capabilities.notes.run_notes import NOTES, RunNotes
from apps.capabilities.notes.tools import note_tools
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.manifest.manifest import Manifest
from apps.notes.spaces import NoteSpace, space_of


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.notes if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    tools = note_tools(manifest, wanted)

    @asynccontextmanager
    async def open_notes(opening: Opening) -> AsyncIterator[Contribution]:
        space = await find_space(opening.caller)
        if space is None:  # Visitors and callers of DIAL Core have no notes.
            yield NOTHING
            return
        opening.findings[NOTES] = RunNotes(space, opening, wanted.embedding_deployment_id)
        yield Contribution(tuple(tool.bind(opening) for tool in tools))

    return open_notes


async def find_space(caller: Caller) -> NoteSpace | None:
    if caller.team is None:  # This does not query the database.
        return space_of(caller)
    found: NoteSpace | None = await database_sync_to_async(space_of)(caller)
    return found


notes = Capability("notes", frozenset({"features.notes"}), prepare)
