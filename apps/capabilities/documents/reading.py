"""A document by its address: from the cache, or loaded, read and indexed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count

from django.conf import settings

from apps.capabilities.documents.attached_files import AttachedFiles
from apps.capabilities.documents.cache import DocumentKey, cache
from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.documents.vectors import embedding_queue
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.texts import one_line
from apps.documents.pages import Unreadable
from apps.documents.process import Bounds
from apps.documents.structure import read_pages
from apps.errors import FileRefused, InvalidParameter
from apps.workspace.loading.files import Loaded
from apps.workspace.loading.loader import key_of
from apps.workspace.loading.places import place_of
from apps.workspace.loading.shared_loads import SingleFlightCache
from apps.workspace.stored_files import FileInfo, version_of

KEPT_BYTES = 32 * 1024 * 1024
"""Of documents that one run keeps, whether others keep them or not."""


@dataclass(slots=True)
class RunDocuments:
    """What the calls of one run share: its documents, and the numbers of its sources."""

    opened: SingleFlightCache[DocumentIndex] = field(
        default_factory=lambda: SingleFlightCache(KEPT_BYTES, lambda document: document.size)
    )
    numbers: "count[int]" = field(default_factory=lambda: count(1))
    embedded: list[DocumentIndex] = field(default_factory=list)
    """Those whose vectors are made with the rights of this run, so no longer than it lasts."""
    attached: AttachedFiles | None = None


RUN_DOCUMENTS = Key[RunDocuments]("run_documents")


@asynccontextmanager
async def run_documents(
    opening: Opening, attached: AttachedFiles | None
) -> AsyncIterator[RunDocuments]:
    shared = opening.known[RUN_DOCUMENTS] = RunDocuments(attached=attached)
    try:
        yield shared
    finally:
        await embedding_queue().end(shared.embedded)


async def open_document(opening: Opening, parameter: str, url: str) -> DocumentIndex:
    """Raises `InvalidParameter`."""
    try:
        return await find(opening, bare(url.strip()))
    except FileRefused as error:
        raise InvalidParameter(parameter, str(error)) from error
    except Unreadable as error:
        raise InvalidParameter(parameter, f"the document cannot be read: {error}") from error


async def find(opening: Opening, url: str) -> DocumentIndex:
    """Raises `FileRefused`, `Unreadable`."""
    info = await stored_info(opening, url)
    if info is not None:
        attached = opening.known[RUN_DOCUMENTS].attached
        found = attached and await attached.find(info.path, version_of(info))
        found = found or cache.get(document_key(opening, info.path, version_of(info)))
        if found is not None:
            await opening.loader.distrust(url)
            return found
    file = await opening.loader.take(url)
    version = file.version or hashlib.sha256(file.content).hexdigest()
    key = document_key(opening, file.path or key_of(url), version)
    shared = opening.known[RUN_DOCUMENTS]
    return cache.get(key) or await shared.opened.get(repr(key), partial(make, file, url, key))


async def stored_info(opening: Opening, url: str) -> FileInfo | None:
    """Of a stored file, as it is now; None for other addresses. Raises `FileRefused`."""
    place, loader = place_of(url), opening.loader
    if place.kind not in ("stored", "relative"):
        return None
    return await loader.in_time(url, loader.look_up(url, place))


def document_key(opening: Opening, address: str, version: str) -> DocumentKey:
    caller = opening.caller
    return DocumentKey(caller.bucket, caller.folder, address, version)


async def make(file: Loaded, url: str, key: DocumentKey) -> DocumentIndex:
    """Raises `Unreadable`."""
    bounds = document_bounds()
    text = await read_pages(file.content, name=file.name, media_type=file.type, bounds=bounds)
    address = file.path or (url.partition("#")[0] if place_of(url).kind == "external" else "")
    name = one_line(file.name)  # others have chosen it, and people and models read it
    document = await asyncio.to_thread(DocumentIndex, name, file.type, address, text)
    cache.put(key, document)
    return document


def document_bounds() -> Bounds:
    seconds = float(settings.DOCUMENTS_SECONDS)
    return Bounds(seconds, int(settings.DOCUMENTS_MEMORY_MB) * 1024 * 1024)
