"""Rows of what is attached to applications, as it is searched: files, their text, and its vectors."""

from datetime import timedelta

from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.workspace.local.paths import write_path

LEAST_PAUSE, MOST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MOST_ATTEMPTS = 5
"""To read a document that ended its process, or was interrupted, so often without a result."""


class Corpus(models.Model):
    """The attached files of one application.

    - `application` is its slug.
    - `compared` tells which application, and which version of it, the documents were compared with at
      `compared_at`; "" asks for a comparison.
    - `holder` is the process that works on it, "" for none, which said so last at `beat_at`.
    - `left_out`: files above the limit. `problem`: folders that could not be listed, in words.
    - `is_large`: the database searches it, by copies of words and vectors; else each process does.
    """

    application = models.CharField(max_length=200, unique=True)
    compared = models.CharField(max_length=50, blank=True)
    compared_at = models.DateTimeField(null=True, blank=True)
    holder = models.CharField(max_length=32, blank=True)
    beat_at = models.DateTimeField(null=True, blank=True)
    left_out = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    is_large = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"files of {self.application}"


class CorpusDocument(models.Model):
    """One attached file; `version` is the etag of the content that `text` is of, or is to be made of.

    - `problem`: the reason of a failure, "" for none; it is tried again at `due_at`, if that is set.
    - `text`: pages, as `apps.workspace.local.corpus_texts` writes them. `is_read`: it is there, and
      so are the chunks.
    - `vector_count`: chunks with a vector of `model`.
    - `refused_chunks`: so many there was no room for, which is why it failed; 0: that is not why.
    """

    class State(models.TextChoices):
        WAITING = "waiting"
        READING = "reading"
        EMBEDDING = "embedding"
        READY = "ready"
        FAILED = "failed"

    corpus = models.ForeignKey(Corpus, on_delete=models.CASCADE, related_name="documents")
    bucket = models.CharField(max_length=100)
    name = models.CharField(max_length=500)
    media_type = models.CharField(max_length=200, blank=True)
    version = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=20, choices=State, default=State.WAITING)
    problem = models.TextField(blank=True)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    text = models.JSONField(null=True, blank=True)
    is_read = models.BooleanField(default=False)
    chunk_count = models.PositiveIntegerField(default=0)
    vector_count = models.PositiveIntegerField(default=0)
    model = models.CharField(max_length=300, blank=True)
    refused_chunks = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("bucket", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("corpus", "bucket", "name"), name="one_document_of_a_file"
            ),
        )

    def __str__(self) -> str:
        return f"document {self.pk}"

    @property
    def address(self) -> str:
        return write_path(self.bucket, self.name)


class CorpusChunk(models.Model):
    """`start` and `end` are its place in the text of its page, which has the number `page`.

    `vector` has `dimension` numbers of 32 bits, by `model`; empty before it is made.
    """

    document = models.ForeignKey(CorpusDocument, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    text = models.TextField()
    page = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    headings = models.JSONField(default=list)
    vector = models.BinaryField(default=bytes)
    model = models.CharField(max_length=300, blank=True)
    dimension = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("document", "position"), name="one_chunk_of_a_position"
            ),
        )

    def __str__(self) -> str:
        return f"chunk {self.position}"


class TermNumbers(models.Field[list[int], list[int]]):
    """An array, which PostgreSQL searches by an index; in other databases there are no such rows."""

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "integer[]" if connection.vendor == "postgresql" else "text"


class ChunkTerms(models.Model):
    """What a chunk of a large corpus is found by, as `apps.workspace.local.corpus_terms` makes it.

    It is apart from the chunks, so that a search reads few pages, and a new vector writes no terms
    again. `length` is how many terms the chunk has, repeated ones included.
    """

    document = models.ForeignKey(CorpusDocument, on_delete=models.CASCADE, related_name="terms")
    position = models.PositiveIntegerField()
    length = models.PositiveIntegerField()
    terms = TermNumbers()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("document", "position"), name="one_list_of_a_chunk"),
        )

    def __str__(self) -> str:
        return f"terms of chunk {self.position}"


State = CorpusDocument.State
UNREAD = Q(is_read=False, state__in=(State.WAITING, State.READING))
"""Reading is a state that a process leaves behind when it is killed."""


def due_documents() -> QuerySet[CorpusDocument]:
    """Those that there is work for now, without their texts."""
    is_due = Q(state=State.FAILED, due_at__lte=timezone.now())
    wanted = UNREAD | Q(is_read=True, state=State.EMBEDDING) | is_due
    return CorpusDocument.objects.filter(wanted).defer("text").order_by("due_at", "pk")


def compare_soon() -> None:
    """Have the documents of all applications compared with the files, which have changed."""
    Corpus.objects.update(compared="")


def index_again(documents: QuerySet[CorpusDocument]) -> int:
    """Have documents read and embedded anew, all but those without a file; return their number.

    Each becomes another row, so that nothing is kept of it anywhere, and work on it comes to nothing.
    """
    rows = list(documents.exclude(version=""))
    with transaction.atomic():
        # First the lock of whoever works on them.
        Corpus.objects.filter(pk__in={row.corpus_id for row in rows}).update(compared="")
        CorpusDocument.objects.filter(pk__in=[row.pk for row in rows]).delete()
        CorpusDocument.objects.bulk_create(
            CorpusDocument(
                corpus_id=row.corpus_id,
                bucket=row.bucket,
                name=row.name,
                media_type=row.media_type,
                version=row.version,
            )
            for row in rows
        )
    return len(rows)


def pause_after(attempts: int) -> timedelta:
    """Before the next attempt: four times as long after each, up to an hour."""
    longer: int = 4 ** min(max(attempts - 1, 0), 4)
    return min(LEAST_PAUSE * longer, MOST_PAUSE)
