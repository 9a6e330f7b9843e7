"""Updates the documents of a corpus (an application's search index) to match the attached files."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.capabilities.contexts.entries import ListedEntries, find_files
from apps.catalog.application_uploads import application_file_ids
from apps.catalog.corpora.applications import AttachingApplication
from apps.workspace.local.corpora.claims import CorpusClaim
from apps.workspace.local.corpora.corpus import ChunkTerms, CorpusChunk, CorpusDocument, State
from apps.workspace.local.files.caller_files import LocalFiles
from apps.workspace.local.files.paths import split_path
from apps.workspace.local.files.readers import FileReader, readable_files
from apps.workspace.local.models import StoredFile

MISSING = (
    "The file does not exist, or is neither public nor a file of the application's owner. Share it "
    "under files/public/, or correct its URL in contexts."
)

LEAST_DOCUMENTS = 200
CHUNKS_PER_DOCUMENT = 20
"""A corpus can have up to `CORPUS_CHUNKS / CHUNKS_PER_DOCUMENT` documents, or up to
`LEAST_DOCUMENTS` if that is more.
"""


class FileKey(NamedTuple):
    bucket: str
    name: str


async def compare_documents(application: AttachingApplication, claim: CorpusClaim) -> None:
    """Compare the documents of a corpus with the attached files. Mark new and changed documents for
    reading.

    Raises `LeaseLost` if another job has taken over the corpus.
    """
    # Record the start first, because a file that is uploaded during the comparison requests another
    # comparison.
    await database_sync_to_async(note_begin)(application, claim)
    own = partial(application_file_ids, application.number)
    found = await find_files(application.contexts, LocalFiles(application.bucket, "", own))
    await database_sync_to_async(apply)(application, found, claim)


def note_begin(application: AttachingApplication, claim: CorpusClaim) -> None:
    """Record that a comparison has started. Raises `LeaseLost` if another job has taken over the
    corpus.
    """
    with claim.held():
        claim.rows().update(compared=application.stamp, compared_at=None)


def apply(application: AttachingApplication, found: ListedEntries, claim: CorpusClaim) -> None:
    """Update the documents of the corpus to match the files that were found. Raises `LeaseLost` if
    another job has taken over the corpus.
    """
    keys = [FileKey(*key) for one in found.entries if (key := split_path(one.url))]
    indexed = keys[: most_documents()]
    files = stored_files(
        indexed, FileReader(application.bucket, partial(application_file_ids, application.number))
    )
    with claim.held():
        known = {
            FileKey(row.bucket, row.name): row
            for row in CorpusDocument.objects.filter(corpus=claim.corpus).defer("text")
        }
        gone = [row.pk for key, row in known.items() if key not in set(indexed)]
        CorpusDocument.objects.filter(pk__in=gone).delete()
        for key in indexed:
            row = known.get(key) or CorpusDocument(
                corpus_id=claim.corpus, bucket=key.bucket, name=key.name
            )
            update(row, files.get(key))
        claim.rows().update(
            compared_at=timezone.now(),
            left_out=len(keys) - len(indexed) + found.left_out,
            problem="\n".join(map(str, found.issues)),
        )


def most_documents() -> int:
    return max(LEAST_DOCUMENTS, settings.CORPUS_CHUNKS // CHUNKS_PER_DOCUMENT)


def stored_files(keys: Iterable[FileKey], reader: FileReader) -> Mapping[FileKey, StoredFile]:
    """Return the stored files that the reader may read, by bucket and name."""
    names: dict[str, set[str]] = {}
    for key in keys:
        names.setdefault(key.bucket, set()).add(key.name)
    return {
        FileKey(row.bucket, row.name): row
        for bucket, some in names.items()
        for row in readable_files(reader, bucket).filter(name__in=some)
    }


def update(row: CorpusDocument, file: StoredFile | None) -> None:
    if file is None:
        if row.problem != MISSING:
            reset(row, State.FAILED, MISSING)
    elif row.version != file.etag:
        row.version, row.media_type = file.etag, file.content_type
        reset(row, State.WAITING, "")


def reset(row: CorpusDocument, state: str, problem: str) -> None:
    """Delete the text and chunks of a document, and set its state and problem. A document in the
    state `FAILED` also loses its version.
    """
    row.version = "" if state == State.FAILED else row.version
    row.state, row.problem, row.attempts, row.due_at = state, problem, 0, None
    row.text, row.is_read, row.model = None, False, ""
    row.chunk_count = row.vector_count = row.refused_chunks = 0
    if row.pk:
        CorpusChunk.objects.filter(document=row).delete()
        ChunkTerms.objects.filter(document=row).delete()
    row.save()
