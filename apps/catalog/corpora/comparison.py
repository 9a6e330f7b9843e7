"""Bring the documents of a corpus in line with the files that are attached now."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from channels.db import database_sync_to_async
from django.conf import settings
from django.utils import timezone

from apps.capabilities.contexts.entries import Available, find_files
from apps.catalog.corpora.applications import AttachingApplication
from apps.workspace.local.attached import readable_buckets
from apps.workspace.local.caller_files import LocalFiles
from apps.workspace.local.corpus import ChunkTerms, CorpusChunk, CorpusDocument, State
from apps.workspace.local.corpus_claims import Claim
from apps.workspace.local.models import StoredFile
from apps.workspace.local.paths import find_place

MISSING = (
    "There is no such file that everybody may read, or the owner of the application. Share it under "
    "files/public/, or correct its address in contexts."
)


class FilePlace(NamedTuple):
    bucket: str
    name: str


async def compare(application: AttachingApplication, claim: Claim) -> None:
    """New and changed documents wait to be read afterwards. Raises `LeaseLost`."""
    # Noted first: who uploads a file meanwhile asks for another comparison.
    await database_sync_to_async(note_begin)(application, claim)
    found = await find_files(application.contexts, LocalFiles(application.bucket))
    await database_sync_to_async(apply)(application, found, claim)


def note_begin(application: AttachingApplication, claim: Claim) -> None:
    """Raises `LeaseLost`."""
    with claim.held():
        claim.rows().update(compared=application.stamp, compared_at=None)


def apply(application: AttachingApplication, found: Available, claim: Claim) -> None:
    """Raises `LeaseLost`."""
    places = [FilePlace(*place) for one in found.entries if (place := find_place(one.url))]
    wanted = places[: settings.CORPUS_DOCUMENTS]
    files = stored_files(wanted, readable_buckets(application.bucket))
    with claim.held():
        known = {
            FilePlace(row.bucket, row.name): row
            for row in CorpusDocument.objects.filter(corpus=claim.corpus).defer("text")
        }
        gone = [row.pk for place, row in known.items() if place not in set(wanted)]
        CorpusDocument.objects.filter(pk__in=gone).delete()
        for place in wanted:
            row = known.get(place) or CorpusDocument(
                corpus_id=claim.corpus, bucket=place.bucket, name=place.name
            )
            update(row, files.get(place))
        claim.rows().update(
            compared_at=timezone.now(),
            left_out=len(places) - len(wanted) + found.left_out,
            problem="\n".join(map(str, found.issues)),
        )


def stored_files(
    places: Iterable[FilePlace], buckets: Iterable[str]
) -> Mapping[FilePlace, StoredFile]:
    """Those of the places that are there, in these buckets."""
    names = {place.name for place in places}
    rows = StoredFile.objects.filter(bucket__in=buckets, name__in=names)
    return {FilePlace(row.bucket, row.name): row for row in rows}


def update(row: CorpusDocument, file: StoredFile | None) -> None:
    if file is None:
        if row.problem != MISSING:
            reset(row, State.FAILED, MISSING)
    elif row.version != file.etag:
        row.version, row.media_type = file.etag, file.content_type
        reset(row, State.WAITING, "")


def reset(row: CorpusDocument, state: str, problem: str) -> None:
    """Nothing of a former content stays. A document without a file has no version."""
    row.version = "" if state == State.FAILED else row.version
    row.state, row.problem, row.attempts, row.due_at = state, problem, 0, None
    row.text, row.is_read, row.model = None, False, ""
    row.chunk_count = row.vector_count = row.refused_chunks = 0
    if row.pk:
        CorpusChunk.objects.filter(document=row).delete()
        ChunkTerms.objects.filter(document=row).delete()
    row.save()
