"""What people and their pages answer to a run that waits for them, held against what was asked."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.permissions import has_permission
from apps.chat.access import find
from apps.chat.answer_frames import AnswerFrame, ClientToolFrame
from apps.errors import Forbidden, Missing
from apps.live.hub import Hub
from apps.live.interactions import take_answer
from apps.live.models import Interaction, Run
from apps.live.step_keys import kept_key


async def decide(hub: Hub, caller: Caller, application: str | None, sent: AnswerFrame) -> None:
    """Answer what is asked in a conversation of the caller's; None: of any application.

    Raises `Refused`.
    """
    run = await database_sync_to_async(find_asking)(caller, application, sent)
    given = sent.answer.model_dump(mode="json", exclude_none=True)
    await take_answer(hub, run, sent.key, sent.kind, given, caller.bucket)


def find_asking(caller: Caller, application: str | None, sent: AnswerFrame) -> Run:
    """The run that asked, if the answer fits what was asked. Raises `Refused`."""
    run = find_run(caller, application, sent.run)
    rows = Interaction.objects.filter(run=run, key=kept_key(sent.key), kind=sent.kind)
    asked = rows.values_list("asked", flat=True).first()
    if asked is not None:  # else the answer is refused when it is stored
        if isinstance(sent, ClientToolFrame):
            check_permission(caller, asked)
        sent.answer.check(asked)
    return run


def find_run(caller: Caller, application: str | None, pk: UUID) -> Run:
    """A run in a conversation of the caller's. Raises `Refused`."""
    run = Run.objects.filter(pk=pk).first()
    if run is None:
        raise Missing("conversation_not_found", gettext("There is no such conversation."))
    find(caller, run.stream, run.application if application is None else application)
    return run


def check_permission(caller: Caller, asked: Mapping[str, Any]) -> None:
    """Raises `Refused`."""
    if not has_permission(caller, asked["permission"]):
        raise Forbidden("forbidden", gettext("You may not use this tool."))
