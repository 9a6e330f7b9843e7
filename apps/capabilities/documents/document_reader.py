"""Opens a document from the cache, or loads, parses and indexes it."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial

from apps import process_state
from apps.agent.stages import Stage
from apps.capabilities.documents.attached_files import SearchableFiles
from apps.capabilities.documents.cache import DocumentKey, cache
from apps.capabilities.documents.citations import STATE, last_number
from apps.capabilities.documents.document_vectors import embedding_queue
from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.documents.scans import SCAN, PageReader, Vision, limit_images
from apps.capabilities.registry import Key, Opening
from apps.capabilities.wrappers.file_references import bare
from apps.capabilities.wrappers.value_texts import one_line
from apps.documents.paged_text import UnreadableDocument
from apps.documents.structure import PagedText, read_pages
from apps.errors import FileRefused, InvalidParameter, ToolError
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.files import LoadedFile, document_bounds
from apps.workspace.loading.loader import url_key
from apps.workspace.loading.shared_loads import SingleFlightCache
from apps.workspace.stored_files import FileInfo, file_version

CACHE_BYTES = 32 * 1024 * 1024
"""A run caches up to this many bytes of documents, in addition to the process's cache."""
LARGE_AT_ONCE = 4
"""A process reads up to this many large documents concurrently. Each needs up to
`CHAT_UPLOAD_MAX_BYTES` of memory.
"""


@dataclass(slots=True)
class RunDocuments:
    """The documents that all calls of one run share."""

    vision: Vision
    opened: SingleFlightCache[DocumentIndex] = field(
        default_factory=lambda: SingleFlightCache(CACHE_BYTES, lambda document: document.size)
    )
    embedded: list[DocumentIndex] = field(default_factory=list)
    """Documents that are embedded at the caller's cost, or that no cache stores. Embedding stops
    when the run ends.
    """
    attached: SearchableFiles | None = None
    watching: dict[DocumentKey, list[Stage]] = field(default_factory=dict)
    """The stages of waiting calls, for each document that is being read."""

    @contextmanager
    def watched(self, key: DocumentKey, stage: Stage) -> Iterator[None]:
        stages = self.watching.setdefault(key, [])
        stages.append(stage)
        try:
            yield
        finally:
            stages.remove(stage)

    def report(self, key: DocumentKey, words: str) -> None:
        for stage in self.watching.get(key, ()):
            stage.write(words)


RUN_DOCUMENTS = Key[RunDocuments]("run_documents")


@asynccontextmanager
async def run_documents(
    opening: Opening, vision: Vision, attached: SearchableFiles | None
) -> AsyncIterator[RunDocuments]:
    shared = opening.findings[RUN_DOCUMENTS] = RunDocuments(vision, attached=attached)
    if last := last_number(opening):
        # The next request needs the number, even if this one searches no document.
        opening.conversation.saved[STATE] = last
    try:
        yield shared
    finally:
        await embedding_queue().end(shared.embedded)


async def open_document(opening: Opening, parameter: str, url: str, stage: Stage) -> DocumentIndex:
    """Open a document, and report slow work in the stage.

    Raises `InvalidParameter` if the file cannot be loaded, and `ToolError` if it is not a readable
    document.
    """
    try:
        return await find(opening, bare(url.strip()), stage)
    except FileRefused as error:
        raise InvalidParameter(parameter, str(error)) from error


async def find(opening: Opening, url: str, stage: Stage) -> DocumentIndex:
    """Return the document from a cache, or read it.

    Raises `FileRefused` if the file cannot be loaded, and `ToolError` if it is not a readable
    document.
    """
    info = await stored_info(opening, url)
    if info is not None:
        attached = opening.findings[RUN_DOCUMENTS].attached
        found = attached and await attached.find(info.path, file_version(info))
        found = found or await find_cached(
            opening, document_key(opening, info.path, file_version(info))
        )
        if found is not None:
            await opening.loader.distrust(url)
            return found
    if info is not None and await is_large(opening, info):
        rules = opening.loader.rules
        async with large_documents():
            file = await opening.loader.load_document(url, max(rules.limit, rules.document_limit))
            return await read_document(opening, file, url, stage)
    return await read_document(opening, await opening.loader.take(url), url, stage)


async def is_large(opening: Opening, info: FileInfo) -> bool:
    """Return True if the file exceeds the general size limit and belongs to the caller."""
    loader = opening.loader
    return info.size > loader.rules.limit and await loader.files.is_own(info.path)


class LargeDocuments(asyncio.Semaphore):
    """Limits how many large documents are read concurrently on one event loop."""

    async def aclose(self) -> None: ...


def large_documents() -> LargeDocuments:
    return process_state.loop_object("large_documents", partial(LargeDocuments, LARGE_AT_ONCE))


async def read_document(
    opening: Opening, file: LoadedFile, url: str, stage: Stage
) -> DocumentIndex:
    """Return a loaded file's document from a cache, or parse it. Raises `ToolError` if it is
    unreadable.
    """
    version = file.version or hashlib.sha256(file.content).hexdigest()
    key = document_key(opening, file.path or url_key(url), version)
    found = await find_cached(opening, key)
    if found is not None:
        return found
    shared = opening.findings[RUN_DOCUMENTS]
    try:
        with shared.watched(key, stage):
            return await shared.opened.get(repr(key), partial(make, opening, file, url, key))
    except UnreadableDocument as error:
        # No other argument would help, so the error does not ask the model to correct it.
        text = f"The document {one_line(file.name)!r} cannot be read: {error}"
        raise ToolError(text, is_lasting=True) from error


async def find_cached(opening: Opening, key: DocumentKey) -> DocumentIndex | None:
    """Return the cached document, or None.

    Ignore a cached document with unread images if this run has a model that can read them.
    """
    found, shared = cache.get(key), opening.findings[RUN_DOCUMENTS]
    if found is None or not found.text.images or repr(key) in shared.opened.results:
        return found
    reader = await shared.vision.reader(opening, document_bounds(opening.caller.bucket))
    return None if isinstance(reader, PageReader) else found


async def stored_info(opening: Opening, url: str) -> FileInfo | None:
    """Return the current metadata of a stored file, or None for other URLs. Raises `FileRefused` if
    the caller cannot access the file.
    """
    place, loader = locate_file(url), opening.loader
    if place.kind not in ("stored", "relative"):
        return None
    return await loader.in_time(url, loader.look_up(url, place))


def document_key(opening: Opening, address: str, version: str) -> DocumentKey:
    caller = opening.caller
    return DocumentKey(caller.bucket, caller.folder, address, version)


async def make(opening: Opening, file: LoadedFile, url: str, key: DocumentKey) -> DocumentIndex:
    """Parse, index and cache a document. Raises `UnreadableDocument` if it has no readable text."""
    bounds = document_bounds(opening.caller.bucket)
    known = cache.get(key)
    if known is not None:
        text = known.text
    else:
        text = limit_images(
            await read_pages(file.content, name=file.name, media_type=file.type, bounds=bounds)
        )
    address = file.path or (url.partition("#")[0] if locate_file(url).kind == "external" else "")
    name = one_line(file.name)  # The name may come from another user, and users and models read it.
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
    """Add the text of images if a model can read them. Raises `UnreadableDocument` if the document
    still has no text after that.
    """
    shared = opening.findings[RUN_DOCUMENTS]
    reader = await shared.vision.reader(opening, document_bounds(opening.caller.bucket))
    if isinstance(reader, str):
        if text.is_empty:
            raise UnreadableDocument(SCAN.format(why=reader))
        return text
    try:
        await reader.read(content, text, partial(shared.report, key))
    except asyncio.CancelledError:
        if reader.texts:  # The caller was charged for these texts.
            cache.put(key, index(text.with_images_read(reader.texts, reader.unread)))
        raise
    text = text.with_images_read(reader.texts, reader.unread)
    if text.images and text.is_empty:
        why = f"no page of it could be read. {' '.join(text.failures[:1])}"
        raise UnreadableDocument(SCAN.format(why=why))
    return text
