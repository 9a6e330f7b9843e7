"""A document by its address: from the cache, or loaded, read and indexed."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial

from apps.agent.stages import Stage
from apps.capabilities.documents.attached_files import AttachedFiles
from apps.capabilities.documents.cache import DocumentKey, cache
from apps.capabilities.documents.citations import STATE, last_number
from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.documents.scans import SCAN, PageReader, Vision, limited
from apps.capabilities.documents.vectors import embedding_queue
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.texts import one_line
from apps.documents.pages import Unreadable
from apps.documents.structure import PagedText, read_pages
from apps.errors import FileRefused, InvalidParameter, ToolError
from apps.workspace.loading.files import Loaded, document_bounds
from apps.workspace.loading.loader import key_of
from apps.workspace.loading.places import place_of
from apps.workspace.loading.shared_loads import SingleFlightCache
from apps.workspace.stored_files import FileInfo, version_of

KEPT_BYTES = 32 * 1024 * 1024
"""Of documents that one run keeps, whether others keep them or not."""


@dataclass(slots=True)
class RunDocuments:
    """What the calls of one run share: its documents.

    `watching`: the stages of the calls that wait for a document, by its key.
    """

    vision: Vision
    opened: SingleFlightCache[DocumentIndex] = field(
        default_factory=lambda: SingleFlightCache(KEPT_BYTES, lambda document: document.size)
    )
    embedded: list[DocumentIndex] = field(default_factory=list)
    """Those whose vectors are made with the rights of this run, so no longer than it lasts."""
    attached: AttachedFiles | None = None
    watching: dict[DocumentKey, list[Stage]] = field(default_factory=dict)

    @contextmanager
    def watched(self, key: DocumentKey, stage: Stage) -> Iterator[None]:
        stages = self.watching.setdefault(key, [])
        stages.append(stage)
        try:
            yield
        finally:
            stages.remove(stage)

    def tell(self, key: DocumentKey, words: str) -> None:
        for stage in self.watching.get(key, ()):
            stage.write(words)


RUN_DOCUMENTS = Key[RunDocuments]("run_documents")


@asynccontextmanager
async def run_documents(
    opening: Opening, vision: Vision, attached: AttachedFiles | None
) -> AsyncIterator[RunDocuments]:
    shared = opening.known[RUN_DOCUMENTS] = RunDocuments(vision, attached=attached)
    if last := last_number(opening):
        opening.saved[STATE] = last  # for the next request, if this one asks no document
    try:
        yield shared
    finally:
        await embedding_queue().end(shared.embedded)


async def open_document(opening: Opening, parameter: str, url: str, stage: Stage) -> DocumentIndex:
    """Tells the stage of what takes long. Raises `InvalidParameter`, `ToolError`."""
    try:
        return await find(opening, bare(url.strip()), stage)
    except FileRefused as error:
        raise InvalidParameter(parameter, str(error)) from error


async def find(opening: Opening, url: str, stage: Stage) -> DocumentIndex:
    """Raises `FileRefused`, `ToolError`."""
    info = await stored_info(opening, url)
    if info is not None:
        attached = opening.known[RUN_DOCUMENTS].attached
        found = attached and await attached.find(info.path, version_of(info))
        found = found or await cached(opening, document_key(opening, info.path, version_of(info)))
        if found is not None:
            await opening.loader.distrust(url)
            return found
    file = await opening.loader.take(url)
    version = file.version or hashlib.sha256(file.content).hexdigest()
    key = document_key(opening, file.path or key_of(url), version)
    found = await cached(opening, key)
    if found is not None:
        return found
    shared = opening.known[RUN_DOCUMENTS]
    try:
        with shared.watched(key, stage):
            return await shared.opened.get(repr(key), partial(make, opening, file, url, key))
    except Unreadable as error:
        # No other argument makes it readable, so the model is not told to correct this one.
        text = f"The document {one_line(file.name)!r} cannot be read: {error}"
        raise ToolError(text, is_lasting=True) from error


async def cached(opening: Opening, key: DocumentKey) -> DocumentIndex | None:
    """A document of the cache; None if this run has to read it, or more of it than earlier ones."""
    found, shared = cache.get(key), opening.known[RUN_DOCUMENTS]
    if found is None or not found.text.images or repr(key) in shared.opened.kept:
        return found
    reader = await shared.vision.reader(opening, document_bounds(opening.caller.bucket))
    return None if isinstance(reader, PageReader) else found


async def stored_info(opening: Opening, url: str) -> FileInfo | None:
    """Of a stored file, as it is now; None for other addresses. Raises `FileRefused`."""
    place, loader = place_of(url), opening.loader
    if place.kind not in ("stored", "relative"):
        return None
    return await loader.in_time(url, loader.look_up(url, place))


def document_key(opening: Opening, address: str, version: str) -> DocumentKey:
    caller = opening.caller
    return DocumentKey(caller.bucket, caller.folder, address, version)


async def make(opening: Opening, file: Loaded, url: str, key: DocumentKey) -> DocumentIndex:
    """Raises `Unreadable`."""
    bounds = document_bounds(opening.caller.bucket)
    known = cache.get(key)
    if known is not None:
        text = known.text
    else:
        text = limited(
            await read_pages(file.content, name=file.name, media_type=file.type, bounds=bounds)
        )
    address = file.path or (url.partition("#")[0] if place_of(url).kind == "external" else "")
    name = one_line(file.name)  # others have chosen it, and people and models read it
    index = partial(DocumentIndex, name, file.type, address)
    if text.images:
        text = await with_images_read(opening, file.content, text, key, index)
    document = await asyncio.to_thread(index, text)
    cache.put(key, document)
    return document


async def with_images_read(
    opening: Opening,
    content: bytes,
    text: PagedText,
    key: DocumentKey,
    index: Callable[[PagedText], DocumentIndex],
) -> PagedText:
    """The text with that of its images, as far as there is a model that sees.

    Raises `Unreadable` if there is no text then.
    """
    shared = opening.known[RUN_DOCUMENTS]
    reader = await shared.vision.reader(opening, document_bounds(opening.caller.bucket))
    if isinstance(reader, str):
        if text.is_empty:
            raise Unreadable(SCAN.format(why=reader))
        return text
    try:
        await reader.read(content, text, partial(shared.tell, key))
    except asyncio.CancelledError:
        if reader.texts:  # they are paid
            cache.put(key, index(text.with_images_read(reader.texts, reader.unread)))
        raise
    text = text.with_images_read(reader.texts, reader.unread)
    if text.images and text.is_empty:
        why = f"no page of it could be read. {' '.join(text.failures[:1])}"
        raise Unreadable(SCAN.format(why=why))
    return text
