"""Stores, finds, reads and deletes responses. The functions must run on a database thread."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction

from apps.accounts.caller import Caller
from apps.conversations.access import own
from apps.conversations.asking.client_questions import (
    ClientQuestion,
    begin_client_answer,
    store_client_answer,
)
from apps.conversations.asking.questions import StartedAnswer
from apps.conversations.branch_changes import delete_turn
from apps.conversations.models import Conversation, Message
from apps.conversations.outcome.transcript import Transcript
from apps.doors.bodies import shorten_text
from apps.doors.client_conversation import Object
from apps.errors import BadRequest, Refused
from apps.live.events import storable_value
from apps.live.journal import journal
from apps.live.models import Run
from apps.responses.models import StoredResponse
from apps.responses.replay import RunReplay
from apps.responses.resource import Echo
from apps.responses.stored_items import RESPONSE_ID, read_id
from apps.runs.explanations import error_text


class ResponseNotFound(BadRequest):
    http_status = 404

    def __init__(self, written: str) -> None:
        super().__init__(f"Response with id '{shorten_text(written)}' not found.")


class ResponseBusy(BadRequest):
    def __init__(self, text: str, status: int = 409) -> None:
        super().__init__(text)
        self.http_status = status


def find_response(caller: Caller, written: str) -> StoredResponse:
    """Return the caller's response with this ID. Raises `ResponseNotFound` if there is none."""
    pk = read_id(RESPONSE_ID, written)
    found = None if pk is None else own_responses(caller, [pk]).get(pk)
    if found is None:
        raise ResponseNotFound(written)
    return found


def own_responses(caller: Caller, keys: Iterable[UUID]) -> dict[UUID, StoredResponse]:
    if not caller.bucket:
        return {}
    rows = StoredResponse.objects.filter(
        run__bucket=caller.bucket, run__stream__in=own(caller).values("pk")
    )
    return rows.select_related("run").in_bulk(list(keys))


# --- Storing ----------------------------------------------------------------------------------


def written_echo(echo: Echo) -> dict[str, Any]:
    written: dict[str, Any] = storable_value(msgspec.to_builtins(echo))
    return written


@transaction.atomic
def begin_response(
    question: ClientQuestion, entries: Sequence[Any], items: list[Object], echo: Echo, holder: str
) -> StartedAnswer:
    """Store the question, its run and the response of a background request.

    `items` is the request's input. `entries` contains the stored items and response IDs that
    precede the input. `holder` is the name of this process, or "" to queue the run. Raises
    `BudgetSpent`, or `Refused` if a limit is reached.
    """
    begun = begin_client_answer(question, holder)
    StoredResponse.objects.create(
        run=begun.run,
        is_background=True,
        context=list(entries),
        input=storable_value(items),
        echo=written_echo(echo),
    )
    return begun


@transaction.atomic
def store_response(
    question: ClientQuestion,
    entries: Sequence[Any],
    items: list[Object],
    echo: Echo,
    transcript: Transcript,
    resource: Mapping[str, Any],
) -> StartedAnswer:
    started_at = datetime.fromtimestamp(echo.created_at, UTC)
    begun = store_client_answer(question, transcript, started_at)
    StoredResponse.objects.create(
        run=begun.run,
        context=list(entries),
        input=storable_value(items),
        echo=written_echo(echo),
        resource=storable_value(resource),
    )
    return begun


# --- Reading ----------------------------------------------------------------------------------


def read_resource(stored: StoredResponse) -> dict[str, Any]:
    """Return the current state of the response as JSON."""
    if stored.resource is not None:
        found: dict[str, Any] = stored.resource
        return found
    replay = replay_of(stored)
    events = journal.read_run(stored.pk)
    if stored.run.status not in Run.OPEN:
        add_outcome(replay, stored.pk)
    for event in events:
        replay.take(event)
    resource = replay.resource()
    if replay.is_over:
        StoredResponse.objects.filter(pk=stored.pk).update(resource=storable_value(resource))
    return resource


def replay_of(stored: StoredResponse, after: int = -1) -> RunReplay:
    echo = msgspec.convert(stored.echo, Echo)
    return RunReplay(stored.run.application, echo, after)


def add_outcome(replay: RunReplay, run: UUID) -> None:
    """Add an ended run's end time and state to the replay. The journal does not contain them."""
    row = Run.objects.filter(pk=run).first()
    if row is not None and row.finished_at is not None:
        replay.encoder.resource.completed_at = int(row.finished_at.timestamp())
    answer = Message.objects.filter(run=run, role=Message.Role.ASSISTANT).first()
    replay.encoder.state = {} if answer is None else answer.state


def delete_response(caller: Caller, written: str) -> str:
    """Delete the caller's response and its question, and return the response's ID. Raises
    `ResponseNotFound` if it does not exist, or `ResponseBusy` if it is still in progress.
    """
    stored = find_response(caller, written)
    run = stored.run
    question = Message.objects.filter(run=run, role=Message.Role.USER).first()
    if question is None:
        raise ResponseNotFound(written)
    conversation = Conversation.objects.select_related("application").get(pk=run.stream)
    try:
        with transaction.atomic():
            slug = conversation.application_slug
            delete_turn(caller, slug, conversation.pk, question.uuid)
            if not conversation.messages.exists():
                conversation.delete()
    except Refused as error:
        raise ResponseBusy(error_text(error), error.http_status) from error
    return f"resp_{run.pk.hex}"
