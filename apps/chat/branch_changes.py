"""What people do to the branches of a conversation beside asking: show another one, delete a turn."""

from functools import partial
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.chat.access import find, lock
from apps.chat.branches import (
    ASSISTANT,
    USER,
    OutlineRow,
    Tree,
    find_message,
    outline,
    write_parents,
)
from apps.chat.frames import BranchFrame, BranchSwitch
from apps.chat.mirror import mirror
from apps.chat.models import Conversation, Message
from apps.chat.senders import is_continuation
from apps.errors import Conflict
from apps.live import journal, leases
from apps.live.events import BranchesChanged


@transaction.atomic
def change_branches(caller: Caller, slug: str, sent: BranchFrame) -> None:
    """Raises `Refused`, also while an answer is being written."""
    conversation = lock(find(caller, sent.conversation, slug))
    if leases.open_run(conversation.pk) is not None:
        raise Conflict(
            "run_going", gettext("An answer is still being written. Wait for it or stop it first.")
        )
    found = outline(conversation)
    write_parents(found)
    message = find_message(found, sent.message, "" if isinstance(sent, BranchSwitch) else USER)
    # No run says this, so it stands under the conversation's id. It comes before a deletion, after
    # which the number of the newest event would be given again.
    journal.add(conversation.pk, conversation.pk, (BranchesChanged(),))
    if isinstance(sent, BranchSwitch):
        show(conversation, found.below(message.pk)[-1].pk)  # the newest path through it
    else:
        delete_turn(conversation, found, message)
    transaction.on_commit(partial(mirror, conversation.pk))


def show(conversation: Conversation, leaf: int | None) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(leaf=leaf)


def delete_turn(conversation: Conversation, found: Tree[OutlineRow], question: OutlineRow) -> None:
    """Delete a question and its answers for good; the questions after them follow what was before."""
    turn = turn_of(conversation, found, question)
    gone = {row.pk for row in turn}
    before = found.parents[question.pk]
    end = found.end(conversation.leaf_id)
    for row in found.messages:
        if row.pk not in gone and found.parents[row.pk] in gone:
            Message.objects.filter(pk=row.pk).update(parent=before or row.pk)
    # Later summaries may repeat what is deleted.
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
    """The question, its answers, and what continues these."""
    sent = conversation.messages.exclude(sender=None).values_list("pk", "sender")
    continuations = {pk for pk, sender in sent if is_continuation(sender)}
    turn, keys = [question], {question.pk}
    for row in found.messages:
        if found.parents[row.pk] in keys and (row.role == ASSISTANT or row.pk in continuations):
            turn.append(row)
            keys.add(row.pk)
    return turn
