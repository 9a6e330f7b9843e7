"""Switches between branches of a conversation, and deletes questions with their answers."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.legal_holds import is_held, refusal
from apps.conversations.access import find_conversation, lock
from apps.conversations.branches import (
    ASSISTANT,
    USER,
    OutlineRow,
    Tree,
    find_message,
    outline,
    write_parents,
)
from apps.conversations.mirror import mirror
from apps.conversations.models import Conversation, Message
from apps.conversations.senders import is_continuation
from apps.errors import Conflict
from apps.live import leases
from apps.live.events import BranchesChanged
from apps.live.journal import journal


@transaction.atomic
def switch_branch(caller: Caller, slug: str, conversation: UUID, message: UUID) -> None:
    """Show the newest branch that contains the message. Raises `Refused` if the message does not
    exist or an answer is running.
    """
    changed, found, through = begin_change(caller, slug, conversation, message)
    show(changed, found.below(through.pk)[-1].pk)


@transaction.atomic
def delete_turn(caller: Caller, slug: str, conversation: UUID, message: UUID) -> None:
    """Permanently delete a question and its answers. Raises `Refused` if the question does not
    exist, an answer is running, or the conversation is under a legal hold.
    """
    if is_held(caller.bucket, conversation):
        raise Conflict("legal_hold", refusal())
    changed, found, question = begin_change(caller, slug, conversation, message, USER)
    delete(changed, found, question)


def begin_change(
    caller: Caller, slug: str, pk: UUID, message: UUID, role: str = ""
) -> tuple[Conversation, Tree[OutlineRow], OutlineRow]:
    """Lock the conversation, and return it with its message tree and the message.

    Raises `Refused` if the conversation or the message does not exist, the message has another
    role, or an answer is running.
    """
    conversation = lock(find_conversation(caller, pk, slug))
    if leases.open_run(conversation.pk) is not None:
        raise Conflict(
            "run_going",
            gettext("An answer is still being written. Wait for it to finish, or stop it first."),
        )
    found = outline(conversation)
    write_parents(found)
    row = find_message(found, message, role)
    # The event belongs to no run, so the conversation's ID is stored as its run ID. It is added
    # before any deletion, so that the newest number is not reused.
    journal.add(conversation.pk, conversation.pk, (BranchesChanged(),))
    transaction.on_commit(partial(mirror, conversation.pk))
    return conversation, found, row


def show(conversation: Conversation, leaf: int | None) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(leaf=leaf)


def delete(conversation: Conversation, found: Tree[OutlineRow], question: OutlineRow) -> None:
    """Delete a question and its answers. The questions that follow them become children of the
    message before the deleted question.
    """
    turn = turn_of(conversation, found, question)
    gone = {row.pk for row in turn}
    before = found.parents[question.pk]
    end = found.end(conversation.leaf_id)
    for row in found.messages:
        if row.pk not in gone and found.parents[row.pk] in gone:
            Message.objects.filter(pk=row.pk).update(parent=before or row.pk)
    # Later summaries can contain deleted content.
    summaries = conversation.messages.filter(role=Message.Role.SUMMARY, parent__gte=question.pk)
    summaries.delete()
    conversation.messages.filter(pk__in=gone).delete()
    for run in {row.run_id for row in turn if row.run_id is not None}:
        journal.delete_run(conversation.pk, UUID(run))
    rest = outline(conversation)
    if end in gone:
        beside = rest.children(before)
        show(conversation, rest.below(beside[-1].pk)[-1].pk if beside else before)
    else:
        show(conversation, end)


def turn_of(
    conversation: Conversation, found: Tree[OutlineRow], question: OutlineRow
) -> list[OutlineRow]:
    """Return the messages in a turn: the question, its answers, and the continuations of truncated
    answers. Each continuation consists of a question and an answer.
    """
    sent = conversation.messages.exclude(sender=None).values_list("pk", "sender")
    continuations = {pk for pk, sender in sent if is_continuation(sender)}
    turn, keys = [question], {question.pk}
    for row in found.messages:
        if found.parents[row.pk] in keys and (row.role == ASSISTANT or row.pk in continuations):
            turn.append(row)
            keys.add(row.pk)
    return turn
