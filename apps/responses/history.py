"""Loads the stored part of a conversation: earlier responses, and messages from the chat page and
other APIs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from msgspec import structs

from apps.accounts.caller import Caller
from apps.conversations.access import own
from apps.conversations.branches import path
from apps.conversations.models import Message
from apps.doors.bodies import invalid, shorten_text
from apps.doors.client_conversation import Object
from apps.doors.sealed_state import sealed
from apps.errors import BadRequest
from apps.live import leases
from apps.live.models import Run
from apps.responses.items import is_reference
from apps.responses.models import StoredResponse
from apps.responses.requests import ResponseRequest
from apps.responses.storage import ResponseBusy, find_response, own_responses, read_resource
from apps.responses.stored_items import CONVERSATION_ID, ITEM_ID, read_id


class ConversationNotFound(BadRequest):
    http_status = 404

    def __init__(self, written: str) -> None:
        super().__init__(f"Conversation with id '{shorten_text(written)}' not found.")


@dataclass(frozen=True, slots=True)
class Context:
    """The stored part of a request's conversation."""

    items: Sequence[Object] = ()
    """The items before the request's input."""
    entries: Sequence[Any] = ()
    """The items in their stored form, in which the ID of a response replaces the response's items.
    """
    after: UUID | None = None
    """The ID of the run of the last answer, or None."""
    conversation: UUID = field(default_factory=uuid4)
    """The ID of the conversation to which the response is added."""


def load_stored(caller: Caller, request: ResponseRequest) -> tuple[ResponseRequest, Context]:
    """Return the request with references replaced by stored items, and the stored part of its
    conversation.

    Raises `BadRequest` if the request is invalid, `ResponseNotFound` if a response is missing, or
    `ResponseBusy` if it is still in progress.
    """
    sent = with_references(caller, request.input)
    resolved = structs.replace(request, input=sent)
    return resolved, load_context(caller, resolved)


def load_context(caller: Caller, request: ResponseRequest) -> Context:
    """Return the stored part of the request's conversation. Raises the same errors as
    `load_stored`.
    """
    if request.previous_response_id is not None and request.conversation is not None:
        raise invalid("conversation", "Send either 'previous_response_id' or 'conversation'.")
    if request.previous_response_id is not None:
        context = after_response(caller, find_response(caller, request.previous_response_id))
    elif request.conversation is not None:
        context = in_conversation(caller, request.conversation)
    else:
        return Context()
    sent = [request.input] if isinstance(request.input, str) else request.input or []
    count = len(context.items) + len(sent)
    if count > settings.GATEWAY_MAX_MESSAGES:
        raise invalid(
            "input",
            f"The conversation has {count} items; the limit is {settings.GATEWAY_MAX_MESSAGES}. "
            "Begin a new one with the output of POST /v1/responses/compact.",
        )
    return context


def after_response(caller: Caller, stored: StoredResponse) -> Context:
    run = stored.run
    if run.status in Run.OPEN:
        raise ResponseBusy(
            f"Response resp_{run.pk.hex} is still in progress. Wait until it has ended."
        )
    entries = [*stored.context, run.pk.hex]
    return Context(expanded(caller, entries), entries, run.pk, run.stream)


def in_conversation(caller: Caller, written: str | Object) -> Context:
    name = written.get("id") if isinstance(written, dict) else written
    pk = read_id(CONVERSATION_ID, name) if isinstance(name, str) else None
    row = None if pk is None else own(caller).filter(pk=pk).first()
    if row is None:
        raise ConversationNotFound(str(name))
    if leases.open_run(row.pk) is not None:
        raise ResponseBusy(
            "An answer in this conversation is still in progress. Wait until it has ended."
        )
    messages = path(row)
    entries = list(entries_of(caller, messages))
    answers = [one.run_id for one in messages if one.role == Message.Role.ASSISTANT]
    after = answers[-1] if answers else None
    return Context(expanded(caller, entries), entries, after, row.pk)


def entries_of(caller: Caller, messages: Sequence[Message]) -> Iterable[Any]:
    known = own_responses(caller, {one.run_id for one in messages if one.run_id is not None})
    for one in messages:
        if one.run_id not in known:
            yield from items_of(one)
        elif one.role == Message.Role.ASSISTANT:
            yield one.run_id.hex


def items_of(message: Message) -> Iterable[Object]:
    kind = "output_text" if message.role == Message.Role.ASSISTANT else "input_text"
    content = [{"type": kind, "text": message.text}]
    for file in message.attachments if message.role == Message.Role.USER else ():
        if str(file.get("url", "")).startswith("files/"):
            named = {"file_id": file["url"], "filename": file.get("title") or ""}
            content.append({"type": "input_file", **named})
    yield {"type": "message", "role": message.role, "content": content}
    if message.role == Message.Role.ASSISTANT and message.state:
        yield {"type": "reasoning", "encrypted_content": sealed(message.state)}


def expanded(caller: Caller, entries: Sequence[Any]) -> list[Object]:
    """Return the stored entries with the IDs of responses replaced by their items. Omit deleted
    responses.
    """
    keys = [UUID(one) for one in entries if isinstance(one, str)]
    found = own_responses(caller, keys)
    answers = Message.objects.filter(run__in=keys, role=Message.Role.ASSISTANT)
    states = dict(answers.values_list("run", "state"))
    items: list[Object] = []
    for entry in entries:
        if not isinstance(entry, str):
            items.append(entry)
        elif (stored := found.get(UUID(entry))) is not None:
            output = [one for one in read_resource(stored)["output"] if one["type"] != "reasoning"]
            items += [*stored.input, *output]
            if state := states.get(stored.pk):
                items.append({"type": "reasoning", "encrypted_content": sealed(state)})
    return items


def with_references(caller: Caller, written: str | list[Object] | None) -> str | list[Object]:
    """Return the input with references replaced by stored items. Raises `BadRequest` if a reference
    is unknown.
    """
    if not written or isinstance(written, str) or not any(map(is_reference, written)):
        return written or []
    ids = [str(item.get("id")) for item in written if is_reference(item)]
    keys = [pk for one in ids if (pk := read_id(ITEM_ID, one)) is not None]
    known = {
        item["id"]: item
        for stored in own_responses(caller, keys).values()
        for item in (*stored.input, *read_resource(stored)["output"])
    }
    resolved = []
    for index, item in enumerate(written):
        found = known.get(str(item.get("id"))) if is_reference(item) else item
        if found is None:
            text = f"Item with id '{shorten_text(str(item.get('id')))}' not found."
            raise invalid(f"input.{index}.id", text)
        resolved.append(found)
    return resolved
