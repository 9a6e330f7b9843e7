"""Stores the message from a webhook request as a user message, once per message ID."""

import logging
from dataclasses import dataclass
from uuid import UUID, uuid5

from channels.db import database_sync_to_async
from django.db import transaction

from apps.accounts.caller import Caller, caller_in
from apps.catalog import resolve
from apps.catalog.acting_accounts import acting_problem
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.ask import Ask
from apps.conversations.asking import queue
from apps.conversations.asking.questions import StartedAnswer, begin_answer
from apps.conversations.models import Conversation
from apps.conversations.senders import Sender
from apps.errors import ApplicationNotFound, Forbidden, Missing, Refused
from apps.triggers.access_problems import NO_ACCOUNT, NO_APPLICATION
from apps.triggers.models import Webhook, WebhookCall

logger = logging.getLogger(__name__)

NOT_PERMITTED = (
    "The operator of this webhook may no longer use its account. Ask the operator to check the "
    "webhook’s page."
)


@dataclass(frozen=True, slots=True)
class AcceptedRequest:
    task: UUID
    conversation: UUID
    started: StartedAnswer | None = None
    """The started answer, or None if the message is queued or had already been accepted."""
    is_new: bool = False
    is_first: bool = False
    """True if the message begins a conversation."""


async def find_webhook(uuid: UUID) -> Webhook:
    """Return the enabled webhook with this ID, or raise `Refused`."""
    rows = Webhook.objects.select_related("account__user", "application", "saved_by")
    found = await rows.filter(uuid=uuid, is_enabled=True).afirst()
    if found is None:
        raise no_webhook()
    return found


def no_webhook() -> Refused:
    return Missing("webhook_not_found", "This webhook does not exist.")


async def open_application(webhook: Webhook) -> tuple[Caller, ResolvedApplication]:
    """Return the webhook's account, as a caller with current permissions, and the webhook's
    application.

    Raises `Refused`, as for an unknown webhook, if the account cannot use the application,
    `Forbidden` if the user who last saved the webhook may not use the account, and
    `ApplicationBroken` if the application cannot be opened. The reason is stored in the webhook's
    `problem`, where operators can see it.
    """
    caller = caller_in(webhook.account.user_id)
    try:
        application = await resolve.find(webhook.application.slug, caller)
    except ApplicationNotFound:
        is_open = webhook.account.user.is_active
        await note_problem(webhook, NO_APPLICATION if is_open else NO_ACCOUNT)
        raise no_webhook() from None
    problem = await database_sync_to_async(acting_problem)(
        webhook.saved_by, webhook.account.user_id
    )
    await note_problem(webhook, problem)
    if problem:
        raise Forbidden("account_not_permitted", NOT_PERMITTED)
    return caller, application


async def note_problem(webhook: Webhook, problem: str) -> None:
    if problem:
        logger.warning("Webhook %s refused a message: %s", webhook.pk, problem)
    if webhook.problem != problem:
        await Webhook.objects.filter(pk=webhook.pk).aupdate(problem=problem)


@transaction.atomic
def accept_message(
    webhook: Webhook,
    caller: Caller,
    application: ResolvedApplication,
    message_id: str,
    text: str,
) -> AcceptedRequest:
    """Store the message as a user message, unless it has already been accepted. Raises the same
    exceptions as `begin_answer`.
    """
    # Locked, so that a second process with the same message ID finds the first one's row.
    row = Webhook.objects.select_for_update().filter(pk=webhook.pk).first()
    if row is None:
        raise no_webhook()
    known = WebhookCall.objects.filter(webhook=row, message_id=message_id).first()
    if known is not None:
        return AcceptedRequest(known.task, known.conversation)
    accepted = start_or_queue(row, caller, application, message_id, text)
    WebhookCall.objects.create(
        webhook=row, message_id=message_id, task=accepted.task, conversation=accepted.conversation
    )
    return accepted


def start_or_queue(
    webhook: Webhook, caller: Caller, application: ResolvedApplication, message_id: str, text: str
) -> AcceptedRequest:
    sent = Ask(
        id=uuid5(webhook.uuid, message_id),
        text=text,
        conversation=shared_conversation(webhook, caller),
        memory=False,
    )
    minutes = webhook.answer_minutes
    seconds = None if minutes is None else minutes * 60.0
    sender = Sender("webhook", webhook.name, seconds=seconds, saved_by=webhook.saved_by_id)
    if sent.conversation is not None and queue.has_to_wait(sent.conversation, sent.id):
        return queue_message(caller, application, sent, sender)
    try:
        started = begin_answer(caller, application, sent, "", sender)
    except Refused as error:
        if sent.conversation is None or error.code != "run_going":
            raise
        return queue_message(caller, application, sent, sender)
    if webhook.conversation_kind == Webhook.ConversationKind.SAME and sent.conversation is None:
        Webhook.objects.filter(pk=webhook.pk).update(conversation=started.conversation.pk)
    return AcceptedRequest(
        started.run.pk, started.conversation.pk, started, started.is_new, sent.conversation is None
    )


def queue_message(
    caller: Caller, application: ResolvedApplication, sent: Ask, sender: Sender
) -> AcceptedRequest:
    row = queue.add(caller, application.slug, sent, sender)
    return AcceptedRequest(row.pk, row.conversation_id, is_new=True)


def shared_conversation(webhook: Webhook, caller: Caller) -> UUID | None:
    """Return the ID of the conversation for all of the webhook's messages, or None if this message
    begins a new one.
    """
    if webhook.conversation_kind != Webhook.ConversationKind.SAME or webhook.conversation is None:
        return None
    rows = Conversation.objects.undeleted().filter(
        pk=webhook.conversation, owner=caller.bucket, application=webhook.application_id
    )
    return webhook.conversation if rows.exists() else None
