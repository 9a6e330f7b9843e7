"""The right of one process to work on a corpus: a lease, taken by a conditional update."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from apps.errors import LeaseLost
from apps.workspace.local.corpus import Corpus

LEASE_SECONDS = 60.0
"""Without a sign of life; then another process goes on. A killed process costs as much time."""
BEAT_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Claim:
    """`corpus` is the number of the row."""

    corpus: int
    holder: str

    def rows(self) -> QuerySet[Corpus]:
        return Corpus.objects.filter(pk=self.corpus, holder=self.holder)

    def take(self) -> bool:
        """False if another process has it."""
        oldest = timezone.now() - timedelta(seconds=LEASE_SECONDS)
        free = Corpus.objects.filter(Q(holder="") | Q(beat_at__lt=oldest), pk=self.corpus)
        return bool(free.update(holder=self.holder, beat_at=timezone.now()))

    def beat(self) -> bool:
        """False if it is lost."""
        return bool(self.rows().update(beat_at=timezone.now()))

    def release(self) -> None:
        self.rows().update(holder="")

    @contextmanager
    def held(self) -> Iterator[None]:
        """A transaction in which nobody else can take it over. Raises `LeaseLost`."""
        with transaction.atomic():
            if not self.beat():  # the row stays locked until the end
                raise LeaseLost
            yield
