"""Stores a question together with the run that will answer it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.teams import visibility_of
from apps.agent.ledger import Consent
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.conversations.access import (
    NOT_FOUND,
    find_conversation,
    find_open,
    lock,
    own,
    record_denial,
    reference_of,
)
from apps.conversations.ask import Ask
from apps.conversations.asking.chosen_models import OWN, ModelChoice, choice_of, recorded_with
from apps.conversations.asking.folder_content import NOTHING, FolderContent, content_for
from apps.conversations.asking.handovers import changed_application, of_application
from apps.conversations.asking.question_position import QuestionPosition, find_position
from apps.conversations.asking.tool_switches import check_switches
from apps.conversations.branches import path
from apps.conversations.files.folder import attach_files
from apps.conversations.models import Conversation, Message, question_title
from apps.conversations.senders import CONTINUATION, Sender
from apps.conversations.spoken import left_out_of
from apps.conversations.temporary import erase_time
from apps.errors import ApplicationNotFound, Refused
from apps.insights.budgets.budget_usage import check_start
from apps.insights.prices import PRICES
from apps.live import leases
from apps.live.consents import read_consents
from apps.live.doors import PAGE
from apps.live.events import BranchesChanged, QuestionAdded, StatusChanged, storable_value
from apps.live.journal import journal
from apps.live.journal.log import RunLog
from apps.live.limits import queue
from apps.live.limits.quotas import counted_name
from apps.live.models import KeptManifest, Run
from apps.manifest.manifest import LONGEST_QUESTION
from apps.manifest.markdown.chat_place import ChatPlace
from apps.runs.requests import RunRequest

CONTINUE = "Your answer was cut off. Continue exactly where it stopped: repeat nothing, and add no introduction."
"""The question that continues a truncated answer. The page shows both answers as one."""


@dataclass(frozen=True, slots=True)
class StartedAnswer:
    """A stored question and the run that answers it."""

    conversation: Conversation
    run: Run
    messages: tuple[Message, ...] = ()
    log: RunLog | None = None
    """The run's log, or None if the run is queued or had already been started."""
    consents: Mapping[str, Consent] = field(default_factory=dict)
    is_new: bool = False
    """False if the client repeated a request."""
    place: ChatPlace | None = None
    """The part of the host application from which the user sent the question."""
    model: ModelChoice = OWN
    folder: FolderContent = NOTHING
    request: RunRequest | None = None
    """The request of an API client that sent the whole conversation, or None."""


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """A question to store, with its validated text."""

    caller: Caller
    application: ResolvedApplication
    ask: Ask
    text: str
    holder: str
    """The name of the process that will answer, or "" to queue the run."""
    sender: Sender | None = None
    """The schedule, alarm or webhook that sent the message, or None."""
    run_id: UUID = field(default_factory=uuid4)
    door: str = PAGE


def begin_answer(
    caller: Caller,
    application: ResolvedApplication,
    ask: Ask,
    holder: str,
    sender: Sender | None = None,
    door: str = PAGE,
) -> StartedAnswer:
    """Store a question and the run that answers it.

    `holder` is the name of this process, or "" to queue the run. Raises `Refused` if the question
    is rejected, `BudgetSpent` if a budget is exhausted, `PlaceNotFound` if the chat place does not
    exist, and `ApplicationNotFound` if the application was just deleted.
    """
    text = read_question(ask)
    try:
        with transaction.atomic():
            before = find_started(caller, application.slug, ask.id)
            question = NewQuestion(caller, application, ask, text, holder, sender, door=door)
            return before or begin_new(question)
    except Refused as error:
        # Another process may have accepted the same request at the same time.
        before = find_started(caller, application.slug, ask.id)
        if before is None:
            if error.code == NOT_FOUND and ask.conversation is not None:
                # The audit event from `find_conversation` was rolled back with the transaction.
                record_denial(caller, ask.conversation, application.slug)
            raise
        return before
    except IntegrityError:
        if Application.objects.filter(pk=application.id).exists():
            raise
        raise ApplicationNotFound(application.slug) from None


def find_started(caller: Caller, slug: str, request: UUID) -> StartedAnswer | None:
    """Return the answer to the caller's request with this ID, or None if the request is new. `slug`
    identifies the application.
    """
    known = Run.objects.filter(bucket=caller.bucket, request=request).first()
    return (
        None
        if known is None
        else StartedAnswer(find_conversation(caller, known.stream, slug), known)
    )


def begin_new(question: NewQuestion) -> StartedAnswer:
    """Store a question and its run, in the current transaction. Raises the same exceptions as
    `begin_answer`.
    """
    caller, application, ask = question.caller, question.application, question.ask
    check_start(caller, question.door, application.slug, ask.timezone)
    place = application.place(ask.place)
    PRICES.refresh()  # Called before the transaction's first write.
    types = application.manifest.input_attachment_types
    attachments = attach_files(caller, (file.url for file in ask.attachments), types)
    if ask.conversation is None:
        check_switches(application, ask.tools)
        title = question_title(question.text) or question_title(attachments[0]["title"])
        conversation = create(free_id(ask.begin), caller, application, ask, title)
        position = QuestionPosition()
    else:
        conversation = lock(find_open(caller, ask.conversation, application.slug))
        position = find_position(conversation, ask)
    if position.again is not None:
        place = application.predefined.places.get((position.again.place or {}).get("slug", ""))
    model = choice_of(application, ask, conversation)
    run = Run(
        id=question.run_id,
        stream=conversation.pk,
        request=ask.id,
        application=application.slug,
        application_pk=application.id,
        application_number=application.number,
        manifest=store_manifest(recorded_with(application, model)),
        bucket=caller.bucket,
        counted_as=counted_name(caller),
        caller=reference_of(caller.at(timezone=ask.timezone, surface=ask.surface)),
        door=question.door if question.sender is None else question.sender.door,
        unattended=None if question.sender is None else question.sender.unattended,
    )
    queue.admit(run, question.holder)
    noted = describe_place(place, ask.narrative)
    started = store_question(conversation, run, question, position, attachments, noted)
    return replace(started, place=place, model=model, folder=content_for(conversation, types))


def read_question(ask: Ask) -> str:
    """Return the validated text of the question. Raises `Refused` if it is empty or too long, or if
    `again` or `continues` is sent without a conversation.
    """
    if ask.again or ask.continues:
        if ask.conversation is None:
            raise Refused(
                "bad_frame",
                "conversation: send the ID of the conversation that contains the message.",
            )
        return CONTINUE if ask.continues else ""
    text = ask.text
    if not text.strip() and not ask.attachments:
        raise Refused("empty_text", gettext("Enter a question first."))
    if len(text) > LONGEST_QUESTION:
        raise Refused(
            "too_long",
            gettext("The question has {count} characters; the limit is {limit}.").format(
                count=number_format(len(text), force_grouping=True),
                limit=number_format(LONGEST_QUESTION, force_grouping=True),
            ),
        )
    return str(storable_value(text))


def free_id(begin: UUID | None) -> UUID:
    """Return `begin`, or a new ID if `begin` is None or already used."""
    # A duplicated browser tab sends the same ID as the original tab.
    is_free = begin is not None and not Conversation.objects.filter(pk=begin).exists()
    return begin if is_free and begin is not None else uuid4()


def create(
    id: UUID, caller: Caller, application: ResolvedApplication, ask: Ask, title: str
) -> Conversation:
    return own(caller).create(
        id=id,
        application_id=application.id,
        owner=caller.bucket,
        title=title,
        has_memory=ask.memory and not ask.temporary,
        temporary_until=erase_time() if ask.temporary else None,
        reasoning_effort=ask.effort or None,
        deployment=ask.deployment or None,
        tool_switches=ask.tools or None,
        team_id=caller.team,
        visibility=visibility_of(caller.team),
    )


def store_manifest(application: ResolvedApplication) -> KeptManifest:
    """Return the stored row of the application's manifest. Create the row if the manifest is new.
    Call this function in the transaction that stores the run.
    """
    kept = KeptManifest(digest=application.digest, text=json.dumps(application.document))
    if not KeptManifest.hold(kept.pk):
        KeptManifest.objects.bulk_create([kept], ignore_conflicts=True)
    return kept


def describe_place(place: ChatPlace | None, narrative: str) -> dict[str, Any] | None:
    """Return the chat place and the description of the user's screen as JSON, or None if both are
    missing.
    """
    said = str(storable_value(narrative)).strip()
    if place is None and not said:
        return None
    slug, title = ("", "") if place is None else (place.slug, place.title)
    return {"slug": slug, "title": title, "narrative": said}


def store_question(
    conversation: Conversation,
    run: Run,
    asked: NewQuestion,
    position: QuestionPosition,
    attachments: list[dict[str, str]],
    place: dict[str, Any] | None,
) -> StartedAnswer:
    application = changed_application(conversation, position, asked.application)
    leases.claim(run)
    question = position.again
    if question is None:
        question = Message(
            conversation=conversation,
            text=asked.text,
            attachments=attachments,
            place=place,
            role=Message.Role.USER,
            sender=CONTINUATION if asked.ask.continues else shown_sender(asked.sender),
            parent_id=position.parent,
        )
    question.run = run
    question.save(update_fields=["run"] if position.again else None)
    if position.is_root:
        question.parent = question
        question.save(update_fields=["parent"])
    conversation.leaf = question
    conversation.updated_at = run.started_at
    conversation.archived_at = None
    if conversation.temporary_until is not None:
        conversation.temporary_until = erase_time(run.started_at)
    conversation.save(update_fields=["updated_at", "archived_at", "leaf", "temporary_until"])
    branched = (BranchesChanged(),) if position.is_branch else ()
    added = question_added(question, application)
    events = (*branched, added, StatusChanged(run.status))
    before = journal.add(conversation.pk, run.pk, events)
    if run.status == Run.Status.QUEUED:
        return StartedAnswer(conversation, run, is_new=True)
    messages = tuple(of_application(conversation, path(conversation), asked.application))
    log = RunLog(conversation.pk, run.pk, before + 1, events)
    return StartedAnswer(conversation, run, messages, log, read_consents(run), is_new=True)


def shown_sender(sender: Sender | None) -> dict[str, Any] | None:
    return None if sender is None else sender.shown


def question_added(question: Message, application: dict[str, str] | None = None) -> QuestionAdded:
    """Return the event for a new question. `application` is the slug and title of the application
    that answers, or None if it also wrote the previous answer.
    """
    return QuestionAdded(
        {
            "id": str(question.uuid),
            "role": question.role,
            "text": question.text,
            "attachments": question.attachments,
            "created_at": question.created_at.isoformat(),
            **({"place": question.place} if question.place else {}),
            **({"sender": question.sender} if question.sender else {}),
            **({"left_out": names} if (names := left_out_of(question.state)) else {}),
            **({"application": application} if application else {}),
        }
    )
