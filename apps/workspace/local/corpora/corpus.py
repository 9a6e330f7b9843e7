"""Defines the database models for attached files: the files, the chunks of their text, and the
chunks' vectors.
"""

from datetime import timedelta

from django.db import models, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.listeners import Listeners
from apps.workspace.local.files.paths import write_path

LEAST_PAUSE, MOST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MOST_ATTEMPTS = 5
"""A document fails after this many attempts if the process that reads it terminates each time
without a result.
"""


work_added: Listeners[[], None] = Listeners("attached files to be indexed")


class Corpus(models.Model):
    """The attached files of one application."""

    application = models.CharField(max_length=200, unique=True)
    """The application's slug."""
    compared = models.CharField(max_length=50, blank=True)
    """The version of the application whose files were compared with the documents at `compared_at`,
    or "" to request a new comparison.
    """
    compared_at = models.DateTimeField(null=True, blank=True)
    holder = models.CharField(max_length=32, blank=True)
    """The job that may write to the corpus."""
    beat_at = models.DateTimeField(null=True, blank=True)  # unused
    left_out = models.PositiveIntegerField(default=0)
    """The number of files that exceed the limit."""
    problem = models.TextField(blank=True)
    """A message about folders that could not be listed."""
    is_large = models.BooleanField(default=False)
    """True if the database searches the corpus, with copies of words and vectors. Otherwise, each
    process searches it.
    """

    def __str__(self) -> str:
        return f"files of {self.application}"


class CorpusDocument(models.Model):
    """An attached file."""

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
    """The ETag of the content whose text is or will be stored."""
    state = models.CharField(max_length=20, choices=State, default=State.WAITING)
    problem = models.TextField(blank=True)
    """The reason for a failure, or ""."""
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)
    """The time at which the file will be read again, or None."""
    text = models.JSONField(null=True, blank=True)
    """The pages in the format of `document_texts`."""
    is_read = models.BooleanField(default=False)
    """True if the text and the chunks are stored."""
    chunk_count = models.PositiveIntegerField(default=0)
    vector_count = models.PositiveIntegerField(default=0)
    """The number of chunks with a vector from `model`."""
    model = models.CharField(max_length=300, blank=True)
    refused_chunks = models.PositiveIntegerField(default=0)
    """The number of a file's chunks if the file was rejected because it has too many, otherwise 0.
    """

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
    """A chunk of a document. `start` and `end` are positions in the text of the page."""

    document = models.ForeignKey(CorpusDocument, on_delete=models.CASCADE, related_name="chunks")
    position = models.PositiveIntegerField()
    text = models.TextField()
    page = models.PositiveIntegerField()
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    headings = models.JSONField(default=list)
    vector = models.BinaryField(default=bytes)
    """The vector as 32-bit floats, or b"" until `model` has computed it."""
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
    """A field for an indexed array of numbers in PostgreSQL. Other databases have no rows with this
    field.
    """

    def db_type(self, connection: BaseDatabaseWrapper) -> str:
        return "integer[]" if connection.vendor == "postgresql" else "text"


class ChunkTerms(models.Model):
    """The search terms of a chunk in a large corpus, as `apps.workspace.local.corpora.terms`
    computes them.

    They are in a separate table, so that a search reads few database pages, and a new vector does
    not rewrite the terms.
    """

    document = models.ForeignKey(CorpusDocument, on_delete=models.CASCADE, related_name="terms")
    position = models.PositiveIntegerField()
    length = models.PositiveIntegerField()
    """The number of terms in the chunk, including repeated ones."""
    terms = TermNumbers()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("document", "position"), name="one_list_of_a_chunk"),
        )

    def __str__(self) -> str:
        return f"terms of chunk {self.position}"


State = CorpusDocument.State
UNREAD = Q(is_read=False, state__in=(State.WAITING, State.READING))
"""A filter for documents that have not been read. If a process is killed, its documents remain in
the READING state.
"""


def due_documents() -> QuerySet[CorpusDocument]:
    """Return the documents whose next step is due, without loading their texts."""
    is_due = Q(state=State.FAILED, due_at__lte=timezone.now())
    wanted = UNREAD | Q(is_read=True, state=State.EMBEDDING) | is_due
    return CorpusDocument.objects.filter(wanted).defer("text").order_by("due_at", "pk")


def compare_soon() -> None:
    """Schedule a comparison of every corpus with its application's files, because the files may
    have changed.
    """
    Corpus.objects.update(compared="")
    work_added.notify()


def index_again(documents: QuerySet[CorpusDocument]) -> int:
    """Index documents again. Return the number of documents; documents without a file are skipped.

    Each document gets a new row, so that no cache contains it, and the results of work in progress
    are dropped.
    """
    rows = list(documents.exclude(version=""))
    with transaction.atomic():
        # Lock the corpora first, as their worker does.
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
    work_added.notify()
    return len(rows)


def pause_after(attempts: int) -> timedelta:
    """Return the pause after this many failed attempts. It quadruples with each attempt, up to an
    hour.
    """
    longer: int = 4 ** min(max(attempts - 1, 0), 4)
    return min(LEAST_PAUSE * longer, MOST_PAUSE)
