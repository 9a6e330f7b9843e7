"""Answers to what waiting runs ask, of people, programs and clocks."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
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
from apps.live import journal
from apps.live.consents import keep_consent
from apps.live.elicitations import BY, TIMEOUT, YOU
from apps.live.events import InteractionResolved, storable
from apps.live.hub import Hub
from apps.live.models import Interaction, Run
from apps.live.notifications import announce_answer, announce_waiting, wake_viewers
from apps.live.step_keys import kept_key

AT_ONCE = 100
"""Timers that one sweep answers."""
CALL: InteractionKind = "client_tool"
Claim = Literal["granted", "taken", "lost"]


async def take_answer(
    hub: Hub,
    run: Run,
    key: str,
    kind: InteractionKind,
    answer: Mapping[str, Any],
    by: str,
    name: str = YOU,
) -> None:
    """Store the answer, and have any process go on with the run at once. Raises `Refused`.

    `by` is the bucket of whoever answers, `name` what the conversation shows for it.
    """
    await database_sync_to_async(answer_interaction)(run, key, kind, answer, by, name)
    if kind == "elicitation":
        await announce_answer(run.pk)
        return
    hub.awaited.set()
    await wake_viewers(hub, run.stream)
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
    """Store the answer, and what it spares the person from then on.

    Raises `Refused` when it comes too late, or when somebody else has to answer.
    """
    rows = Interaction.objects.filter(run=run, key=kept_key(key), kind=kind, answer__isnull=True)
    # Its time may be over although no sweep has found that yet.
    asked = rows.exclude(due_at__lte=timezone.now()).first()
    if asked is None:
        raise too_late()
    if asked.asked.get("four_eyes") and is_same_person(by, run.bucket):
        raise Refused("four_eyes", gettext("Somebody else has to decide about this."))
    if kind == "elicitation":
        answer_call(asked, answer, by, name)
        return
    resolve(asked, answer, by, name)
    if by == run.bucket:
        keep_consent(run, asked, answer)


def answer_call(asked: Interaction, answer: Mapping[str, Any], by: str, name: str) -> None:
    """Store the answer for a call that goes on; the process that makes it tells viewers.

    Raises `Refused` when it comes too late.
    """
    rows = Interaction.objects.filter(pk=asked.pk, answer__isnull=True)
    rows = rows.filter(run__status=Run.Status.RUNNING)
    if not rows.update(answer=storable({**answer, BY: name}), answered_by=by[:100]):
        raise too_late()


def resolve(asked: Interaction, answer: Mapping[str, Any], by: str = "", name: str = "") -> None:
    """Store the answer, tell viewers of it, and let a process go on with the run.

    Has to be in a transaction. Raises `Refused` when it comes too late.
    """
    resolve_all(asked.run, (asked,), answer, by, name)


def resolve_all(
    run: Run, asked: Sequence[Interaction], answer: Mapping[str, Any], by: str = "", name: str = ""
) -> None:
    """As `resolve`, for questions of one run that have the same answer."""
    given, keys = storable(answer), [one.pk for one in asked]
    # This locks the row of the run: of two answers, or an answer and a wish to stop, one counts.
    # A run that is going has a writer of its journal, which may not have another one.
    rows = Interaction.objects.filter(pk__in=keys, answer__isnull=True)
    now = timezone.now()
    if not waiting(run).update(beat_at=now):
        is_going = rows.filter(run__status__in=Run.GOING).exists()
        raise too_soon() if is_going else too_late()
    for one in asked:
        if not rows.filter(pk=one.pk).update(answer=given, answered_by=by[:100]):
            raise too_late()
        # The result of a call may be large, and is shown where the call is.
        told = {"outcome": given.get("outcome")} if one.kind == CALL else given
        event = InteractionResolved(one.key, one.kind, told, name, now.timestamp())
        journal.add(run.stream, run.pk, (event,))
    # Several calls of a page are answered at the same time: the last answer counts.
    if any(one.kind != CALL for one in asked) or not open_calls(run).exists():
        waiting(run).update(status=Run.Status.QUEUED, holder="")


def too_late() -> Refused:
    return Missing("answered", gettext("This was answered already, or is not asked any more."))


def too_soon() -> Refused:
    return Conflict(
        "run_going", gettext("Another answer is being acted on. Answer again in a moment.")
    )


def waiting(run: Run) -> QuerySet[Run]:
    """The row of the run, as long as it waits."""
    return Run.objects.filter(pk=run.pk, status=Run.Status.WAITING)


def open_calls(run: Run) -> QuerySet[Interaction]:
    """What the run asks its page to do."""
    return Interaction.objects.filter(run=run, kind=CALL, answer__isnull=True)


def awaited_accounts() -> list[str]:
    """The ids of the accounts with which somebody is asked to sign in."""
    open_now = Interaction.objects.filter(
        kind="sign_in", answer__isnull=True, run__status__in=Run.OPEN
    )
    return [card["account"] for card in open_now.values_list("asked", flat=True)]


def claim(run: Run, key: str, page: str, former: str = "") -> Claim:
    """Let one page carry out a call. `former` is the page that was in its place before a reload.

    `lost`: the former page had begun, and must not be repeated. Raises `Refused` when it comes too
    late.
    """
    asked = open_calls(run).filter(key=kept_key(key), run__status__in=Run.OPEN)
    asked = asked.exclude(due_at__lte=timezone.now())
    free = Q(claimed_by__in=("", page)) | Q(claimed_by=former, asked__is_repeatable=True)
    if asked.filter(free).update(claimed_by=page):
        return "granted"
    holder = asked.values_list("claimed_by", flat=True).first()
    if holder is None:
        raise too_late()
    return "lost" if holder == former else "taken"


def answer_due() -> list[UUID]:
    """Answer what nobody has answered in time; the streams in which that was."""
    due = Interaction.objects.filter(
        answer__isnull=True, due_at__lte=timezone.now(), run__status=Run.Status.WAITING
    )
    answered: list[UUID] = []
    for asked in due.select_related("run")[:AT_ONCE]:
        with suppress(Refused), transaction.atomic():
            resolve(asked, TIMEOUT)
            answered.append(asked.run.stream)
    return answered
