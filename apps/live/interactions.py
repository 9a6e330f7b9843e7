"""Stores answers to the questions of waiting runs. Answers come from users, API clients and
timeouts.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import UUID

from channels.db import database_sync_to_async
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.persons import is_same_person
from apps.agent.ledger import InteractionKind
from apps.errors import Conflict, Missing, Refused
from apps.live.consents import store_consent
from apps.live.elicitations import BY, TIMEOUT, YOU
from apps.live.events import InteractionResolved, shorten_key, storable_value
from apps.live.hub import Hub
from apps.live.journal import journal
from apps.live.journal.notifications import announce_answer, announce_waiting, wake_viewers
from apps.live.models import AnsweredCall, Interaction, Run
from apps.workspace.local.tools.tool_accounts import delete_unfinished

AT_ONCE = 100
"""The maximum number of expired questions that one sweep answers."""
CALL: InteractionKind = "client_tool"
Claim = Literal["granted", "taken", "lost"]


async def submit_answer(
    hub: Hub,
    run: Run,
    key: str,
    kind: InteractionKind,
    answer: Mapping[str, Any],
    by: str,
    name: str = YOU,
) -> None:
    """Store the answer to a question, and notify all processes, so that one of them resumes the
    run.

    `by` is the bucket of the user who answers, and `name` the user's name in the conversation.
    Raises `Refused` if the question is no longer open or another user must answer it.
    """
    await database_sync_to_async(answer_interaction)(run, key, kind, answer, by, name)
    if kind == "elicitation":
        await announce_answer(run.pk)
        return
    hub.awaited.set()
    await wake_viewers(hub.streams, run.stream)
    await announce_waiting()


@transaction.atomic
def answer_interaction(
    run: Run,
    key: str,
    kind: InteractionKind,
    answer: Mapping[str, Any],
    by: str,
    name: str = YOU,
) -> None:
    """Store the answer to a question. Raises `Refused` if it is no longer open or another user must
    answer it.
    """
    rows = Interaction.objects.filter(run=run, key=shorten_key(key), kind=kind, answer__isnull=True)
    # Expired questions that no sweep has answered yet are excluded.
    question = rows.exclude(due_at__lte=timezone.now()).first()
    if question is None:
        raise closed_error()
    if question.asked.get("four_eyes") and is_same_person(by, run.bucket):
        raise Refused("four_eyes", gettext("Another user must approve or deny this call."))
    if kind == "elicitation":
        answer_call(question, answer, by, name)
        return
    resolve(question, answer, by, name)
    if by == run.bucket:
        store_consent(run, question, answer)


def answer_call(question: Interaction, answer: Mapping[str, Any], by: str, name: str) -> None:
    """Store the answer to a running call's question. The process that runs the call then notifies
    viewers. Raises `Refused` if the question is no longer open.
    """
    rows = Interaction.objects.filter(pk=question.pk, answer__isnull=True)
    rows = rows.filter(run__status=Run.Status.RUNNING)
    if not rows.update(answer=storable_value({**answer, BY: name}), answered_by=by[:100]):
        raise closed_error()


def resolve(question: Interaction, answer: Mapping[str, Any], by: str = "", name: str = "") -> None:
    """Store the answer to a question, announce it to viewers, and queue the run. Must be called in
    a transaction. Raises `Refused` if the question is no longer open.
    """
    resolve_all(question.run, (question,), answer, by, name)


def resolve_all(
    run: Run,
    questions: Sequence[Interaction],
    answer: Mapping[str, Any],
    by: str = "",
    name: str = "",
) -> None:
    """Store the same answer to several of a run's questions. Otherwise works like `resolve`."""
    given, keys = storable_value(answer), [one.pk for one in questions]
    # The update locks the run's row, so that of two concurrent answers, or an answer and a stop,
    # only the first counts. An active run must not get a second writer for its journal.
    rows = Interaction.objects.filter(pk__in=keys, answer__isnull=True)
    now = timezone.now()
    if not waiting(run).update(beat_at=now):
        is_going = rows.filter(run__status__in=Run.GOING).exists()
        raise busy_error() if is_going else closed_error()
    for one in questions:
        if not rows.filter(pk=one.pk).update(answer=given, answered_by=by[:100]):
            raise closed_error()
        # The result of a browser tool can be large, and its step shows it anyway.
        shown = {"outcome": given.get("outcome")} if one.kind == CALL else given
        event = InteractionResolved(one.key, one.kind, shown, name, now.timestamp())
        journal.add(run.stream, run.pk, (event,))
    # A page can answer several calls at the same time. The last answer resumes the run.
    if any(one.kind != CALL for one in questions) or not open_calls(run).exists():
        waiting(run).update(status=Run.Status.QUEUED, holder="")


def closed_error() -> Refused:
    return Missing("answered", gettext("This request was already answered or has expired."))


def busy_error() -> Refused:
    return Conflict(
        "run_going", gettext("Another answer is being processed. Try again in a moment.")
    )


def waiting(run: Run) -> QuerySet[Run]:
    """Return a query for the run's row that is empty unless the run is waiting for a user."""
    return Run.objects.filter(pk=run.pk, status=Run.Status.WAITING)


def open_calls(run: Run) -> QuerySet[Interaction]:
    """Return the run's open browser tool calls."""
    return Interaction.objects.filter(run=run, kind=CALL, answer__isnull=True)


def delete_unfinished_accounts() -> int:
    """Delete tool accounts whose users never completed the sign-in, unless a run is waiting for the
    sign-in. Return the number of deleted accounts.
    """
    open_now = Interaction.objects.filter(
        kind="sign_in", answer__isnull=True, run__status__in=Run.OPEN
    )
    return delete_unfinished([card["account"] for card in open_now.values_list("asked", flat=True)])


def claim_for_page(run: Run, key: str, page: str, former: str = "") -> Claim:
    """Assign a browser tool call to one page, which executes it.

    `page` is the page's ID, and `former` the ID that it had before a reload. Returns `granted`,
    `taken` (by another page), or `lost` if the page had begun the call before the reload and it
    must not be repeated. Raises `Refused` if the call is no longer open.
    """
    calls = open_calls(run).filter(key=shorten_key(key), run__status__in=Run.OPEN)
    calls = calls.exclude(due_at__lte=timezone.now())
    free = Q(claimed_by__in=("", page)) | Q(claimed_by=former, asked__is_repeatable=True)
    if calls.filter(free).update(claimed_by=page):
        return "granted"
    holder = calls.values_list("claimed_by", flat=True).first()
    if holder is None:
        raise closed_error()
    return "lost" if holder == former else "taken"


def due() -> QuerySet[Interaction]:
    return Interaction.objects.filter(
        answer__isnull=True, due_at__lte=timezone.now(), run__status=Run.Status.WAITING
    )


def answer_due() -> list[UUID]:
    """Answer expired questions with `TIMEOUT`. Return the stream IDs of their runs."""
    answered: list[UUID] = []
    for question in due().select_related("run")[:AT_ONCE]:
        with suppress(Refused), transaction.atomic():
            resolve(question, TIMEOUT)
            answered.append(question.run.stream)
    return answered


async def claim_answer(id: str, due: float) -> bool:
    """Record that the set of tool calls with this ID was answered. Return False if it was answered
    before. `due` is the deadline for answers, in seconds since 1970.
    """
    is_new: bool = await database_sync_to_async(store_answered_call)(id, due)
    return is_new


def store_answered_call(id: str, due: float) -> bool:
    expires_at = datetime.fromtimestamp(due, UTC)
    _, is_new = AnsweredCall.objects.get_or_create(pk=id, defaults={"expires_at": expires_at})
    return is_new


def delete_answered_calls() -> int:
    return AnsweredCall.objects.filter(expires_at__lt=timezone.now()).delete()[0]
