"""Reads the questions that runs answer, for lists of runs and of feedback."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models.functions import Substr
from django.http import HttpRequest
from django.utils.text import Truncator

from apps.console.admin.watch.run_contents import may_read, record_contents
from apps.conversations.models import Conversation, Message

SHOWN_CHARACTERS = 80
READ_CHARACTERS = 1_000
"""The lists read this many characters of each question, because it can be a long document."""


def first_words(text: str) -> str:
    """Return the beginning of a question, on one line."""
    return Truncator(" ".join(text.split())).chars(SHOWN_CHARACTERS)


def read_questions(request: HttpRequest, runs: Iterable[UUID | None]) -> dict[UUID, str]:
    """Return the first words of the questions in conversations by run ID, or {} if the user may not
    read contents. The caller must record the access in the audit log.
    """
    if not may_read(request):
        return {}
    asked = Message.objects.filter(
        run__in={run for run in runs if run is not None},
        role=Message.Role.USER,
        conversation__in=Conversation.objects.undeleted(),
    ).order_by("pk")
    rows = asked.values_list("run", Substr("text", 1, READ_CHARACTERS))
    return {run: words for run, text in rows if run is not None and (words := first_words(text))}


def record_list(request: HttpRequest, questions: Iterable[str], subject: str) -> None:
    """Record in the audit log that the user saw questions in a list. Without questions, record
    nothing.
    """
    if count := sum(map(bool, questions)):
        record_contents(request, "", None, f"{subject}: {count}", is_allowed=True)
