"""Delivers users' answers to waiting runs."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.permissions import has_permission
from apps.conversations.access import find_conversation
from apps.conversations.interactions.answer_frames import AnswerFrame, ClientToolFrame
from apps.errors import Forbidden, Missing
from apps.live.events import shorten_key
from apps.live.hub import Hub
from apps.live.interactions import submit_answer
from apps.live.models import Interaction, Run


async def answer_interaction(
    hub: Hub, caller: Caller, application: str | None, sent: AnswerFrame
) -> None:
    """Deliver a user's answer to the waiting run.

    `application` is the slug of the conversation's application, or None for any application. Raises
    `Refused` if the answer is not allowed or the caller has no such run.
    """
    run = await database_sync_to_async(find_asking)(caller, application, sent)
    given = sent.answer.model_dump(mode="json", exclude_none=True)
    await submit_answer(hub, run, sent.key, sent.kind, given, caller.bucket)


def find_asking(caller: Caller, application: str | None, sent: AnswerFrame) -> Run:
    """Return the run that asked the question. Raises `Refused` if the caller has no such run, or
    the question does not allow this answer.
    """
    run = find_run(caller, application, sent.run)
    rows = Interaction.objects.filter(run=run, key=shorten_key(sent.key), kind=sent.kind)
    asked = rows.values_list("asked", flat=True).first()
    if asked is not None:  # If the question is not open, storing the answer raises the error.
        if isinstance(sent, ClientToolFrame):
            check_permission(caller, asked)
        sent.answer.check(asked)
    return run


def find_run(caller: Caller, application: str | None, pk: UUID) -> Run:
    """Return the run with this ID. Raises `Refused` if it does not exist in the caller's
    conversations with the application.
    """
    run = Run.objects.filter(pk=pk).first()
    if run is None:
        raise Missing("conversation_not_found", gettext("This conversation does not exist."))
    find_conversation(caller, run.stream, run.application if application is None else application)
    return run


def check_permission(caller: Caller, request: Mapping[str, Any]) -> None:
    """Raise `Forbidden` if the caller lacks the permission that the tool requires."""
    if not has_permission(caller, request["permission"]):
        raise Forbidden("forbidden", gettext("You can’t use this tool."))
