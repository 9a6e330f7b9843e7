"""Ensures that only one indexing job at a time writes to a corpus: the job that has claimed it.

The task queue runs one indexing job at a time. If a process pauses, the queue restarts the job in
another process, and the paused process must not write after it resumes.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet

from apps.errors import LeaseLost
from apps.workspace.local.corpora.corpus import Corpus


@dataclass(frozen=True, slots=True)
class CorpusClaim:
    """An indexing job's claim to a corpus."""

    corpus: int
    """The corpus's primary key."""
    holder: str = field(default_factory=lambda: uuid4().hex)

    def rows(self) -> QuerySet[Corpus]:
        return Corpus.objects.filter(pk=self.corpus, holder=self.holder)

    def take(self) -> None:
        """Claim the corpus for this job. Any other job loses its claim."""
        Corpus.objects.filter(pk=self.corpus).update(holder=self.holder)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Open a transaction in which no other job can claim the corpus. Raises `LeaseLost` if
        another job has already claimed it.
        """
        with transaction.atomic():
            # The row stays locked until the end of the transaction.
            if not self.rows().update(holder=self.holder):
                raise LeaseLost
            yield
