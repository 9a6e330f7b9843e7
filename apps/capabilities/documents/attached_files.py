"""Searches the files attached to an application. Their text is stored in the database."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from apps.capabilities.documents.cache import DocumentKey, cache
from apps.capabilities.documents.index import DocumentIndex
from apps.capabilities.documents.large_corpus import LargeCorpus
from apps.capabilities.documents.retrieval import LoadedDocuments
from apps.capabilities.wrappers.value_texts import one_line
from apps.manifest.contexts import Context, FileContext, FolderContext
from apps.manifest.manifest import Manifest
from apps.workspace.corpora import AttachedDocument, CorpusReader
from apps.workspace.loading.file_locations import locate_file
from apps.workspace.loading.loader import last_segment

OWNER = "attached"
"""The cache stores attached files under this owner. All users share these entries, because
permissions are checked before the cache is used.
"""


def attached_contexts(manifest: Manifest) -> tuple[Context, ...]:
    """Return the stored files and folders that the manifest attaches, or () if the application
    cannot search documents.
    """
    documents = manifest.features.documents if manifest.features is not None else None
    if documents is None or not documents.enabled:
        return ()
    return tuple(
        context
        for context in manifest.contexts
        if isinstance(context, FileContext | FolderContext)
        and locate_file(context.url).kind == "stored"
    )


@dataclass(frozen=True, slots=True)
class SearchableFiles:
    """The files that are attached to an application and that the caller can read."""

    corpus: CorpusReader
    contexts: Sequence[Context]

    async def documents(self) -> list[AttachedDocument]:
        found = await self.corpus.documents()
        return [one for one in found if any(covers(c, one.address) for c in self.contexts)]

    async def find(self, path: str, version: str) -> DocumentIndex | None:
        """Return the document for a stored file, or None if this version is not indexed."""
        for one in await self.documents():
            if one.is_searchable and (one.address, one.version) == (path, version):
                return await self.load(one)
        return None

    async def load(self, document: AttachedDocument) -> DocumentIndex | None:
        """Load a document from the cache or the database. Return None if the document has just
        changed.
        """
        key = DocumentKey(OWNER, "", str(document.number), document.version)
        found = cache.get(key)
        if found is None:
            stored = await self.corpus.text(document)
            if stored is None:
                return None
            name = one_line(last_segment(document.address))
            place = name, document.media_type, document.address
            content = stored.text, document.number, stored.chunks
            found = await asyncio.to_thread(DocumentIndex, *place, *content)
            cache.put(key, found)
        stored_now = found.vectors
        stored_now.model, stored_now.count = document.model, document.vectors
        stored_now.problem = document.problem
        return found

    async def open(
        self, documents: Sequence[AttachedDocument]
    ) -> LoadedDocuments | LargeCorpus | None:
        """Prepare the documents that can be searched. Return None if there are none."""
        searchable = [one for one in documents if one.is_searchable]
        if not searchable:
            return None
        if await self.corpus.is_large():
            return LargeCorpus(self.corpus, searchable)
        loaded = [await self.load(one) for one in searchable]
        found = [one for one in loaded if one is not None]
        return LoadedDocuments(found, self.corpus) if found else None


def covers(context: Context, address: str) -> bool:
    """Return True if the manifest still attaches the file, directly or through a folder.

    The manifest may have changed since the file was indexed.
    """
    if not isinstance(context, FileContext | FolderContext):
        return False
    named, path = unquote(locate_file(context.url).address), unquote(address)
    if isinstance(context, FileContext):
        return path == named
    return path.startswith(named) and path[len(named) :].count("/") < context.max_depth
