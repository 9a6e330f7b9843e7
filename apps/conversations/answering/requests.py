"""Builds the inputs of a run: its usage meter, its request, the user's schedules and the
conversation search.
"""

import logging
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.urls import reverse

from apps.accounts.caller import Caller
from apps.accounts.models import ApiKey, ServiceAccount
from apps.accounts.preferences import own_instructions
from apps.capabilities.chat_context import ChatContext, FoundConversation, SearchConversations
from apps.catalog.acting_accounts import acting_problem
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import own_lasting, reference_of
from apps.conversations.asking.questions import StartedAnswer
from apps.conversations.keeping.search import search_in
from apps.conversations.outcome.context_use import newest_correction
from apps.conversations.outcome.summaries import ConversationSummaries
from apps.conversations.spoken import spoken_text
from apps.insights.meter import RunMeter
from apps.live.hub import Hub
from apps.live.models import Run
from apps.runs.requests import RunRequest
from apps.schedules.user_schedules import Owner, UserSchedules

logger = logging.getLogger(__name__)
NOT_RESPONSIBLE = (
    "The schedule was not saved. It would act as a service account, which the user responsible for "
    "this run may not use. An operator who may manage the account must save the webhook or schedule "
    "again, or create the API key again."
)


def meter_of(hub: Hub, row: Run, caller: Caller) -> RunMeter:
    return RunMeter(
        hub.summaries.queue_call,
        *(row.door, row.bucket, row.pk, row.stream),
        budgets=hub.budgets,
        time_zone=caller.client.timezone,
        team=caller.team,
        keep_request=None if settings.MODEL_REQUESTS == "none" else hub.summaries.queue_request,
    )


def request_of(
    started: StartedAnswer, application: ResolvedApplication, caller: Caller
) -> RunRequest:
    if started.request is not None:
        return started.request
    return RunRequest(
        started.folder.attached_to([spoken_text(message) for message in started.messages]),
        place=started.place,
        chat=ChatContext(
            search_conversations=earlier_conversations(caller, application, started.run.stream),
            schedules=schedules_for(started, application, caller),
            summaries=ConversationSummaries(started.run.stream, started.messages),
            correction=newest_correction(started.messages),
            effort=started.conversation.reasoning_effort or "",
            own_instructions=partial(own_instructions, caller.user_id) if caller.user_id else None,
            folder_instructions=started.folder.instructions,
        ),
    )


def schedules_for(
    started: StartedAnswer, application: ResolvedApplication, caller: Caller
) -> UserSchedules | None:
    """Return the schedules that the model can read and change. Return None if the conversation is
    temporary, if the caller has no account, or if the caller uses an API key that another user
    created.
    """
    if caller.person is None or caller.kind not in ("user", "key"):
        return None
    if started.conversation.temporary_until is not None:
        return None  # A temporary conversation is erased before the schedule is due.
    kept = caller.at(surface="")
    owner = Owner(caller.bucket, caller.person, caller.team, reference_of(kept))
    row = started.conversation
    # A withdrawn pinned version is not used; the live version answers instead.
    version = application.number if row.pinned_version == application.number else None
    find_saver = partial(responsible_user, caller, caller.person, started.run.unattended)
    return UserSchedules(owner, application.id, row.pk, find_saver, caller.client.timezone, version)


def earlier_conversations(
    caller: Caller, application: ResolvedApplication, current: UUID
) -> SearchConversations | None:
    """Return a function that searches the caller's conversations with the application, except
    `current`. Return None if the caller is not a signed-in user.
    """
    if caller.kind != "user":
        return None
    find: SearchConversations = database_sync_to_async(
        partial(find_earlier, caller, application, current)
    )
    return find


def find_earlier(
    caller: Caller, application: ResolvedApplication, current: UUID, query: str, most: int
) -> Sequence[FoundConversation]:
    mine = own_lasting(caller).filter(application=application.id).exclude(pk=current)
    return [
        FoundConversation(
            hit.title,
            reverse("conversation", args=(application.slug, hit.id)),
            hit.updated_at,
            hit.excerpt,
        )
        for hit in search_in(mine, query, most)
    ]


def responsible_user(caller: Caller, account: int, unattended: Mapping[str, Any] | None) -> int:
    """Return the ID of the user who is responsible for schedules that belong to the account
    `account`.

    For a user's account, this is the user. For a service account, it is the user who last saved the
    webhook or schedule that started the run, or who created the caller's API key. Raises
    `ValidationError` if that user may not use the service account.
    """
    if not ServiceAccount.objects.filter(user=account).exists():
        return account
    saver = find_saver(caller, unattended)
    problem = acting_problem(saver, account)
    if saver is None or problem:
        logger.warning("Refused a model's schedule for account %d: %s", account, problem)
        raise ValidationError(NOT_RESPONSIBLE)
    return saver.pk


def find_saver(caller: Caller, unattended: Mapping[str, Any] | None) -> User | None:
    if unattended is not None:
        number: int | None = unattended.get("saved_by")
        return None if number is None else User.objects.filter(pk=number).first()
    if caller.kind != "key":
        return None
    prefix = caller.bucket.removeprefix("key-")
    return User.objects.filter(
        pk__in=ApiKey.objects.filter(prefix=prefix).values("created_by")
    ).first()
