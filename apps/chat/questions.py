"""A question is stored, and with it a run that is to answer it begins."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.formats import number_format
from django.utils.translation import gettext

from apps.accounts.caller import Caller
from apps.accounts.teams import visibility_of
from apps.agent.ledger import Consent
from apps.catalog.models import Application
from apps.catalog.resolved_application import ResolvedApplication
from apps.chat.access import NOT_FOUND, find, find_open, lock, own, record_denial, reference_of
from apps.chat.asked_places import AskedPlace, place_of
from apps.chat.branches import path
from apps.chat.chosen_models import OWN, ModelChoice, choice_of, recorded_with
from apps.chat.folder_content import NOTHING, FolderContent, content_for
from apps.chat.folders import attached
from apps.chat.frames import Ask
from apps.chat.handovers import begins_with, of_application
from apps.chat.left_out import left_out_of
from apps.chat.models import Conversation, Message, title_of
from apps.chat.senders import CONTINUATION, Sender
from apps.chat.temporary import end_of
from apps.errors import ApplicationNotFound, Refused
from apps.insights.budgets.standings import check_start
from apps.insights.price_list import PRICES
from apps.live import journal, leases, queue
from apps.live.consents import read_consents
from apps.live.events import BranchesChanged, QuestionAdded, StatusChanged, storable
from apps.live.log import RunLog
from apps.live.models import KeptManifest, Run, RunSummary
from apps.live.rates import counted_name
from apps.manifest.chat_place import ChatPlace

PAGE = RunSummary.Door.PAGE
CONTINUE = "Your answer was cut off. Go on exactly where it stopped: repeat nothing, and add no introduction."
"""What the model is told in place of a person; the page shows both answers as one."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An answer that this process is to write; without a log, one that was begun or queued before.

    `is_new`: the question was stored now. `place` is where the person is. `model` is the one that the
    person chose; of a run that was taken up the manifest has it. `folder` is
    what that of the conversation brings.
    """

    conversation: Conversation
    run: Run
    messages: tuple[Message, ...] = ()
    log: RunLog | None = None
    consents: Mapping[str, Consent] = field(default_factory=dict)
    is_new: bool = False
    place: ChatPlace | None = None
    model: ModelChoice = OWN
    folder: FolderContent = NOTHING


@dataclass(frozen=True, slots=True)
class NewQuestion:
    """What is to be stored: `text` is that of the ask, read. `holder` is the process that answers, ""
    for any. `sender` is what asks in place of a person.
    """

    caller: Caller
    application: ResolvedApplication
    ask: Ask
    text: str
    holder: str
    sender: Sender | None = None
    run_id: UUID = field(default_factory=uuid4)


def begin(
    caller: Caller,
    application: ResolvedApplication,
    ask: Ask,
    holder: str,
    sender: Sender | None = None,
) -> Begun:
    """Store the question and claim the conversation; without a holder the answer is queued.

    `sender` is what asks in place of a person.

    Raises `Refused`, `BudgetSpent`, `PlaceNotFound`, `ApplicationNotFound` for an application that was deleted in
    this moment.
    """
    text = read_question(ask)
    try:
        with transaction.atomic():
            before = find_begun(caller, application.slug, ask.id)
            return before or begin_new(NewQuestion(caller, application, ask, text, holder, sender))
    except Refused as error:
        # Another process may have taken the same frame in this moment.
        before = find_begun(caller, application.slug, ask.id)
        if before is None:
            if error.code == NOT_FOUND and ask.conversation is not None:
                # What `find` noted of it went with the transaction.
                record_denial(caller, ask.conversation, application.slug)
            raise
        return before
    except IntegrityError:
        if Application.objects.filter(pk=application.id).exists():
            raise
        raise ApplicationNotFound(application.slug) from None


def find_begun(caller: Caller, slug: str, request: UUID) -> Begun | None:
    """The answer that was begun when the same question was sent before."""
    known = Run.objects.filter(bucket=caller.bucket, request=request).first()
    return None if known is None else Begun(find(caller, known.stream, slug), known)


def begin_new(question: NewQuestion) -> Begun:
    """Raises as `begin`."""
    caller, application, ask = question.caller, question.application, question.ask
    check_start(caller, PAGE, application.slug, ask.timezone)
    place = application.place(ask.place)
    PRICES.refresh()  # here, where the database is asked anyway, and before it is written to
    types = application.manifest.input_attachment_types
    attachments = attached(caller, (file.url for file in ask.attachments), types)
    if ask.conversation is None:
        title = title_of(question.text) or title_of(attachments[0]["title"])
        conversation, stands = create(caller, application, ask, title), AskedPlace()
    else:
        conversation = lock(find_open(caller, ask.conversation, application.slug))
        stands = place_of(conversation, ask)
    if stands.again is not None:
        place = application.places.get((stands.again.place or {}).get("slug", ""))
    model = choice_of(application, ask, conversation)
    run = Run(
        id=question.run_id,
        stream=conversation.pk,
        request=ask.id,
        application=application.slug,
        application_pk=application.id,
        application_number=application.number,
        manifest=keep_manifest(recorded_with(application, model)),
        bucket=caller.bucket,
        counted_as=counted_name(caller),
        caller=reference_of(replace(caller, timezone=ask.timezone, surface=ask.surface)),
        door=PAGE if question.sender is None else question.sender.door,
        unattended=None if question.sender is None else question.sender.unattended,
    )
    queue.admit(run, question.holder)
    noted = noted_place(place, ask.narrative)
    begun = store_question(conversation, run, question, stands, attachments, noted)
    return replace(begun, place=place, model=model, folder=content_for(conversation, types))


def read_question(ask: Ask) -> str:
    """The text of a question. Raises `Refused` for one that is empty or too long."""
    if ask.again or ask.continues:
        if ask.conversation is None:
            raise Refused("bad_frame", "conversation: name the one in which the message stands.")
        return CONTINUE if ask.continues else ""
    text = ask.text
    if not text.strip() and not ask.attachments:
        raise Refused("empty_text", gettext("Write a question first."))
    limit = settings.CHAT_MAX_QUESTION_CHARS
    if len(text) > limit:
        raise Refused(
            "too_long",
            gettext("The question has {count} characters; at most {limit} can be asked.").format(
                count=number_format(len(text), force_grouping=True),
                limit=number_format(limit, force_grouping=True),
            ),
        )
    return str(storable(text))


def create(caller: Caller, application: ResolvedApplication, ask: Ask, title: str) -> Conversation:
    begin = ask.begin
    # A duplicated tab wishes for the same id, which then belongs to the first one.
    is_free = begin is not None and not Conversation.objects.filter(pk=begin).exists()
    chosen = begin if is_free and begin is not None else uuid4()
    return own(caller).create(
        id=chosen,
        application_id=application.id,
        owner=caller.bucket,
        title=title,
        has_memory=ask.memory and not ask.temporary,
        temporary_until=end_of() if ask.temporary else None,
        reasoning_effort=ask.effort or None,
        deployment=ask.deployment or None,
        team_id=caller.team,
        visibility=visibility_of(caller.team),
    )


def keep_manifest(application: ResolvedApplication) -> KeptManifest:
    """The row of the manifest that the application was made of."""
    kept = KeptManifest(digest=application.digest, text=json.dumps(application.document))
    if not KeptManifest.objects.filter(pk=kept.pk).exists():
        KeptManifest.objects.bulk_create([kept], ignore_conflicts=True)
    return kept


def noted_place(place: ChatPlace | None, narrative: str) -> dict[str, Any] | None:
    """What is stored and shown of where the person is, None for nothing."""
    said = str(storable(narrative)).strip()
    if place is None and not said:
        return None
    slug, title = ("", "") if place is None else (place.slug, place.title)
    return {"slug": slug, "title": title, "narrative": said}


def store_question(
    conversation: Conversation,
    run: Run,
    asked: NewQuestion,
    stands: AskedPlace,
    attachments: list[dict[str, str]],
    place: dict[str, Any] | None,
) -> Begun:
    application = begins_with(conversation, stands, asked.application)
    leases.claim(run)
    question = stands.again
    if question is None:
        question = Message(
            conversation=conversation,
            text=asked.text,
            attachments=attachments,
            place=place,
            role=Message.Role.USER,
            sender=CONTINUATION if asked.ask.continues else shown_sender(asked.sender),
            parent_id=stands.parent,
        )
    question.run = run
    question.save(update_fields=["run"] if stands.again else None)
    if stands.is_root:
        question.parent = question
        question.save(update_fields=["parent"])
    conversation.leaf = question
    conversation.updated_at = run.started_at
    conversation.archived_at = None
    if conversation.temporary_until is not None:
        conversation.temporary_until = end_of(run.started_at)
    conversation.save(update_fields=["updated_at", "archived_at", "leaf", "temporary_until"])
    branched = (BranchesChanged(),) if stands.is_branch else ()
    added = question_added(question, application)
    events = (*branched, added, StatusChanged(run.status))
    before = journal.add(conversation.pk, run.pk, events)
    if run.status == Run.Status.QUEUED:
        return Begun(conversation, run, is_new=True)
    messages = tuple(of_application(conversation, path(conversation), asked.application))
    log = RunLog(conversation.pk, run.pk, before + 1, events)
    return Begun(conversation, run, messages, log, read_consents(run), is_new=True)


def shown_sender(sender: Sender | None) -> dict[str, Any] | None:
    return None if sender is None else sender.shown


def question_added(question: Message, application: dict[str, str] | None = None) -> QuestionAdded:
    """`application` answers from here on, where another one did before."""
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
