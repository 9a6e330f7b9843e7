"""Changes, exports and imports a user's memories."""

from collections.abc import Iterable, Mapping
from typing import Any

from apps.accounts.caller import Caller
from apps.catalog.resolve import resolve_application
from apps.errors import ApplicationBroken, ApplicationNotFound
from apps.runs.workspaces import open_workspace
from apps.workspace.embeddings.port import Embedder
from apps.workspace.local.memories.memories import LocalMemories, memories_of
from apps.workspace.local.models import MemoryCollection
from apps.workspace.memories import operations
from apps.workspace.memories.port import MemoryItem


async def update(
    caller: Caller, row: MemoryCollection, number: int, fields: Mapping[str, Any]
) -> MemoryItem:
    """Change fields of a memory. `number` identifies the memory in the collection. Raises
    `QuickAppError` if the change is rejected.
    """
    embedder = await embedder_of(caller, row.application)
    return await operations.update(memories_of(row), embedder, number, fields)


async def forget_memory(row: MemoryCollection, number: int) -> None:
    await operations.forget_memory(memories_of(row), number)


async def delete_all(rows: Iterable[MemoryCollection]) -> None:
    for row in rows:
        await operations.delete_all(memories_of(row))


async def undo(caller: Caller, row: MemoryCollection, merge: int) -> None:
    await operations.undo(memories_of(row), await embedder_of(caller, row.application), merge)


async def export(row: MemoryCollection) -> bytes:
    return await operations.export(memories_of(row))


async def import_file(caller: Caller, application: str, content: bytes) -> int:
    """Import memories from JSON, and return the number of new memories. `application` is the slug
    of the application that gets them, or "" for the memories that all applications share. Raises
    `QuickAppError` if the content is rejected.
    """
    store = LocalMemories(caller.bucket, application)
    embedder = await embedder_of(caller, application)
    return await operations.import_(store, embedder, content)


async def embedder_of(caller: Caller, application: str) -> Embedder:
    """Return the embedder that the application's manifest selects, or the installation's default if
    it selects none. `application` is a slug.
    """
    wanted = None
    try:
        features = (
            (await resolve_application(application)).manifest.features if application else None
        )
    except (ApplicationBroken, ApplicationNotFound):
        features = None
    if features is not None and features.memory is not None:
        wanted = features.memory.embedding_deployment_id
    return await open_workspace(caller).embedder(wanted)
