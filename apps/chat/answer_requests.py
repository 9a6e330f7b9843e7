"""What the run of an answer is given: its meter, and what it is asked."""

from dataclasses import replace
from functools import partial

from django.conf import settings

from apps.accounts.caller import Caller
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.access import reference_of
from apps.chat.composer.preferences import own_instructions
from apps.chat.context_use import newest_correction
from apps.chat.earlier import earlier_conversations
from apps.chat.questions import Begun
from apps.chat.spoken import spoken
from apps.chat.summaries import ConversationSummaries
from apps.insights.meter import RunMeter
from apps.live.hub import Hub
from apps.live.models import Run
from apps.runs.requests import RunRequest
from apps.schedules.desk import Desk, Owner


def meter_of(hub: Hub, row: Run, caller: Caller) -> RunMeter:
    return RunMeter(
        hub.summaries.keep,
        *(row.door, row.bucket, row.pk, row.stream),
        budgets=hub.budgets,
        time_zone=caller.timezone,
        team=caller.team,
        keep_request=None if settings.MODEL_REQUESTS == "none" else hub.summaries.keep_request,
    )


def request_of(begun: Begun, application: ResolvedApplication, caller: Caller) -> RunRequest:
    return RunRequest(
        begun.folder.attached_to([spoken(message) for message in begun.messages]),
        search_conversations=earlier_conversations(caller, application, begun.run.stream),
        summaries=ConversationSummaries(begun.run.stream, begun.messages),
        correction=newest_correction(begun.messages),
        place=begun.place,
        schedules=desk_of(begun, application, caller),
        effort=begun.conversation.reasoning_effort or "",
        folder_instructions=begun.folder.instructions,
        own_instructions=partial(own_instructions, caller.user_id) if caller.user_id else None,
    )


def desk_of(begun: Begun, application: ResolvedApplication, caller: Caller) -> Desk | None:
    """The schedules that the model may set. None without an account, in whose name they could run,
    and for a key that somebody else made."""
    if caller.person is None or caller.kind not in ("user", "key"):
        return None
    if begun.conversation.temporary_until is not None:
        return None  # it would be gone before its time comes
    kept = replace(caller, surface="")
    owner = Owner(caller.bucket, caller.person, caller.team, reference_of(kept))
    row = begun.conversation
    # Of a version that was withdrawn, the live one has taken the place.
    version = application.number if row.pinned_version == application.number else None
    return Desk(owner, application.id, row.pk, caller.timezone, version)
