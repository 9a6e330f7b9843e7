"""Notes: the model reads and writes what the person, or their team, keeps in notes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from channels.db import database_sync_to_async

from apps.capabilities.notes.at_hand import NOTES, NotesAtHand
from apps.capabilities.notes.tools import note_tools
from apps.capabilities.registry import NOTHING, Capability, Contribution, Open, Opening
from apps.manifest.manifest import Manifest
from apps.notes.spaces import space_of


def prepare(manifest: Manifest) -> Open | None:
    wanted = manifest.features.notes if manifest.features is not None else None
    if wanted is None or not wanted.enabled:
        return None
    tools = note_tools(manifest, wanted)

    @asynccontextmanager
    async def open_notes(opening: Opening) -> AsyncIterator[Contribution]:
        space = await database_sync_to_async(space_of)(opening.caller)
        if space is None:  # visitors and DIAL's users have none here
            yield NOTHING
            return
        opening.known[NOTES] = NotesAtHand(space, opening, wanted.embedding_deployment_id)
        yield Contribution(tuple(tool.bind(opening) for tool in tools))

    return open_notes


notes = Capability("notes", frozenset({"features.notes"}), prepare)
