"""Hands a conversation over to another application."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.agent.taint import UNTRUSTED
from apps.catalog.access import usable
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import lock
from apps.conversations.asking.question_position import QuestionPosition
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.errors import Conflict, Refused
from apps.live import leases
from apps.live.models import Run

MOST_APPLICATIONS = 200


def successors(caller: Caller, conversation: Conversation) -> QuerySet[Application]:
    """Return the applications that can continue the conversation."""
    rows = usable(caller).exclude(pk=conversation.application_id or 0)
    return rows.only("slug", "title", "description", "icon")[:MOST_APPLICATIONS]


def hand_over(caller: Caller, conversation: Conversation, slug: str) -> None:
    """Hand the conversation over to the application with this slug. Raises `Refused` if the caller
    cannot use it or an answer is running.
    """
    application = usable(caller).filter(slug=slug).first()
    if application is None:
        raise Refused("bad_request", gettext("You can’t use this app."))
    with transaction.atomic():
        row = lock(conversation)
        if leases.open_run(row.pk) is not None:
            raise Conflict(
                "run_going",
                gettext(
                    "An answer is still being written. Wait for it to finish, or stop it first."
                ),
            )
        if row.application_id == application.pk:
            return
        now = timezone.now()
        # Choices that depend on the previous application are reset.
        Conversation.objects.filter(pk=row.pk).update(
            application=application,
            former_application=None,
            former_slug="",
            former_title="",
            pinned_version=None,
            deployment=None,
            reasoning_effort=None,
            tool_switches=None,
            handed_over_at=now,
            arranged_at=now,
        )
    mirror(conversation.pk)


def of_application(
    conversation: Conversation, messages: Sequence[Message], application: ResolvedApplication
) -> Sequence[Message]:
    """Return the messages without the state that the tools of other applications stored. If a
    message is marked as untrusted, the mark remains.
    """
    if conversation.handed_over_at is None:
        return messages
    others = runs_of_others(messages, application)
    for message in messages:
        if message.run_id in others:
            message.state = {
                key: message.state[key] for key in (UNTRUSTED,) if key in message.state
            }
    return messages


def runs_of_others(messages: Iterable[Message], application: ResolvedApplication) -> set[UUID]:
    runs = Run.objects.filter(pk__in={one.run_id for one in messages if one.run_id})
    others = runs.exclude(application_pk=application.id).filter(application_pk__isnull=False)
    return set(others.values_list("pk", flat=True))


def changed_application(
    conversation: Conversation, position: QuestionPosition, application: ResolvedApplication
) -> dict[str, str] | None:
    """Return the slug and title of `application` if another application wrote the previous answer,
    otherwise None.
    """
    if conversation.handed_over_at is None:
        return None
    before = position.again.pk if position.again is not None else position.parent
    if before is None:
        return None
    row = Message.objects.filter(pk=before).select_related("run").first()
    run = None if row is None else row.run
    if run is None or run.application_pk in (None, application.id):
        return None
    return {"slug": application.slug, "title": application.title}
