"""Stores memories in the caller's own storage in DIAL Core. One file contains the memories, and
another contains the originals of merged memories.

Only a 404 counts as an empty file. Any other failure raises an error, and so does an unreadable
file. Otherwise, the next write would overwrite the stored content.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from apps.agent.backoff import Backoff
from apps.errors import FileChanged, ServiceFailed
from apps.workspace.dial.calls import Calls
from apps.workspace.dial.failures import CoreRefused
from apps.workspace.dial.file_infos import info_of_content, plain_etag, written_info
from apps.workspace.dial.files import seconds
from apps.workspace.dial.wire import DialFile, mapping
from apps.workspace.memories.cache import CACHE
from apps.workspace.memories.document import (
    parse_memories,
    read_merges,
    write_memories,
    write_merges,
)
from apps.workspace.memories.limits import MERGES_KEPT_DAYS
from apps.workspace.memories.port import Change, ChangedMemories, MemoryList, MergedMemories
from apps.workspace.memories.similarity import CollectionIndex, index_of

T = TypeVar("T")

FOLDER = "__long-memories/"
JSON = "application/json"
MOST_MEMORIES = 1_000
"""The maximum number of memories per owner. Each write sends the whole file, which is about 5 MB at
this limit.
"""
MOST_BYTES = 64 * 1024 * 1024
"""Up to this many bytes of a file are read, because other clients may have written a huge file."""
ATTEMPTS = Backoff(attempts=10, initial_delay=0.05, max_delay=1.0)
"""The retry policy for a change that conflicts with another process's change."""

_locks: WeakKeyDictionary[
    asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str], asyncio.Lock]
] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class CoreFile:
    """A file in Core's storage. All methods raise `ServiceFailed`."""

    calls: Calls
    path: str

    async def etag(self) -> str | None:
        """Return the current ETag of the file, or None if the file does not exist."""
        try:
            found = mapping(await self.calls.get_json(f"/v1/metadata/{self.path}"))
        except CoreRefused as refusal:
            if refusal.status == 404:
                return None
            raise
        return plain_etag(str(found.get("etag") or ""))

    async def read(self) -> tuple[str, bytes] | None:
        """Return the ETag and the content, or None if the file does not exist."""
        try:
            answer = await self.calls.get(
                f"/v1/{self.path}", most_bytes=MOST_BYTES, seconds=seconds()
            )
        except CoreRefused as refusal:
            if refusal.status == 404:
                return None
            raise
        return info_of_content(self.path, answer).etag, answer.body

    async def write(self, content: bytes, etag: str | None) -> str:
        """Replace the content of the file if it still has the ETag, and return the new ETag. If
        `etag` is None, create the file.

        Raises `FileChanged` if the file has changed, or already exists.
        """
        condition = {"If-None-Match": "*"} if etag is None else {"If-Match": etag}
        file = DialFile(content, JSON)
        try:
            answer = await self.calls.send(
                "PUT", f"/v1/{self.path}", headers=condition, seconds=seconds(), file=file
            )
        except CoreRefused as refusal:
            if refusal.status == 412:
                raise FileChanged(f"{self.path} was changed in the meantime.") from refusal
            raise
        return written_info(self.path, answer, len(content), JSON).etag

    async def delete(self) -> None:
        try:
            await self.calls.send("DELETE", f"/v1/{self.path}")
        except CoreRefused as refusal:
            if refusal.status != 404:
                raise


@dataclass(frozen=True, slots=True)
class DialMemories:
    data: CoreFile
    merged: CoreFile

    @property
    def most(self) -> int:
        return MOST_MEMORIES

    @property
    def key(self) -> tuple[str, str]:
        return self.data.calls.core.url, self.data.path

    async def load(self) -> MemoryList:
        return (await self.newest())[1]

    async def index(self) -> CollectionIndex | None:
        return index_of(await self.load())

    async def newest(self) -> tuple[str | None, MemoryList]:
        """Return the memory file's ETag, and the memories in it. Download the file only if it has
        changed.
        """
        kept = CACHE.get(self.key)
        if kept is not None and kept[0] == await self.data.etag():
            return str(kept[0]), kept[1]
        found = await self.data.read()
        if found is None:
            CACHE.drop(self.key)
            return None, MemoryList()
        etag, content = found
        collection = await decode_memories(parse_memories, content, self.data.path)
        CACHE.put(self.key, etag, collection)
        return etag, collection

    async def change(self, change: Change[T]) -> T:
        async with lock_of(self.key):
            attempt = 1
            while True:
                try:
                    return await self.attempt(change)
                except FileChanged as error:
                    pause = ATTEMPTS.pause(attempt)
                    if pause is None:
                        raise ServiceFailed(
                            "Other processes are changing the memories; try again later."
                        ) from error
                attempt += 1
                await asyncio.sleep(pause)

    async def attempt(self, change: Change[T]) -> T:
        """Apply the change once. Raises `FileChanged` if another writer changed the file first, and
        the errors of the change.
        """
        etag, before = await self.newest()
        changed = change(before)
        after = changed.collection
        # Originals are stored before they are removed from the memories, and deleted after they
        # are restored.
        if changed.merged:
            await self.change_merges(changed)
        if after is not before:
            content = await asyncio.to_thread(write_memories, after, datetime.now(UTC))
            CACHE.put(self.key, await self.data.write(content, etag), after)
        if changed.undone and not changed.merged:
            await self.change_merges(changed)
        return changed.result

    async def change_merges(self, changed: ChangedMemories[T]) -> None:
        found = await self.merged.read()
        known = (
            [] if found is None else await decode_memories(read_merges, found[1], self.merged.path)
        )
        new = {merge.id for merge in changed.merged}
        rest = [one for one in known if one.id not in changed.undone | new]
        content = write_merges(undoable_merges([*rest, *changed.merged]))
        await self.merged.write(content, None if found is None else found[0])

    async def merges(self) -> Sequence[MergedMemories]:
        found = await self.merged.read()
        if found is None:
            return ()
        return undoable_merges(await decode_memories(read_merges, found[1], self.merged.path))

    async def delete_all(self) -> None:
        async with lock_of(self.key):
            await self.merged.delete()
            await self.data.delete()
            CACHE.drop(self.key)


async def decode_memories(decode: Callable[[bytes], T], content: bytes, path: str) -> T:
    """Decode the content of a file. Raises `ServiceFailed` if the content is invalid."""
    try:
        return await asyncio.to_thread(decode, content)
    except (ValueError, RecursionError) as error:
        raise ServiceFailed(
            f"The file {path} cannot be read, so it stays unchanged: {error}.", reason="answer"
        ) from error


def undoable_merges(merges: Sequence[MergedMemories]) -> list[MergedMemories]:
    since = datetime.now(UTC) - timedelta(days=MERGES_KEPT_DAYS)
    return [merge for merge in merges if merge.merged_at >= since]


def lock_of(key: tuple[str, str]) -> asyncio.Lock:
    """Return the running event loop's lock for the memories with this key. It serializes the
    changes in this process, to avoid conflicts and retries.
    """
    locks = _locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    lock = locks.get(key)
    if lock is None:
        lock = locks[key] = asyncio.Lock()
    return lock


def memories_at(calls: Calls, home: str) -> DialMemories:
    """Return the memories in the application's folder in the caller's bucket. `home` is the path of
    the folder, with a final slash.
    """
    folder = f"{home}{FOLDER}"
    return DialMemories(
        CoreFile(calls, f"{folder}data.json"), CoreFile(calls, f"{folder}merged.json")
    )
